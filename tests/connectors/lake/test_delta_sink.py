"""Tables of Delta as sinks."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable, Field, Schema, write_deltalake
from hypothesis import given
from hypothesis import strategies as st

from tests.connectors import tables
from tests.connectors.lake.sinks import Change, Sink
from tests.connectors.lake.test_delta_scan import VALUES, ids, numbers
from tests.searching import searched
from tidemark import connect
from tidemark.catalog.tables import Changelog
from tidemark.connectors.delta.writing import NewFile
from tidemark.errors import DataError, JobError, NotSupported, PlanError
from tidemark.storage import Access

APPEND = Changelog.APPEND


def ddl(path: object, columns: str = "id BIGINT", tail: str = "", **options: str) -> str:
    more = "".join(f", '{key}' = '{value}'" for key, value in options.items())
    return f"CREATE TABLE t ({columns}) {tail} WITH ('connector' = 'delta', 'table-path' = '{path}'{more})"


def keyed(path: object) -> str:
    return ddl(path, "k INT NOT NULL, v INT, PRIMARY KEY (k) NOT ENFORCED")


def rows(path: object) -> list[tuple[Any, ...]]:
    found = DeltaTable(str(path)).to_pyarrow_table().to_pylist()
    return sorted(tuple(row.values()) for row in found)


def version(path: object) -> int:
    return DeltaTable(str(path)).version()


def files(path: Path) -> int:
    return len([*path.rglob("*.parquet")])


# --- rows that are added -----------------------------------------------------------------------


def test_the_table_is_made_if_it_does_not_exist(tmp_path):
    path = tmp_path / "new" / "t"
    columns = "id BIGINT NOT NULL, `P 1` STRING, r ROW<a INT, `B b` ARRAY<STRING>>"
    sink = Sink(
        ddl(path, columns, "PARTITIONED BY (`P 1`)", **{"delta.appendOnly": "true"}), APPEND
    )

    sink.take(
        [("+I", 1, "x", {"a": 1, "_tm_1": ["s"]}), ("+I", 2, None, None)], [("+I", 3, "x", None)]
    )

    table = DeltaTable(str(path))
    assert table.metadata().partition_columns == ["P 1"]
    assert table.metadata().configuration == {"delta.appendOnly": "true"}
    assert not table.schema().fields[0].nullable
    found = table.to_pyarrow_table().sort_by("id").to_pylist()
    assert found == [
        {"id": 1, "P 1": "x", "r": {"a": 1, "B b": ["s"]}},
        {"id": 2, "P 1": None, "r": None},
        {"id": 3, "P 1": "x", "r": None},
    ]


def test_a_batch_is_one_version_whatever_its_tasks(tmp_path):
    path = tmp_path / "t"
    sink = Sink(ddl(path), APPEND)
    sink.take([("+I", 1)], [("+I", 2)], [])
    assert version(path) == 1 and ids(path) == [1, 2]
    sink.take([])
    assert version(path) == 1


def test_a_micro_batch_that_comes_again_changes_nothing(tmp_path):
    path = tmp_path / "t"
    sink = Sink(ddl(path), APPEND, job="j", started="s")

    for batch in (0, 0, 1, 1):
        sink.take([("+I", batch)], batch_id=batch)

    assert ids(path) == [0, 1] and version(path) == 2
    assert files(path) == 2, "files that no version names are removed"
    Sink(ddl(path), APPEND, job="other", started="s").take([("+I", 2)], batch_id=0)
    Sink(ddl(path), APPEND, job="j", started="anew").take([("+I", 3)], batch_id=0)
    assert ids(path) == [0, 1, 2, 3]


def test_a_job_that_is_behind_the_table_is_an_error(tmp_path):
    path = tmp_path / "t"
    sink = Sink(ddl(path), APPEND, job="j")
    sink.take([("+I", 0)], batch_id=4)
    with pytest.raises(JobError, match=r"micro-batch 3 comes, but .* has micro-batch 4 already"):
        sink.take([("+I", 9)], batch_id=3)
    assert ids(path) == [0] and files(path) == 1


def test_two_jobs_write_at_the_same_time(tmp_path):
    path = tmp_path / "t"
    one, other = (Sink(ddl(path), APPEND, job=name) for name in "ab")
    first = one.opened()

    def in_between() -> list[str]:
        other.take([("+I", 2)], batch_id=0)
        return one.written(first, [[("+I", 1)]])

    first.commit(in_between, 0)
    assert ids(path) == [1, 2]


def test_all_types_come_back_as_they_were(tmp_path):
    columns = {name: value for name, value in VALUES.items() if name != "wider"}
    declared = ", ".join(f"`{name}` {value[0]}" for name, value in columns.items())
    sink = Sink(ddl(tmp_path / "t", declared), APPEND)
    values = [{"x": 1, "_tm_1": "b"} if n == "o" else v[2] for n, v in columns.items()]

    sink.take([("+I", *values), ("+I", *[None] * len(values))])

    found = DeltaTable(str(tmp_path / "t")).to_pyarrow_table()
    first, nulls = found.to_pylist()
    assert repr(list(first.values())).replace(
        "zoneinfo.ZoneInfo(key='UTC')", "datetime.timezone.utc"
    ) == repr([v[2] for v in columns.values()])
    assert set(nulls.values()) == {None}
    assert found.schema.types == [v[1] for v in columns.values()]


def test_files_say_which_values_they_have(tmp_path):
    columns = "i INT, s STRING, f DOUBLE, d DATE, ts TIMESTAMP(6), z TIMESTAMP_LTZ(6), n INT, r ROW<i INT>"
    time = dt.datetime(2024, 5, 1, 10, 0, 0, 5)
    sink = Sink(ddl(tmp_path / "t", columns), APPEND).opened()
    test = Sink(ddl(tmp_path / "t", columns), APPEND)
    [(count, note)] = sink.write(
        iter(
            [
                test.batch(
                    [
                        (
                            "+I",
                            i,
                            "s" * i,
                            float("nan"),
                            dt.date(24, 1, i),
                            time,
                            time.replace(tzinfo=dt.UTC),
                            None,
                            {"i": i},
                        )
                        for i in (2, 1)
                    ]
                )
            ]
        )
    )
    assert note is not None
    stats = json.loads(NewFile.read(note).stats)
    assert (count, stats["numRecords"]) == (2, 2)
    assert stats["minValues"] == {
        "i": 1,
        "s": "s",
        "d": "0024-01-01",
        "ts": "2024-05-01T10:00:00.000005",
        "z": "2024-05-01T10:00:00.000005Z",
    }
    assert stats["maxValues"] == {**stats["minValues"], "i": 2, "s": "ss", "d": "0024-01-02"}
    assert stats["nullCount"] == {"i": 0, "s": 0, "f": 0, "d": 0, "ts": 0, "z": 0, "n": 2}


def test_partitions_come_back_as_they_were(tmp_path):
    columns = "id BIGINT, p STRING, q DATE, r TIMESTAMP(6), s DECIMAL(5, 2), t BOOLEAN, z TIMESTAMP_LTZ(3)"
    sink = Sink(ddl(tmp_path / "t", columns, "PARTITIONED BY (p, q, r, s, t, z)"), APPEND)
    at = dt.datetime(2024, 5, 1, 10, 0, 0, 7)
    values = (
        "ü/ %'\"={}",
        dt.date(1, 2, 3),
        at,
        Decimal("-1.50"),
        False,
        dt.datetime(2024, 5, 1, tzinfo=dt.UTC),
    )
    sink.take(
        [("+I", 1, *values), ("+I", 2, *[None] * 6), ("+I", 3, *values), ("+I", 4, "", *values[1:])]
    )

    found = tables.frame(tables.declared(ddl(tmp_path / "t", columns))).sort("id").rows()
    assert found == [(1, *values), (2, *[None] * 6), (3, *values), (4, None, *values[1:])]
    assert files(tmp_path / "t") == 3


# --- tables that do not fit --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "tail", "says"),
    [
        ("nr BIGINT, p STRING", "", "has no column `nr`"),
        ("id STRING, p STRING", "", "column `id` of .* is INT, in which STRING cannot be written"),
        ("id BIGINT, p STRING", "", "is INT, in which BIGINT cannot be written"),
        ("id INT, p STRING", "", r"is partitioned by \(p\), not by \(\)"),
        ("p STRING", "PARTITIONED BY (p)", "column `id` of .* is NOT NULL"),
    ],
)
def test_columns_that_do_not_fit_are_named(tmp_path, columns, tail, says):
    schema = Schema([Field("id", "integer", nullable=False), Field("p", "string")])
    DeltaTable.create(str(tmp_path / "t"), schema, partition_by=["p"])
    if "partitioned by" not in says:
        tail = "PARTITIONED BY (p)"
    with pytest.raises(DataError, match=says):
        Sink(ddl(tmp_path / "t", columns, tail), APPEND).take([])


def test_narrower_values_fit_and_columns_of_the_table_alone_are_null(tmp_path):
    schema = Schema([Field("More", "string"), Field("ID", "long"), Field("d", "decimal(20,2)")])
    DeltaTable.create(str(tmp_path / "t"), schema)
    Sink(ddl(tmp_path / "t", "d DECIMAL(5, 1), id INT"), APPEND).take([("+I", Decimal("1.5"), 7)])
    assert rows(tmp_path / "t") == [(None, 7, Decimal("1.50"))]


def test_null_in_a_column_that_is_not_null_is_named(tmp_path):
    DeltaTable.create(str(tmp_path / "t"), Schema([Field("id", "long", nullable=False)]))
    with pytest.raises(DataError, match=r"column `id` of .* is NOT NULL, and a row has NULL"):
        Sink(ddl(tmp_path / "t"), APPEND).take([("+I", 1), ("+I", None)])
    assert files(tmp_path / "t") == 0


@pytest.mark.parametrize(
    "actions",
    [
        {"metaData": {"configuration": {"delta.constraints.positive": "id > 0"}}},
        {
            "protocol": {
                "minReaderVersion": 1,
                "minWriterVersion": 7,
                "writerFeatures": ["rowTracking"],
            }
        },
        {
            "metaData": {
                "schemaString": json.dumps(
                    {
                        "type": "struct",
                        "fields": [
                            {
                                "name": "id",
                                "type": "long",
                                "nullable": True,
                                "metadata": {"delta.generationExpression": "1"},
                            }
                        ],
                    }
                )
            }
        },
    ],
)
def test_what_a_writer_would_have_to_know_is_refused_by_name(tmp_path, actions):
    path = tmp_path / "t"
    write_deltalake(str(path), numbers(1))
    first = [
        json.loads(line)
        for line in (path / "_delta_log" / f"{0:020d}.json").read_text().splitlines()
    ]
    [known] = [action for action in first if "metaData" in action]
    changed = {k: {**known.get(k, {}), **v} for k, v in actions.items()}
    (path / "_delta_log" / f"{1:020d}.json").write_text(json.dumps(changed))
    with pytest.raises((NotSupported, JobError)) as raised:
        Sink(ddl(path), APPEND).take([("+I", 1)])
    assert any(
        name in str(raised.value) + str(raised.value.notes)
        for name in ("checkConstraints", "rowTracking", "generatedColumns")
    )


def test_an_overwrite_replaces_all_rows(tmp_path):
    path = tmp_path / "t"
    Sink(ddl(path), APPEND).take([("+I", 1), ("+I", 2)])
    Sink(ddl(path), APPEND, overwrite=True).take([("+I", 3)])
    assert ids(path) == [3] and ids(path, versionAsOf="1") == [1, 2]
    Sink(ddl(path), APPEND, overwrite=True).take([])
    assert rows(path) == []
    with pytest.raises(PlanError, match="INSERT OVERWRITE is not supported"):
        Sink(ddl(path, "id BIGINT, p INT", "PARTITIONED BY (p)"), APPEND, overwrite=True).take([])


# --- changes by key ----------------------------------------------------------------------------


def test_the_last_change_of_a_key_counts(tmp_path):
    sink = Sink(keyed(tmp_path / "t"))
    sink.take([("+I", 1, 10), ("+I", 2, 20), ("-U", 1, 10), ("+U", 1, 11), ("+I", 3, None)])
    sink.take([("-D", 2, 20), ("-U", 3, None), ("+U", 3, 31)], [])
    assert rows(tmp_path / "t") == [(1, 11), (3, 31)]
    assert [*(tmp_path / "t" / "_tidemark").iterdir()] == []


def test_a_merge_that_comes_again_changes_nothing(tmp_path):
    sink = Sink(keyed(tmp_path / "t"), job="j")
    for batch, changes in (
        (0, [("+I", 1, 10)]),
        (0, [("+I", 1, 10)]),
        (1, [("-D", 1, 10)]),
        (1, [("-D", 1, 10)]),
    ):
        sink.take(changes, batch_id=batch)
    assert rows(tmp_path / "t") == [] and version(tmp_path / "t") == 2


def test_names_are_quoted_in_a_merge(tmp_path):
    columns = (
        '`k "K` INT NOT NULL, `new."gone` STRING, gone BOOLEAN, PRIMARY KEY (`k "K`) NOT ENFORCED'
    )
    sink = Sink(ddl(tmp_path / "t", columns))
    sink.take([("+I", 1, "a", True), ("+I", 2, "b", False)])
    sink.take([("-D", 1, "a", True), ("-U", 2, "b", False), ("+U", 2, "c", True)])
    assert rows(tmp_path / "t") == [(2, "c", True)]


CHANGES = st.tuples(st.integers(0, 3), st.none() | st.integers(0, 9), st.integers(0, 1))


@given(st.data())
@searched(8)
def test_the_table_equals_the_result_whatever_tasks_its_changes_come_from(tmp_path_factory, data):
    """Rows move between two tasks, which see their own changes in order and nothing else."""
    path = tmp_path_factory.mktemp("merge") / "t"
    sink = Sink(keyed(path))
    result: dict[int, tuple[int, int]] = {}  # the task and value of each key
    for _ in range(data.draw(st.integers(1, 3), "batches")):
        tasks: tuple[list[Change], list[Change]] = ([], [])
        for key, value, task in data.draw(st.lists(CHANGES, max_size=8), "changes"):
            if key in result:
                old_task, old = result.pop(key)
                tasks[old_task].append(("-D" if value is None else "-U", key, old))
            if value is not None:
                tasks[task].append(("+U", key, value))
                result[key] = task, value
        sink.take(*tasks)
        assert rows(path) == sorted((key, value) for key, (_, value) in result.items())


# --- by SQL ------------------------------------------------------------------------------------


def test_a_local_run_writes_and_reads(tmp_path):
    path = tmp_path / "t"
    with connect(engine="local", options={"execution.runtime-mode": "batch"}) as session:
        [*session.run(ddl(path, "id BIGINT, name STRING"))]
        session.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')").wait()
        session.sql("INSERT OVERWRITE t SELECT id + 1, UPPER(name) FROM t WHERE id > 1").wait()
        found = session.sql("SELECT name, id FROM t").rows()
        before = session.sql(
            "SELECT COUNT(*) AS n FROM t /*+ OPTIONS('versionAsOf' = '1') */"
        ).rows()
    assert [tuple(row.values()) for row in found] == [("B", 3)]
    assert [row["n"] for row in before] == [2]


def test_a_table_on_s3_is_written_and_read(s3):
    access = Access.of(s3.settings)
    path = f"s3://bucket/{uuid.uuid4().hex}/a b"
    sink = Sink(
        ddl(path, "id BIGINT, p STRING", "PARTITIONED BY (p)"), APPEND, access=access, job="j"
    )
    for _ in range(2):
        sink.take([("+I", 1, "ü %"), ("+I", 2, None)], batch_id=0)
    keyed_sink = Sink(keyed(f"{path}/k"), access=access)
    keyed_sink.take([("+I", 1, 10)])
    keyed_sink.take([("-U", 1, 10), ("+U", 1, 11)])

    found = tables.frame(tables.declared(ddl(path, "id BIGINT, p STRING")), access=access)
    assert sorted(found.rows()) == [(1, "ü %"), (2, None)]
    merged = tables.frame(tables.declared(keyed(f"{path}/k")), access=access)
    assert merged.rows() == [(1, 11)]
