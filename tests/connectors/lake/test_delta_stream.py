"""Tables of Delta as streams: which files come, and what a job makes of them on Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable, write_deltalake

from tests.connectors import tables
from tests.connectors.lake.test_delta_scan import delete_by_vector, folder, made_at, numbers, table
from tests.connectors.repeated_batches import again
from tests.waiting import wait_until
from tidemark import connect
from tidemark.connectors import registry
from tidemark.connectors.base import Part
from tidemark.connectors.delta.source import DeltaReading, VersionPlanning
from tidemark.connectors.delta.tables import DeltaPlace
from tidemark.connectors.lake.frames import fields_of
from tidemark.errors import DataError
from tidemark.session.result import JobResult
from tidemark.storage import NO_ACCESS


def planning(path: str, columns: str = "id BIGINT", **options: str) -> VersionPlanning:
    declared = table(
        path, columns, **{"mode": "streaming", "updateCheckIntervalMillis": "0", **options}
    )
    read = registry.options_of(declared)
    place = DeltaPlace.of(path, NO_ACCESS)
    return VersionPlanning(DeltaReading(place, fields_of(declared), read, 0))


def rows_of(path: str, parts: list[tuple[Any, ...]]) -> list[int]:
    read = [Part(file, start, end, details=details) for file, start, end, details in parts]
    return sorted(tables.frame(table(path), parts=read)["id"].to_list()) if read else []


def come(
    path: str, plan: VersionPlanning, start: dict[str, Any]
) -> tuple[list[int], dict[str, Any]]:
    """What the next micro-batch reads, and where it ends. Planned again it is the same."""
    end = json.loads(json.dumps(plan.latest(start)))
    first, again = plan.parts(start, end), planning(path, **OPTIONS).parts(start, end)
    assert first == again
    return rows_of(path, first), end


OPTIONS: dict[str, str] = {}


def test_the_newest_version_comes_first_and_then_what_is_added(tmp_path):
    path = folder(tmp_path / "t", numbers(1))
    folder(tmp_path / "t", numbers(2))
    plan = planning(path)

    first, at = come(path, plan, plan.initial())
    assert first == [1, 2] and at == {"version": 1}
    assert come(path, plan, at) == ([], at)
    folder(tmp_path / "t", numbers(3))
    folder(tmp_path / "t", numbers(4))
    assert come(path, plan, at) == ([3, 4], {"version": 3})


def test_a_stream_begins_where_it_is_told(tmp_path):
    path = folder(tmp_path / "t", numbers(0))
    for number in (1, 2):
        folder(tmp_path / "t", numbers(number))
    made_at(path, "2024-05-01T10:00", "2024-05-02T10:00", "2024-05-03T10:00")
    starts = {
        "startingVersion": {"0": [0, 1, 2], "2": [2], "3": []},
        "startingTimestamp": {
            "2024-05-01 09:00": [0, 1, 2],
            "2024-05-02 10:00": [1, 2],
            "2024-05-02 10:01": [2],
        },
    }
    for option, each in starts.items():
        for value, expected in each.items():
            plan = planning(path, **{option: value})
            assert come(path, plan, plan.initial())[0] == expected, value
    with pytest.raises(DataError, match="is after version 2"):
        planning(path, startingTimestamp="2024-05-04 00:00").initial()


def test_the_latest_version_is_that_of_the_first_start(tmp_path):
    path = folder(tmp_path / "t", numbers(0))
    folder(tmp_path / "t", numbers(1))
    made_at(path, "2024-05-01T10:00", "2024-05-02T10:00")
    plan = planning(path, startingVersion="latest")
    object.__setattr__(plan._reading, "started_ms", 1_714_600_000_000)  # between the two
    assert come(path, plan, plan.initial())[0] == [1]


def test_versions_that_only_move_rows_are_passed_over(tmp_path):
    path = folder(tmp_path / "t", numbers(1))
    folder(tmp_path / "t", numbers(2))
    plan = planning(path)
    _, at = come(path, plan, plan.initial())
    DeltaTable(path).optimize.compact()
    assert come(path, plan, at) == ([], {"version": 2})


def test_deletes_and_changes_are_errors_that_name_the_version_and_the_option(tmp_path):
    path = folder(tmp_path / "t", numbers(1, 2))
    table_ = DeltaTable(path)
    table_.delete("id = 1")  # the file is written anew
    table_.delete()

    with pytest.raises(DataError, match=r"version 1 of .* changes rows") as raised:
        planning(path).parts({"version": 0}, {"version": 1})
    assert raised.value.notes["operation"] == "DELETE" and "ignoreChanges" in str(raised.value)
    with pytest.raises(DataError, match=r"version 2 of .* deletes rows"):
        planning(path).parts({"version": 1}, {"version": 2})
    assert planning(path, ignoreDeletes="true").parts({"version": 1}, {"version": 2}) == []
    with pytest.raises(DataError, match="version 1"):
        planning(path, ignoreDeletes="true").parts({"version": 0}, {"version": 2})
    found = planning(path, ignoreChanges="true").parts({"version": 0}, {"version": 2})
    assert rows_of(path, found) == [2]


def test_a_deletion_vector_is_a_change(tmp_path):
    path = folder(tmp_path / "t", numbers(1, 2))
    delete_by_vector(path, [0])
    plan = planning(path)
    assert come(path, plan, plan.initial())[0] == [2]
    with pytest.raises(DataError, match="version 1"):
        plan.parts({"version": 0}, {"version": 1})


def test_a_log_that_lost_versions_is_an_error(tmp_path):
    path = folder(tmp_path / "t", numbers(1))
    folder(tmp_path / "t", numbers(2))
    (Path(path) / "_delta_log" / f"{1:020d}.json").unlink()
    with pytest.raises(DataError, match=r"version 1 of .* is not in its log any more"):
        planning(path).parts({"version": 0}, {"version": 1})


def test_a_table_that_was_made_anew_is_an_error(tmp_path):
    path = folder(tmp_path / "t", numbers(1))
    with pytest.raises(DataError, match="is at version 0, but version 5 was read"):
        planning(path).latest({"version": 5})


def test_a_column_that_changes_its_type_is_an_error_at_its_version(tmp_path):
    path = folder(tmp_path / "t", numbers(1))
    import pyarrow as pa

    write_deltalake(path, pa.table({"id": ["x"]}), mode="overwrite", schema_mode="overwrite")
    with pytest.raises(DataError, match="column `id` of version 1 of"):
        planning(path, ignoreChanges="true").parts({"version": 0}, {"version": 1})


# --- on Spark ----------------------------------------------------------------------------------


def script(source: object, sink: object) -> str:
    """A copy, and a count by key, which is merged."""
    return f"""
    CREATE TABLE numbers (id BIGINT) WITH (
      'connector' = 'delta', 'table-path' = '{source}', 'mode' = 'streaming',
      'updateCheckIntervalMillis' = '10');
    CREATE TABLE copies (id BIGINT, part BIGINT) PARTITIONED BY (part)
      WITH ('connector' = 'delta', 'table-path' = '{sink}/copies');
    CREATE TABLE parity (odd BIGINT, n BIGINT, PRIMARY KEY (odd) NOT ENFORCED)
      WITH ('connector' = 'delta', 'table-path' = '{sink}/parity');
    INSERT INTO copies SELECT id, MOD(id, 2) FROM numbers;
    INSERT INTO parity SELECT MOD(id, 2), COUNT(*) FROM numbers GROUP BY MOD(id, 2);
    """


def rows(path: Path) -> list[tuple[Any, ...]]:
    if not DeltaTable.is_deltatable(str(path)):
        return []
    return sorted(
        tuple(row.values()) for row in DeltaTable(str(path)).to_pyarrow_table().to_pylist()
    )


def run(
    spark: Any, path: Path, copies: list[tuple[int, int]], parity: list[tuple[int, int]]
) -> None:
    """Runs the jobs until the tables are as expected, and stops them."""
    sink = path / "sink"
    with connect(spark, checkpoint=path / "checkpoint") as session:
        jobs = [r for r in session.run(script(path / "source", sink)) if isinstance(r, JobResult)]
        wait_until(
            lambda: rows(sink / "copies") == copies and rows(sink / "parity") == parity,
            seen=lambda: (rows(sink / "copies"), rows(sink / "parity")),
            alive=lambda: all(job.job.state == "running" for job in jobs),
        )
        for job in jobs:
            job.stop()


@pytest.mark.undisturbed
def test_a_stream_goes_on_where_it_was_and_writes_nothing_twice(spark, tmp_path):
    folder(tmp_path / "source", numbers(1, 2))
    run(spark, tmp_path, [(1, 1), (2, 0)], [(0, 1), (1, 1)])

    again(tmp_path / "checkpoint")
    folder(tmp_path / "source", numbers(3))
    run(spark, tmp_path, [(1, 1), (2, 0), (3, 1)], [(0, 1), (1, 2)])


def test_workers_read_a_batch(spark, tmp_path):
    for number in range(3):
        folder(tmp_path / "t", numbers(number, number + 10))
    asked = tables.read(spark, table(str(tmp_path / "t")))
    assert sorted(row[0] for row in asked.collect()) == [0, 1, 2, 10, 11, 12]
    with connect(spark, options={"execution.runtime-mode": "batch"}) as session:
        [
            *session.run(
                f"CREATE TABLE t (id BIGINT) WITH ('connector' = 'delta', 'table-path' = '{tmp_path}/t')"
            )
        ]
        found = session.sql("SELECT MAX(id) AS most, COUNT(*) AS n FROM t WHERE id <> 1").rows()
    assert [tuple(row.values()) for row in found] == [(12, 5)]
