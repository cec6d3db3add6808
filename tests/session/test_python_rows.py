"""Rows of Arrow as values of Python."""

from __future__ import annotations

import pyarrow as pa
import pytest

import tidemark
from tidemark.errors import DataError
from tidemark.session.changelogs import changes_of, python_rows


def test_bytes_of_a_string_that_are_not_utf_8_are_replaced() -> None:
    binary = pa.array([b"ab", b"\xff\x00\xc3", None])
    strings = pa.Array.from_buffers(pa.string(), 3, binary.buffers())
    table = pa.table({"i": [1, 2, 3], "s": strings})

    assert [row["s"] for row in python_rows(table)] == ["ab", "\ufffd\x00\ufffd", None]
    assert [change.row["i"] for change in changes_of(table)] == [1, 2, 3]


@pytest.mark.parametrize("days", [2**31 - 1, -(2**31), 2_932_897])
def test_a_date_that_python_does_not_have_is_named(days: int) -> None:
    table = pa.table({"i": [1], "d": pa.array([days], pa.int32()).cast(pa.date32())})

    with pytest.raises(DataError, match="column `d` has a date or time beyond the years"):
        list(changes_of(table))


def test_maps_with_keys_that_no_dict_has_are_lists_of_pairs():
    with tidemark.connect(engine="local") as session:
        rows = session.sql("SELECT MAP[ROW(1, 'a'), 2] AS m, MAP['b', 3] AS n").rows()

    assert rows == [{"m": [({"EXPR$0": 1, "EXPR$1": "a"}, 2)], "n": {"b": 3}}]
