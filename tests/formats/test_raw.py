"""Raw values as a column."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tests.formats.examples import decoded, rows
from tidemark.errors import DataError


@pytest.mark.parametrize(
    ("type_", "block", "options", "expected"),
    [
        ("STRING", b"a\r\n\n\xc3\xa9", {}, ["a", "", "é"]),
        ("STRING", b"a\xff\n", {}, ["a\ufffd"]),
        ("STRING", b"\xe9\n", {"raw__charset": "ISO-8859-1"}, ["é"]),
        ("BYTES", b"a\r\n\xff", {}, [b"a", b"\xff"]),
        ("TINYINT", b"\x01\r\n\x02\n", {}, [1, 2]),
        ("FLOAT", b"\x3f\xc0\x00\x00\n", {}, [1.5]),
        (
            "DOUBLE",
            b"\x00\x00\x00\x00\x00\x00\x04\xc0",
            {"raw__endianness": "little-endian"},
            [-2.5],
        ),
        ("INT", b"\x00\x00\x01\x00\n\xff\xff\xff\xff\n", {}, [256, -1]),
        ("SMALLINT", b"\x01\x00\n", {"raw__endianness": "little-endian"}, [1]),
        ("TINYINT", b"\xff\n\x01", {}, [-1, 1]),
        ("BOOLEAN", b"\x00\n\x02\n", {}, [False, True]),
    ],
)
def test_each_line_is_a_value(
    type_: str, block: bytes, options: dict[str, str], expected: list[Any]
) -> None:
    assert [row[0] for row in rows("raw", f"v {type_}", block, **options)] == expected


def test_a_value_of_another_size_is_refused() -> None:
    with pytest.raises(DataError) as caught:
        rows("raw", "v INT", b"\x00\x00\x01\x00\nabc\n")

    assert caught.value.message == "f:2  cannot read `v` as INT"
    assert caught.value.notes == {"why": "expected 4 bytes, found 3", "value": "'616263'"}


def test_values_of_an_array_keep_their_line_ends() -> None:
    found = decoded("raw", "v BYTES", pa.array([b"a\r\n", None, b""], pa.binary()))
    assert found.rows["v"].to_list() == [b"a\r\n", None, b""]
    text = decoded("raw", "v STRING", pa.array([b"a\r"], pa.binary()))
    assert text.rows["v"].to_list() == ["a\r"]
