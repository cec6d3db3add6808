"""Row groups that statistics exclude are not read, and nothing that a filter wants is left out."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidemark
from tests.searching import searched
from tidemark.columns import NotInColumns, Program
from tidemark.connectors.base import ColumnsRequest, Part
from tidemark.connectors.filesystem import connector, file_parts, row_groups
from tidemark.errors import DataError, TidemarkError
from tidemark.local.sources import request_of
from tidemark.physical import Settings, physical_plan
from tidemark.plan.nodes import Scan

UTC = dt.UTC
NAN, INFINITY = float("nan"), float("inf")

# What columns of files have, with hostile values among it: their types in the file and in SQL, and
# constants that they are compared with.
COLUMNS: dict[str, tuple[pa.DataType, str, list[Any], list[str]]] = {
    "i": (
        pa.int32(),
        "INT",
        [-(2**31), -1, 0, 1, 5, 7, 2**31 - 1],
        ["0", "5", "-1", "4.5", "2147483648", "5E0", "CAST(NULL AS INT)", "NULL"],
    ),
    "small": (pa.int8(), "BIGINT", [-128, 0, 5, 127], ["0", "5", "9223372036854775807", "1.5E0"]),
    "b": (
        pa.int64(),
        "BIGINT",
        [-(2**63), 2**53, 2**53 + 1, 0, 2**63 - 1],
        ["9007199254740992", "9007199254740993", "9007199254740992E0", "0", "1E300"],
    ),
    "f": (
        pa.float32(),
        "FLOAT",
        [NAN, -INFINITY, INFINITY, -0.0, 0.0, 0.1, 16777216.0, 1.5],
        ["0.1", "CAST(0.1 AS FLOAT)", "0", "16777217", "1E300", "CAST('NaN' AS FLOAT)"],
    ),
    "d": (
        pa.float64(),
        "DOUBLE",
        [NAN, -INFINITY, INFINITY, -0.0, 0.0, 0.1, 1e300, 5.0],
        ["0.1", "0", "-0E0", "5", "1E300", "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)"],
    ),
    "dec": (
        pa.decimal128(9, 2),
        "DECIMAL(12, 4)",
        [Decimal("-1.50"), Decimal("0.00"), Decimal("1.51"), Decimal("9999999.99")],
        ["1.51", "0", "1.505", "1E0", "99999999999999999999"],
    ),
    "big": (
        pa.decimal128(38, 10),
        "DECIMAL(38, 10)",
        [Decimal("-1.5"), Decimal("1E20"), Decimal("0.0000000001")],
        ["0", "0.00000000001", "100000000000000000000"],
    ),
    "s": (
        pa.string(),
        "STRING",
        ["", "a", "a ", "ab", "B", "é", "\uffff", "\U0001f600", "x" * 70, "x" * 69 + "y", "\0"],
        ["''", "'a'", "'ab'", "'é'", f"'{'x' * 70}'", "'\U0001f600'", "DATE '2024-01-01'"],
    ),
    "c": (pa.string(), "CHAR(3)", ["a", "a  ", "abc", "b"], ["'a'", "'a  '", "'b'", "'abc'"]),
    "y": (pa.binary(), "BYTES", [b"", b"\x7f", b"\x80", b"\xff\xff"], ["X'80'", "X''", "X'7f00'"]),
    "day": (
        pa.date32(),
        "DATE",
        [dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(2024, 1, 1), dt.date(9999, 12, 31)],
        ["DATE '2024-01-01'", "'2024-01-01'", "'no date'", "DATE '1970-01-01'"],
    ),
    "at": (
        pa.time32("ms"),
        "TIME(3)",
        [dt.time(0), dt.time(12, 0, 0, 1000), dt.time(23, 59, 59, 999000)],
        ["TIME '12:00:00'", "TIME '00:00:00'"],
    ),
    "ts": (
        pa.timestamp("us"),
        "TIMESTAMP(3)",
        [dt.datetime(1960, 1, 1, 0, 0, 0, 1), dt.datetime(2024, 1, 1), dt.datetime(9999, 1, 1)],
        [
            "TIMESTAMP '2024-01-01 00:00:00'",
            "'2024-01-01 00:00:00'",
            "TIMESTAMP '1960-01-01 00:00:00'",
        ],
    ),
    "tz": (
        pa.timestamp("ms", "UTC"),
        "TIMESTAMP_LTZ(3)",
        [dt.datetime(1960, 1, 1, tzinfo=UTC), dt.datetime(2024, 1, 1, 5, tzinfo=UTC)],
        [
            "TIMESTAMP '2024-01-01 00:00:00'",
            "TO_TIMESTAMP_LTZ(0, 3)",
            "TIMESTAMP '2024-01-01 05:00:00'",
        ],
    ),
    "lacking": (pa.null(), "INT", [None], ["0", "1"]),
}
DDL = ", ".join(f"`{name}` {sql}" for name, (_, sql, _, _) in COLUMNS.items())


def conditions_of(name: str) -> st.SearchStrategy[str]:
    """Conditions of a column."""
    constant = st.sampled_from(COLUMNS[name][3])
    column = f"`{name}`"
    compared = st.tuples(st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), constant)
    return st.one_of(
        compared.map(lambda pair: f"{column} {pair[0]} {pair[1]}"),
        compared.map(lambda pair: f"{pair[1]} {pair[0]} {column}"),
        st.tuples(constant, constant).map(lambda pair: f"{column} BETWEEN {pair[0]} AND {pair[1]}"),
        st.lists(constant, min_size=1, max_size=3).map(lambda m: f"{column} IN ({', '.join(m)})"),
        st.sampled_from([f"{column} IS NULL", f"{column} IS NOT NULL"]),
    )


CONDITIONS = st.recursive(
    st.sampled_from([*COLUMNS]).flatmap(conditions_of),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]}) AND ({pair[1]})"),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]}) OR ({pair[1]})"),
        inner.map(lambda condition: f"NOT ({condition})"),
    ),
    max_leaves=4,
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {name: st.sampled_from([None, *values]) for name, (_, _, values, _) in COLUMNS.items()}
    ),
    max_size=12,
)
# Rows in order, so that row groups differ.
SORTED_BY = st.none() | st.sampled_from([name for name in COLUMNS if name != "lacking"])


def write(file: Path, rows: list[dict[str, Any]], by: str | None, group: int, **how: Any) -> None:
    if by is not None:
        rows = sorted(
            rows, key=lambda row: (row[by] is None, str(type(row[by])), _orderly(row[by]))
        )
    columns = {
        name: pa.array([row[name] for row in rows], type_)
        for name, (type_, _, _, _) in COLUMNS.items()
        if name != "lacking"
    }
    pq.write_table(pa.table(columns), file, row_group_size=group, **how)


def _orderly(value: Any) -> Any:
    if isinstance(value, float) and value != value:
        return INFINITY
    return 0 if value is None else value


@pytest.fixture(autouse=True, scope="module")
def small_files_are_tested() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_groups, "_WORTH_TESTING", 0)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("groups")


def session_over(path: Path, columns: str = DDL) -> tidemark.Session:
    session = tidemark.connect(engine="local")
    session.sql("SET 'table.local-time-zone' = 'Asia/Tokyo'")
    session.sql(
        f"CREATE TABLE t ({columns}) WITH ('connector' = 'filesystem', 'path' = '{path}', "
        "'format' = 'parquet')"
    )
    return session


@pytest.fixture(scope="module")
def session(folder: Path) -> tidemark.Session:
    return session_over(folder)


def asked(session: tidemark.Session, where: str) -> ColumnsRequest:
    """What is asked of the table by a filter."""
    [statement] = session.workspace.plan_script(f"SELECT * FROM t WHERE {where}")
    assert statement.plan is not None
    [root] = statement.plan.of_single_roots.roots
    scans = physical_plan(root, Settings(), streaming=False).scans
    [scan] = [scan for scan in scans if isinstance(scan, Scan)]
    return request_of(scan, "Asia/Tokyo", dt.datetime.now(UTC))


def read(request: ColumnsRequest, *parts: Part) -> pl.DataFrame:
    frames = [*connector.read_columns(replace(request, parts=parts or None))()]
    return pl.concat(frames) if frames else pl.DataFrame(schema=[*request.columns])


def passing(request: ColumnsRequest, rows: pl.DataFrame) -> list[str]:
    """The rows that meet the conditions, as strings: a NaN does not equal itself."""
    if rows.is_empty():
        return []
    program = Program.of(request.conditions, request.columns, request.zone, request.now)
    names = [f"met {place}" for place in range(len(request.conditions))]
    met = program.over(rows, names).select(pl.all_horizontal(names)).to_series()
    return [*map(str, rows.filter(met).rows())]


def check(session: tidemark.Session, file: Path, where: str, cuts: Sequence[int]) -> None:
    """The rows that meet a filter are the same ones if all of the file is read."""
    try:
        request = asked(session, where)
    except TidemarkError:
        return  # types that are not compared
    everything = read(replace(request, conditions=()))
    try:
        expected = passing(request, everything)
    except (DataError, NotInColumns):
        return  # a constant that is not valid, or only Spark can say
    bounds = sorted({0, everything.height, *(n for n in cuts if n < everything.height)})
    parts = [Part(str(file), 0, 10**9, rows=rows) for rows in pairwise(bounds)]

    assert passing(request, read(request)) == expected
    assert [row for part in parts for row in passing(request, read(request, part))] == expected


@searched(100)
@given(ROWS, SORTED_BY, st.integers(1, 5), CONDITIONS, st.lists(st.integers(0, 12), max_size=3))
def test_rows_are_those_that_meet_the_filter(session, folder, rows, by, group, where, cuts):
    file = folder / "rows.parquet"
    write(file, rows, by, group)

    check(session, file, where, cuts)


# --- what is not read ----------------------------------------------------------------------------


def groups_of(
    file: Path, columns: dict[str, Any], damaged: Sequence[int] = (), size: int = 10, **how: Any
) -> None:
    """A file in which the values of some groups are damaged; what the footer says of them stays."""
    pq.write_table(pa.table(columns), file, row_group_size=size, **how)
    about = pq.read_metadata(file)
    starts = [
        about.row_group(number).column(0).dictionary_page_offset
        or about.row_group(number).column(0).data_page_offset
        for number in range(about.num_row_groups)
    ]
    content = bytearray(file.read_bytes())
    ends = [*starts[1:], len(content) - 8 - int.from_bytes(content[-8:-4], "little")]
    for group in damaged:
        content[starts[group] : ends[group]] = b"\xff" * (ends[group] - starts[group])
    file.write_bytes(content)


# Ten rows of each group: 0 to 9, 10 to 19, and 20 to 29.
NUMBERS = {"id": pa.array(range(30), pa.int32())}


@pytest.mark.parametrize(
    ("where", "damaged", "expected"),
    [
        ("id = 15", [0, 2], [15]),
        ("id BETWEEN 18 AND 21", [0], [18, 19, 20, 21]),
        ("id IN (3, 25)", [1], [3, 25]),
        ("id < 2 OR id > 28", [1], [0, 1, 29]),
        ("NOT (id >= 1)", [1, 2], [0]),
        ("id IS NULL", [0, 1, 2], []),
        ("id > 100", [0, 1, 2], []),
        ("id > 5 AND CHAR_LENGTH(CAST(id AS STRING)) = 1", [], [6, 7, 8, 9]),
    ],
)
@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_a_row_group_without_such_rows_is_not_read(tmp_path, mode, where, damaged, expected):
    groups_of(tmp_path / "a.parquet", NUMBERS, damaged)
    session = session_over(tmp_path, "id INT")
    session.sql(f"SET 'execution.runtime-mode' = '{mode}'")

    rows = session.sql(f"SELECT id FROM t WHERE {where}").rows()

    assert [row["id"] for row in rows] == expected


@pytest.mark.parametrize("where", ["d > 28", "d >= CAST(28.5 AS DOUBLE)", "NOT (d <= 28)"])
def test_a_row_group_of_small_numbers_and_nan_is_not_read(tmp_path, where):
    """Only beside a DECIMAL, NaN is the largest number."""
    numbers = [NAN if n % 10 == 3 else float(n) for n in range(30)]
    groups_of(tmp_path / "a.parquet", {"d": numbers}, [0, 1])
    session = session_over(tmp_path, "d DOUBLE")

    assert session.sql(f"SELECT d FROM t WHERE {where}").rows() == [{"d": 29.0}]
    with pytest.raises(DataError, match=r"a\.parquet  cannot read the file"):
        session.sql("SELECT d FROM t WHERE d > 28.0").rows()


@pytest.mark.parametrize("where", ["id > 9", "id = 12 OR s = 'x'", "id <> 3", "MOD(id, 10) = 1"])
def test_a_row_group_that_may_have_such_rows_is_read(tmp_path, where):
    groups_of(tmp_path / "a.parquet", {**NUMBERS, "s": ["a", "z"] * 15}, [2])
    session = session_over(tmp_path, "id INT, s STRING")

    with pytest.raises(DataError, match=r"a\.parquet  cannot read the file"):
        session.sql(f"SELECT id FROM t WHERE {where}").rows()


def test_without_statistics_all_is_read(tmp_path):
    groups_of(tmp_path / "a.parquet", NUMBERS, write_statistics=False)
    request = asked(session_over(tmp_path, "id INT"), "id = 15")

    assert read(request).height == 30


def test_only_rows_that_are_read_are_counted(tmp_path):
    groups_of(tmp_path / "a.parquet", NUMBERS)
    counts = []
    request = replace(
        asked(session_over(tmp_path, "id INT"), "id = 15"),
        count=lambda rows, _: counts.append(rows),
    )

    assert read(request).height == sum(counts) == 10


def test_a_nested_column_is_not_taken_for_one_of_that_name(tmp_path):
    inside = pa.StructArray.from_arrays([pa.array(range(30))], ["b"])
    groups_of(tmp_path / "a.parquet", {"a": inside, "id": NUMBERS["id"]})
    request = asked(session_over(tmp_path, "`a.b` INT, id INT"), "`a.b` = 100 OR `a.b` IS NULL")

    assert read(request).height == 30


@pytest.mark.parametrize("cores", [1, 2, 8])
def test_tasks_get_only_row_groups_that_are_needed(tmp_path, monkeypatch, cores):
    monkeypatch.setattr(file_parts, "_SHARED_COLUMNS_FROM", 1)
    monkeypatch.setattr(file_parts, "_SHARE_OF_COLUMNS", 1)
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    for name in "abc":
        ids = [100 * (name != "b") + n for n in range(30)]
        groups_of(tmp_path / f"{name}.parquet", {"id": pa.array(ids, pa.int32())})
    request = asked(session_over(tmp_path, "id INT"), "id < 5 OR id BETWEEN 23 AND 29")

    tasks = connector.parts(request)

    assert tasks is not None
    assert {Path(part.file).name for task in tasks for part in task} == {"b.parquet"}
    found = [read(request, *task) for task in tasks]
    assert [rows.height > 0 for rows in found] == [True] * max(2, min(cores, 4 * 2))
    assert pl.concat(found)["id"].to_list() == [*range(10), *range(20, 30)]


def test_no_task_reads_anything_if_nothing_is_needed(tmp_path, monkeypatch):
    monkeypatch.setattr(file_parts, "_SHARED_COLUMNS_FROM", 1)
    groups_of(tmp_path / "a.parquet", NUMBERS)

    assert connector.parts(asked(session_over(tmp_path, "id INT"), "id > 100")) == [()]


# As many as workers, in which nothing is patched, do not simply read.
ROWS_OF_A_GROUP = 6_000


@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_workers_leave_row_groups_out(spark, tmp_path, monkeypatch, mode):
    monkeypatch.setattr(file_parts, "_SHARED_COLUMNS_FROM", 1)
    ids = pa.array(range(3 * ROWS_OF_A_GROUP), pa.int32())
    groups_of(tmp_path / "a.parquet", {"id": ids}, [0, 2], ROWS_OF_A_GROUP)
    with tidemark.connect(spark, options={"execution.runtime-mode": mode}) as session:
        session.sql(
            f"CREATE TABLE t (id INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', "
            "'format' = 'parquet')"
        )
        rows = session.sql("SELECT COUNT(*) AS n FROM t WHERE id BETWEEN 8000 AND 8002").rows()

    assert rows[-1] == {"n": 3}
