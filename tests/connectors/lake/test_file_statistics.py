"""Files of lake tables that statistics exclude are not read, and no row that a filter wants is lost."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import polars as pl
import pyarrow as pa
import pytest
from deltalake import DeltaTable, WriterProperties, write_deltalake
from hypothesis import given
from hypothesis import strategies as st
from pyiceberg.types import LongType

import tidemark
from tests.connectors.lake.sinks import Sink
from tests.connectors.lake.test_delta_scan import delete_by_vector
from tests.connectors.lake.test_iceberg import ddl, opened
from tests.connectors.test_row_groups import COLUMNS, CONDITIONS, ROWS, passing
from tests.searching import searched
from tests.waiting import wait_until
from tidemark.catalog.tables import Changelog
from tidemark.columns import NotInColumns
from tidemark.connectors import registry
from tidemark.connectors.base import ColumnsRequest, Part
from tidemark.connectors.delta.source import DeltaReading, VersionPlanning
from tidemark.connectors.delta.tables import DeltaPlace
from tidemark.connectors.filesystem import row_groups
from tidemark.connectors.iceberg import options as o
from tidemark.connectors.iceberg.source import IcebergReading, SnapshotPlanning
from tidemark.connectors.iceberg.tables import IcebergPlace, arrow_of
from tidemark.connectors.lake.frames import fields_of
from tidemark.connectors.statistics import StatisticsTest
from tidemark.errors import DataError, TidemarkError
from tidemark.local.sources import request_of
from tidemark.physical import Settings, physical_plan
from tidemark.plan.nodes import Scan
from tidemark.session.result import JobResult
from tidemark.storage import NO_ACCESS

UTC = dt.UTC
# Types that tables of Delta have, as delta-rs writes them.
TYPES = {
    **{name: type_ for name, (type_, _, _, _) in COLUMNS.items()},
    "ts": pa.timestamp("us"),
    "tz": pa.timestamp("us", "UTC"),
    "lacking": pa.int32(),
}
DELTA = {name: sql for name, (_, sql, _, _) in COLUMNS.items() if name != "at"}
PARTITIONS = st.sampled_from([[], ["c"], ["day"], ["i"]])


def asked(session: tidemark.Session, where: str) -> ColumnsRequest:
    [statement] = session.workspace.plan_script(f"SELECT * FROM t WHERE {where}")
    assert statement.plan is not None
    [root] = statement.plan.of_single_roots.roots
    scans = physical_plan(root, Settings(), streaming=False).scans
    [scan] = [scan for scan in scans if isinstance(scan, Scan)]
    return request_of(scan, "Asia/Tokyo", dt.datetime.now(UTC))


def delta(path: Path, columns: str) -> tidemark.Session:
    session = tidemark.connect(engine="local")
    session.sql(f"CREATE TABLE t ({columns}) WITH ('connector' = 'delta', 'table-path' = '{path}')")
    return session


def read(request: ColumnsRequest, parts: Sequence[Part] | None = None) -> pl.DataFrame:
    made = registry.lookup(request.table).read_columns
    assert made is not None
    frames = [*made(replace(request, parts=parts))()]
    return pl.concat(frames) if frames else pl.DataFrame(schema=[*request.columns])


def files_of_stream(request: ColumnsRequest) -> list[Part]:
    """Those that a stream reads version by version."""
    path = request.table.option("table-path") or ""
    options = {**request.options, "startingVersion": "0"}
    test = StatisticsTest.of(request)
    reading = DeltaReading(
        DeltaPlace.of(path, NO_ACCESS), fields_of(request.table), options, 0, test
    )
    newest = DeltaTable(path).version()
    parts = VersionPlanning(reading).parts({"version": -1}, {"version": newest})
    return [Part(file, details=details) for file, _, _, details in parts]


def arrow(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.table({n: pa.array([row[n] for row in rows], TYPES[n]) for n in DELTA})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files") / "t"


@pytest.fixture(scope="module")
def of_delta(folder: Path) -> tidemark.Session:
    return delta(folder, ", ".join(f"`{name}` {sql}" for name, sql in DELTA.items()))


@searched(40)
@given(
    versions=st.lists(ROWS.filter(bool), min_size=1, max_size=4),
    by=PARTITIONS,
    conditions=st.lists(CONDITIONS.filter(lambda each: "`at`" not in each), min_size=1, max_size=8),
)
def test_rows_of_delta_are_those_that_meet_the_filter(folder, of_delta, versions, by, conditions):
    shutil.rmtree(folder, ignore_errors=True)
    for rows in versions:
        write_deltalake(str(folder), arrow(rows), mode="append", partition_by=by or None)

    for where in conditions:
        try:
            request = asked(of_delta, where)
            expected = passing(request, read(replace(request, conditions=())))
        except (TidemarkError, NotInColumns):
            continue  # types that are not compared, or constants that are not valid
        assert passing(request, read(request)) == expected, where
        streamed = passing(request, read(request, files_of_stream(request)))
        assert sorted(streamed) == sorted(expected), where


# --- what is not read ----------------------------------------------------------------------------


def numbers(*values: int | None) -> pa.Table:
    return pa.table({"id": pa.array(values, pa.int32()), "at": [AT] * len(values)})


AT = dt.datetime(2024, 1, 1, 0, 0, 0, 123_456)


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """A table with three files, of which the first and the last are gone."""
    for version in (numbers(1, 2), numbers(11, None, 12), numbers(21, 22)):
        write_deltalake(str(tmp_path / "t"), version, mode="append")
    for version in (0, 2):
        log = (tmp_path / "t" / "_delta_log" / f"{version:020d}.json").read_text()
        [add] = [a["add"] for a in map(json.loads, log.splitlines()) if "add" in a]
        os.remove(tmp_path / "t" / add["path"])
    return tmp_path / "t"


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("id = 12", [12]),
        ("id BETWEEN 8 AND 11", [11]),
        ("id IS NULL", [None]),
        ("id > 10 AND id < 20", [11, 12]),
        ("id > 100", []),
    ],
)
def test_a_file_without_such_rows_is_not_read(three, where, expected):
    request = asked(delta(three, "id INT"), where)
    files = request.options["table-path"]

    assert passing(request, read(request)) == [str((each,)) for each in expected], files
    streamed = read(request, files_of_stream(request))
    assert passing(request, streamed) == [str((each,)) for each in expected]


def test_a_file_that_may_have_such_rows_is_read(three):
    session = delta(three, "id INT, `at` TIMESTAMP(6)")

    for where in ("id > 12", "id <> 12", f"`at` = TIMESTAMP '{AT}'", "MOD(id, 2) = 0"):
        with pytest.raises(DataError, match="the file is gone"):
            read(asked(session, where))


def test_a_partition_that_a_filter_leaves_out_is_not_read(tmp_path):
    rows = pa.table({"id": [1, 2, 3], "p": ["a", "b", None]})
    path = str(tmp_path / "t")
    write_deltalake(path, rows, partition_by=["p"])
    shutil.rmtree(tmp_path / "t" / "p=b")
    session = delta(tmp_path / "t", "id BIGINT, p STRING")

    for where, expected in (("p = 'a'", [1]), ("p IS NULL", [3]), ("p < 'b' OR p IS NULL", [1, 3])):
        request = asked(session, where)
        assert sorted(read(request)["id"]) == expected
        assert sorted(read(request, files_of_stream(request))["id"]) == expected


def test_rows_that_were_deleted_stay_so_where_row_groups_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(row_groups, "_WORTH_TESTING", 0)
    path = str(tmp_path / "t")
    properties = WriterProperties(max_row_group_size=10)
    write_deltalake(path, pa.table({"id": range(30)}), writer_properties=properties)
    delete_by_vector(path, [1, 3, 15, 29])
    request = asked(delta(tmp_path / "t", "id BIGINT"), "id BETWEEN 14 AND 16 OR id > 27")

    assert read(request)["id"].to_list() == [n for n in range(10, 30) if n not in (15, 29)]


def test_a_decimal_that_the_log_has_only_roughly_is_found(tmp_path):
    value = Decimal("123456789012345678.12")
    rows = pa.table({"d": pa.array([value], pa.decimal128(20, 2))})
    write_deltalake(str(tmp_path / "t"), rows)
    request = asked(delta(tmp_path / "t", "d DECIMAL(20, 2)"), f"d = {value}")

    assert read(request)["d"].to_list() == [value]
    assert read(request, files_of_stream(request))["d"].to_list() == [value]


# --- Iceberg -------------------------------------------------------------------------------------

ICEBERG = {name: "TIME(6)" if name == "at" else sql for name, (_, sql, _, _) in COLUMNS.items()}


def iceberg(folder: Path, columns: str) -> tidemark.Session:
    """A session with a table without rows."""
    session = tidemark.connect(engine="local")
    session.sql(ddl(folder, columns))
    Sink(ddl(folder, columns), Changelog.APPEND).take([])
    return session


def append(folder: Path, rows: list[dict[str, Any]]) -> None:
    table = opened(folder)
    schema = arrow_of(table.schema())
    columns = [pa.array([row[own.name] for row in rows], own.type) for own in schema]
    table.append(pa.Table.from_arrays(columns, schema=schema))


def files_of_snapshots(request: ColumnsRequest) -> list[Part]:
    place = IcebergPlace.of(request.table, request.options, NO_ACCESS)
    test, options = StatisticsTest.of(request), {**request.options, o.INTERVAL: 0}
    plan = SnapshotPlanning(IcebergReading(place, fields_of(request.table), options, 0, test))
    before_all = {"snapshot": 0}
    parts = plan.parts(before_all, plan.latest(before_all))
    return [Part(file, details=details) for file, _, _, details in parts]


@searched(12)
@given(
    versions=st.lists(ROWS.filter(bool), min_size=1, max_size=3),
    conditions=st.lists(CONDITIONS, min_size=1, max_size=12),
)
def test_rows_of_iceberg_are_those_that_meet_the_filter(tmp_path_factory, versions, conditions):
    folder = tmp_path_factory.mktemp("iceberg")
    session = iceberg(folder, ", ".join(f"`{name}` {sql}" for name, sql in ICEBERG.items()))
    for rows in versions:
        append(folder, rows)

    for where in conditions:
        try:
            request = asked(session, where)
            expected = passing(request, read(replace(request, conditions=())))
        except (TidemarkError, NotInColumns):
            continue  # types that are not compared, or constants that are not valid
        assert passing(request, read(request)) == expected, where
        streamed = passing(request, read(request, files_of_snapshots(request)))
        assert sorted(streamed) == sorted(expected), where


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("id = 12", [11, None, 12]),
        ("id IS NULL", [11, None, 12]),
        ("s > 'k' AND s < 'm'", [11, None, 12]),
        ("`day` = DATE '2024-01-02'", [11, None, 12]),
        (
            "`at` BETWEEN TIMESTAMP '2024-01-02 00:00:00' AND TIMESTAMP '2024-01-02 23:00:00'",
            [11, None, 12],
        ),
        ("id > 100", []),
    ],
)
def test_a_file_of_iceberg_without_such_rows_is_not_read(tmp_path, where, expected):
    columns = "id INT, s STRING, `day` DATE, `at` TIMESTAMP(6)"
    session = iceberg(tmp_path, columns)
    for n, ids in enumerate(([1, 2], [11, None, 12], [21, 22])):
        moment = dt.datetime(2024, 1, n + 1, 5)
        append(
            tmp_path,
            [{"id": i, "s": "alz"[n] * 40, "day": moment.date(), "at": moment} for i in ids],
        )
    tasks = sorted(opened(tmp_path).scan().plan_files(), key=lambda task: task.file.lower_bounds[1])
    for task in (tasks[0], tasks[2]):
        os.remove(urlsplit(task.file.file_path).path)
    request = asked(session, where)

    assert [row["id"] for row in read(request).to_dicts()] == expected
    assert [row["id"] for row in read(request, files_of_snapshots(request)).to_dicts()] == expected


def test_bounds_of_a_column_that_was_narrower_are_not_taken_for_others(tmp_path):
    iceberg(tmp_path, "id INT")
    append(tmp_path, [{"id": 7}])
    with opened(tmp_path).update_schema() as change:
        change.update_column("id", LongType())
    session = tidemark.connect(engine="local")
    session.sql(ddl(tmp_path, "id BIGINT"))

    assert read(asked(session, "id = 7"))["id"].to_list() == [7]


@pytest.mark.thorough
def test_a_stream_on_spark_leaves_files_out(spark, three, tmp_path):
    with tidemark.connect(spark) as session:
        session.sql(
            f"CREATE TABLE t (id INT) WITH ('connector' = 'delta', 'table-path' = '{three}', "
            "'mode' = 'streaming')"
        )
        session.sql(
            "CREATE TABLE found (id INT) WITH ('connector' = 'filesystem', "
            f"'path' = '{tmp_path}/found', 'format' = 'json')"
        )
        job = session.sql("INSERT INTO found SELECT id FROM t WHERE id BETWEEN 11 AND 14")
        assert isinstance(job, JobResult)
        found = tmp_path / "found"
        wait_until(lambda: [*found.glob("[!._]*")], alive=lambda: job.job.state == "running")
        job.stop()
        lines = [line for file in found.glob("[!._]*") for line in file.read_text().splitlines()]

    assert [json.loads(line) for line in lines] == [{"id": 11}, {"id": 12}]
