"""Tables of Iceberg as sources and sinks, in catalogs without a server."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.connectors import tables
from tests.connectors.lake.sinks import Sink
from tidemark.catalog.tables import Changelog
from tidemark.connectors import registry
from tidemark.connectors.base import Part
from tidemark.connectors.iceberg.source import IcebergReading, SnapshotPlanning
from tidemark.connectors.iceberg.tables import IcebergPlace
from tidemark.connectors.lake.frames import fields_of
from tidemark.errors import DataError, JobError, NotSupported, OptionError, PlanError
from tidemark.storage import NO_ACCESS

APPEND, RETRACT = Changelog.APPEND, Changelog.RETRACT
KEYED = "k INT NOT NULL, v INT, PRIMARY KEY (k) NOT ENFORCED"


def ddl(
    folder: Path, columns: str = "id BIGINT", tail: str = "", kind: str = "hadoop", **options: str
) -> str:
    more = "".join(f", '{key.replace('_', '-')}' = '{value}'" for key, value in options.items())
    where = f"'catalog-type' = '{kind}', 'warehouse' = '{folder}/w'"
    where += f", 'uri' = 'jdbc:sqlite:{folder}/catalog.db'" if kind == "jdbc" else ""
    return f"CREATE TABLE t ({columns}) {tail} WITH ('connector' = 'iceberg', 'catalog-name' = 'c', {where}{more})"


def rows(folder: Path, columns: str = "id BIGINT", **options: str) -> list[tuple[Any, ...]]:
    read = registry.lookup(
        declared := tables.declared(ddl(folder, columns, **options))
    ).read_columns
    assert read is not None
    frames = read(tables.columns_request(declared))()
    return sorted((row for frame in frames for row in frame.rows()), key=str)


def opened(folder: Path, **options: str) -> Any:
    table = tables.declared(ddl(folder, **options))
    return IcebergPlace.of(table, registry.options_of(table), NO_ACCESS).opened()


def snapshots(folder: Path) -> list[int]:
    return [one.snapshot_id for one in opened(folder).snapshots()]


@pytest.mark.parametrize("kind", ["hadoop", "jdbc"])
def test_a_table_is_made_written_and_read(tmp_path, kind):
    columns = "id BIGINT, p STRING, r ROW<a INT, `B b` ARRAY<STRING>>"
    sink = Sink(ddl(tmp_path, columns, "PARTITIONED BY (p)", kind), APPEND, job="j")
    for batch in (0, 0, 1):
        sink.take(
            [("+I", batch, "x y", {"a": 1, "_tm_1": ["s"]})],
            [("+I", 10, None, None)],
            batch_id=batch,
        )

    found = rows(tmp_path, columns, kind=kind)
    assert [row[:2] for row in found] == [(0, "x y"), (1, "x y"), (10, None), (10, None)]
    assert [*found[0][2].values()] == [1, ["s"]]
    assert len(opened(tmp_path, kind=kind).snapshots()) == 2


@pytest.mark.parametrize("kind", ["hadoop", "jdbc"])
def test_a_table_that_another_job_makes_first_is_used(tmp_path, kind, monkeypatch):
    Sink(ddl(tmp_path, kind=kind), APPEND, job="j").take([("+I", 1)], batch_id=0)
    found = iter([False])  # when the second job looks
    exists = IcebergPlace.exists
    monkeypatch.setattr(IcebergPlace, "exists", lambda place: next(found, exists(place)))
    Sink(ddl(tmp_path, kind=kind), APPEND, job="k").take([("+I", 2)], batch_id=0)
    assert rows(tmp_path, kind=kind) == [(1,), (2,)]


def test_values_of_each_type_come_back(tmp_path):
    at = dt.datetime(2024, 5, 1, 10, 0, 0, 7)
    values = {
        "a TINYINT": -7, "b SMALLINT": 8, "c INT": -9, "d BIGINT": 2**63 - 1, "e FLOAT": 1.5,
        "f DOUBLE": 2.5, "g DECIMAL(20, 2)": Decimal("-1.50"), "h BOOLEAN": True, "i STRING": "é",
        "j BYTES": b"\x00", "k DATE": dt.date(1, 1, 1), "l TIMESTAMP(6)": at,
        "m TIMESTAMP_LTZ(6)": at.replace(tzinfo=dt.UTC), "n TIME(0)": dt.time(10, 20),
        "o ARRAY<INT>": [1, None],
    }  # fmt: skip
    columns = ", ".join(values)
    Sink(ddl(tmp_path, columns), APPEND).take([("+I", *values.values()), ("+I", *[None] * 15)])

    nulls, first = sorted(rows(tmp_path, columns), key=lambda row: row[0] is not None)
    assert first == tuple(values.values()) and set(nulls) == {None}
    assert rows(tmp_path, "D BIGINT") == [(2**63 - 1,), (None,)]


def test_changes_are_merged_by_key_and_once(tmp_path):
    sink = Sink(ddl(tmp_path, KEYED), RETRACT, job="j")
    sink.take([("+I", 1, 10), ("+I", 2, 20), ("+I", 3, None)], batch_id=0)
    for _ in range(2):
        sink.take([("-U", 1, 10), ("+U", 1, 11), ("-D", 2, 20)], batch_id=1)
    assert rows(tmp_path, KEYED) == [(1, 11), (3, None)]
    # A row that moves between tasks stays.
    sink.take([("-D", 1, 11)], [("+I", 1, 12)], batch_id=2)
    assert rows(tmp_path, KEYED) == [(1, 12), (3, None)]
    with pytest.raises(JobError, match=r"micro-batch 1 comes, but .* has micro-batch 2"):
        sink.take([("+I", 9, 9)], batch_id=1)


def test_a_key_of_several_columns_is_merged(tmp_path):
    columns = "a STRING NOT NULL, b INT NOT NULL, v INT, PRIMARY KEY (a, b) NOT ENFORCED"
    sink = Sink(ddl(tmp_path, columns, upsert_enabled="true"), APPEND)
    sink.take([("+I", "x", 1, 1), ("+I", "x", 2, 2), ("+I", "y", 1, 3)])
    sink.take([("+I", "x", 2, 20), ("+I", "y", 2, 4)])
    assert rows(tmp_path, columns) == [("x", 1, 1), ("x", 2, 20), ("y", 1, 3), ("y", 2, 4)]


def test_rows_are_added_without_upserts_whatever_the_key(tmp_path):
    sink = Sink(ddl(tmp_path, KEYED), APPEND)
    sink.take([("+I", 1, 1)])
    sink.take([("+I", 1, 2)])
    assert rows(tmp_path, KEYED) == [(1, 1), (1, 2)], "same in Flink"


def test_an_overwrite_replaces_the_partitions_that_have_new_rows(tmp_path):
    columns, tail = "id BIGINT, p STRING", "PARTITIONED BY (p)"
    Sink(ddl(tmp_path, columns, tail), APPEND).take([("+I", 1, "a"), ("+I", 2, "b")])
    Sink(ddl(tmp_path, columns, tail), APPEND, overwrite=True).take([("+I", 3, "b")])
    assert rows(tmp_path, columns) == [(1, "a"), (3, "b")]
    with pytest.raises(PlanError, match="INSERT OVERWRITE is not supported"):
        Sink(ddl(tmp_path, KEYED, upsert_enabled="true"), APPEND, overwrite=True).take([])


def test_two_writers_do_not_undo_each_other(tmp_path):
    one, other = (Sink(ddl(tmp_path), APPEND, job=name) for name in "ab")
    first = one.opened()

    def in_between() -> list[str]:
        other.take([("+I", 2)], batch_id=0)
        return one.written(first, [[("+I", 1)]])

    first.commit(in_between, 0)
    assert rows(tmp_path) == [(1,), (2,)]


def test_older_snapshots_are_read_by_number_time_and_tag(tmp_path):
    sink = Sink(ddl(tmp_path), APPEND)
    sink.take([("+I", 1)])
    sink.take([("+I", 2)])
    first, last = snapshots(tmp_path)
    table = opened(tmp_path)
    table.manage_snapshots().create_tag(first, "before").commit()
    made = table.snapshot_by_id(last).timestamp_ms

    assert rows(tmp_path, snapshot_id=str(first)) == rows(tmp_path, tag="before") == [(1,)]
    assert rows(tmp_path, as_of_timestamp=str(made)) == [(1,), (2,)]
    assert rows(tmp_path, as_of_timestamp=str(made - 1)) == [(1,)]
    for options, says in (
        ({"snapshot_id": "5"}, "has no snapshot 5"),
        ({"tag": "after"}, "has no tag 'after'"),
        ({"branch": "other"}, "has no branch 'other'"),
        ({"as_of_timestamp": "1"}, "has no snapshot at 1970-01-01 00:00:00 UTC or before"),
    ):
        with pytest.raises(DataError, match=says):
            rows(tmp_path, **options)


def test_columns_that_do_not_fit_are_named(tmp_path):
    Sink(ddl(tmp_path), APPEND).take([("+I", 1)])
    with pytest.raises(DataError, match="has no column `nr`"):
        rows(tmp_path, "nr BIGINT")
    with pytest.raises(DataError, match=r"column `id` of .* cannot be read as STRING"):
        rows(tmp_path, "id STRING")
    with pytest.raises(DataError, match=r"column `id` of .* is BIGINT, in which STRING cannot"):
        Sink(ddl(tmp_path, "id STRING"), APPEND).take([])
    with pytest.raises(DataError, match=r"has no table default_database\.gone"):
        rows(tmp_path, catalog_table="gone")


def test_a_renamed_column_is_found_by_its_new_name_in_old_files(tmp_path):
    Sink(ddl(tmp_path), APPEND).take([("+I", 1)])
    with opened(tmp_path).update_schema() as change:
        change.rename_column("id", "nr")
    Sink(ddl(tmp_path, "nr BIGINT"), APPEND).take([("+I", 2)])
    assert rows(tmp_path, "nr BIGINT") == [(1,), (2,)]


@pytest.mark.parametrize(
    ("options", "says", "kind"),
    [
        ({"snapshot_id": "1", "tag": "a"}, "exclude each other", OptionError),
        ({"start_snapshot_id": "1"}, "requires 'streaming' = 'true'", OptionError),
        ({"streaming": "true", "tag": "a"}, "requires 'streaming' = 'false'", OptionError),
        ({"upsert_enabled": "true"}, "requires a primary key", OptionError),
        ({"kind": "nessie"}, "'nessie' is not supported", NotSupported),
        ({"kind": "hadop"}, "unknown catalog type 'hadop'", OptionError),
        ({"kind": "rest"}, "requires 'uri'", OptionError),
        ({"catalog_impl": "com.my.Catalog"}, "'com.my.Catalog' is not supported", NotSupported),
    ],
)
def test_options_that_do_not_fit_are_errors(tmp_path, options, says, kind):
    with pytest.raises(kind, match=says) as raised:
        registry.options_of(tables.declared(ddl(tmp_path, **options)))
    assert raised.value.at is not None


def test_secrets_are_not_shown(tmp_path):
    text = ddl(
        tmp_path,
        **{"jdbc.password": "hidden1", "token": "hidden2", "s3.secret_access_key": "hidden3"},
    )
    table = tables.declared(text)
    place = IcebergPlace.of(table, registry.options_of(table), NO_ACCESS)
    assert "hidden" not in str(registry.shown_options(table)) + repr(place) + str(place)


# --- as a stream -------------------------------------------------------------------------------


def planning(folder: Path, **options: str) -> SnapshotPlanning:
    stream = {"streaming": "true", "monitor_interval": "0 s", **options}
    table = tables.declared(ddl(folder, **stream))
    read = registry.options_of(table)
    place = IcebergPlace.of(table, read, NO_ACCESS)
    return SnapshotPlanning(IcebergReading(place, fields_of(table), read, 0))


def come(folder: Path, plan: SnapshotPlanning, start: dict[str, Any]) -> tuple[list[int], Any]:
    end = json.loads(json.dumps(plan.latest(start)))
    found = plan.parts(start, end)
    parts = [Part(file, at, last, details=details) for file, at, last, details in found]
    if not parts:
        return [], end
    frame = tables.frame(tables.declared(ddl(folder)), parts=parts)
    return sorted(frame["id"].to_list()), end


def test_a_stream_reads_the_newest_snapshot_and_then_what_is_added(tmp_path):
    sink = Sink(ddl(tmp_path), APPEND)
    sink.take([])
    plan = planning(tmp_path)
    assert come(tmp_path, plan, plan.initial()) == ([], {"snapshot": None})
    sink.take([("+I", 1)])
    sink.take([("+I", 2)])
    first, at = come(tmp_path, plan, plan.initial())
    assert first == [1, 2] and come(tmp_path, plan, at) == ([], at)
    sink.take([("+I", 3)])
    sink.take([("+I", 4)])
    assert come(tmp_path, plan, at)[0] == [3, 4]


def test_a_stream_begins_where_it_is_told(tmp_path):
    sink = Sink(ddl(tmp_path), APPEND)
    for number in (1, 2, 3):
        sink.take([("+I", number)])
    first, second, _ = snapshots(tmp_path)
    table = opened(tmp_path)
    made = table.snapshot_by_id(second).timestamp_ms
    table.manage_snapshots().create_tag(first, "before").commit()
    for options, expected in (
        ({"start_snapshot_id": str(first)}, [2, 3]),
        ({"start_tag": "before"}, [2, 3]),
        ({"start_snapshot_timestamp": str(made)}, [2, 3]),
        ({"starting_strategy": "INCREMENTAL_FROM_EARLIEST_SNAPSHOT"}, [1, 2, 3]),
    ):
        plan = planning(tmp_path, **options)
        assert come(tmp_path, plan, plan.initial())[0] == expected, options


def test_a_snapshot_that_changes_rows_is_an_error_that_names_it(tmp_path):
    sink = Sink(ddl(tmp_path), APPEND)
    sink.take([("+I", 1)])
    [first] = snapshots(tmp_path)
    Sink(ddl(tmp_path), APPEND, overwrite=True).take([("+I", 2)])
    plan = planning(tmp_path)
    with pytest.raises(
        DataError, match=f"snapshot {snapshots(tmp_path)[-1]} of .* changes"
    ) as raised:
        come(tmp_path, plan, {"snapshot": first})
    assert "tidemark.iceberg.skip-changes" in str(raised.value)
    with pytest.raises(DataError, match=r"snapshot 77 of .* is not among those before"):
        come(tmp_path, plan, {"snapshot": 77})
