"""Each function and cast that is computed in columns gives the same values as in Spark, bit for
bit, over values at the edges of their types.
"""

from __future__ import annotations

import random
import struct
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tidemark
from tests.columns.computing import NOW, bound, computed, frame_of, table_of
from tests.columns.edge_values import THEMES, columns
from tidemark.columns import Program

pytestmark = pytest.mark.spark

ZONE = "Europe/Berlin"
# Spark compiles each batch of expressions.
TOGETHER = 60


@pytest.fixture(scope="module")
def session(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("edges")
    pq.write_table(table_of(columns()), folder / "rows.parquet")
    declared = ", ".join(columns())
    session = tidemark.connect(spark)
    session.sql(f"SET 'table.local-time-zone' = '{ZONE}'")
    session.sql(
        f"CREATE TABLE t ({declared}) "
        f"WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '{folder}')"
    )
    yield session
    session.stop()


@pytest.mark.parametrize("theme", THEMES)
def test_values_are_the_same_as_in_spark(session, theme):
    expressions = THEMES[theme]
    wrong = {}
    for start in range(0, len(expressions), TOGETHER):
        some = expressions[start : start + TOGETHER]
        ours, sparks = in_columns(some), on_spark(session, some)
        wrong |= {sql: found for sql in some if (found := _differences(ours[sql], sparks[sql]))}

    assert not wrong, "\n".join(f"{sql}: {found}" for sql, found in wrong.items())


MATH = [
    *(f"{name}(a)" for name in ("EXP", "LN", "LOG2", "LOG10", "SQRT", "ASIN", "ACOS", "ATAN", "SINH", "COSH", "TANH")),
    "POWER(a, b)", "POWER(ABS(a), b)", "LOG(a, b)", "ATAN2(a, b)",
]  # fmt: skip


def doubles() -> dict[str, list[Any]]:
    """Pairs of any bits, of numbers near one, and of usual ones."""
    drawn = random.Random(5)
    bits = [struct.unpack(">d", drawn.randbytes(8))[0] for _ in range(4000)]
    near = [drawn.uniform(-2, 2) for _ in range(4000)]
    usual = [round(drawn.uniform(-800, 800), drawn.randint(0, 3)) for _ in range(4000)]
    second = [*bits[1:], 0.5, *near[1:], 2.0, *(drawn.randint(-7, 7) for _ in usual)]
    first = [*bits, *near, *usual]
    return {
        "id INT": list(range(len(first))),
        "a DOUBLE": first,
        "b DOUBLE": [float(number) for number in second],
    }


def test_the_last_digits_of_random_doubles_are_the_same_as_in_spark(session, tmp_path):
    rows = doubles()
    pq.write_table(table_of(rows), tmp_path / "rows.parquet")
    session.sql(
        f"CREATE TABLE doubles ({', '.join(rows)}) "
        f"WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '{tmp_path}')"
    )

    ours = _lists(computed(MATH, rows).to_arrow())
    sparks = on_spark(session, MATH, "doubles")
    wrong = {sql: found for sql in MATH if (found := _differences(ours[sql], sparks[sql]))}
    assert not wrong


def in_columns(expressions: list[str]) -> dict[str, list[Any]]:
    written, below = bound(expressions, list(columns()), ZONE)
    frame = frame_of(columns()).select(below.edge.names)
    program = Program.of(written, frame.columns, ZONE, NOW)
    return _lists(program.over(frame, expressions).to_arrow())


def on_spark(session, expressions: list[str], table: str = "t") -> dict[str, list[Any]]:
    listed = ", ".join(f"{sql} AS x{place}" for place, sql in enumerate(expressions))
    rows = session.sql(f"SELECT id, {listed} FROM {table}").to_arrow().sort_by("id")
    return _lists(rows.drop_columns("id").rename_columns(expressions))


def _numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Times as numbers: Python has neither all years nor two equal times of a day."""
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("us", tz=column.type.tz)).cast(pa.int64())
    return column.cast(pa.int32()) if pa.types.is_date32(column.type) else column


def _lists(table: pa.Table) -> dict[str, list[Any]]:
    return {
        name: [_plain(v) for v in _numbers(table[name]).to_pylist()] for name in table.column_names
    }


def _plain(value: Any) -> Any:
    """A value that equals another only if all its bits are the same; NaN has one form."""
    if isinstance(value, float):
        return "NaN" if value != value else struct.pack(">d", value)
    if isinstance(value, dict):
        return [_plain(each) for each in value.values()]
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


def _differences(ours: list[Any], sparks: list[Any]) -> list[str]:
    return [
        f"row {row}: {mine!r}, Spark {theirs!r}"
        for row, (mine, theirs) in enumerate(zip(ours, sparks, strict=True))
        if mine != theirs
    ][:3]
