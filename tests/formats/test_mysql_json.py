"""JSON from MySQL's log is what its server writes. The bytes are those of real servers, as published,
and what a plain writer makes of random values by the same rules.
"""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.mysql_json_examples import stored
from tests.searching import searched
from tidemark.formats.mysql_json import BadJson, written_json

OF_SERVERS = {
    "null": [4, 0],
    "true": [4, 1],
    "false": [4, 2],
    "-1": [5, 255, 255],
    "1": [6, 1, 0],
    "-32769": [7, 255, 127, 255, 255],
    "32768": [8, 0, 128, 0, 0],
    "-9223372036854775808": [9, 0, 0, 0, 0, 0, 0, 0, 128],
    "18446744073709551615": [10, *[255] * 8],
    "3.14159": [11, 110, 134, 27, 240, 249, 33, 9, 64],
    "{}": [0, 0, 0, 4, 0],
    "[]": [2, 0, 0, 4, 0],
    '{"a": "b"}': [0, 1, 0, 14, 0, 11, 0, 1, 0, 12, 12, 0, 97, 1, 98],
    '{"a": 2}': [0, 1, 0, 12, 0, 11, 0, 1, 0, 5, 2, 0, 97],
    '{"asdf": {"foo": 123}}': [
        *[0, 1, 0, 29, 0, 11, 0, 4, 0, 0, 15, 0, 97, 115, 100, 102],
        *[1, 0, 14, 0, 11, 0, 3, 0, 5, 123, 0, 102, 111, 111],
    ],
    '{"a": "b", "c": "d", "ab": "abc", "bc": ["x", "y"]}': [
        *[0, 4, 0, 60, 0, 32, 0, 1, 0, 33, 0, 1, 0, 34, 0, 2, 0, 36, 0, 2, 0],
        *[12, 38, 0, 12, 40, 0, 12, 42, 0, 2, 46, 0, 97, 99, 97, 98, 98, 99],
        *[1, 98, 1, 100, 3, 97, 98, 99, 2, 0, 14, 0, 12, 10, 0, 12, 12, 0, 1, 120, 1, 121],
    ],
    # With bytes that are not used any more: a part of the value has been replaced.
    '["here"]': [2, 1, 0, 37, 0, 12, 8, 0, 0, 4, 104, 101, 114, 101, *[0] * 24],
    '"2015-01-15 23:24:25.000000"': [15, 12, 8, 0, 0, 0, 25, 118, 31, 149, 25],
    '"23:24:25.120000"': [15, 11, 8, 192, 212, 1, 25, 118, 1, 0, 0],
    '"2015-01-15"': [15, 10, 8, 0, 0, 0, 0, 0, 30, 149, 25],
    "123456789.1234": [15, 246, 8, 13, 4, 135, 91, 205, 21, 4, 210],
    "1.99": [15, 246, 4, 3, 2, 0x81, 0x63],
    "-0.1": [15, 246, 4, 2, 1, 0x7F, 0xFE],
    "-0.000000001": [15, 246, 7, 10, 9, 0x7F, 0xFF, 0xFF, 0xFF, 0xFE],
    '"base64:type16:yv4="': [15, 16, 2, 202, 254],
}


@pytest.mark.parametrize("written", OF_SERVERS)
def test_values_are_as_servers_write_them(written: str):
    assert written_json(bytes(OF_SERVERS[written])) == written


def test_a_column_that_has_been_made_not_null_has_null_without_a_value():
    assert written_json(b"") == "null"


def test_a_negative_time_has_its_sign_first():
    packed = -((100 << 12 | 5 << 6 | 9) << 24 | 250_000)

    assert written_json(bytes([15, 11, 8]) + struct.pack("<q", packed)) == '"-100:05:09.250000"'


@pytest.mark.parametrize(
    "data",
    [
        [2, 1, 0, 37, 0, 12, 8, 0],  # its size is larger than what there is
        [0, 1, 0, 12, 0, 40, 0, 1, 0, 5, 2, 0, 97],  # a key beyond its end
        [2, 1, 0, 7, 0, 2, 0, 0],  # an array within itself
        [12, 130, 1, 65],
        [12, 2, 0xC3, 0x28],  # not UTF-8
        [5, 1],
        [4, 7],
        [13, 0],
        [15, 246, 1, 1],
        [15, 12, 2, 0, 0],
    ],
)
def test_damaged_bytes_are_an_error_that_says_so(data: list[int]):
    with pytest.raises(BadJson, match="damaged"):
        written_json(bytes(data))


def test_nesting_ends_where_that_of_servers_ends():
    with pytest.raises(BadJson):
        written_json(stored(json.loads("[" * 120 + "]" * 120), large=False))


# --- random values ---------------------------------------------------------------------------

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63) + 1, (1 << 64) - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=150),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)


@searched(200)
@given(VALUES, st.booleans())
def test_any_value_is_written_as_it_was_stored(value: Any, large: bool):
    written = written_json(stored(value, large=large))

    assert json.loads(written) == value
    assert [type(each) for each in leaves(json.loads(written))] == list(map(type, leaves(value)))


def leaves(value: Any) -> list[Any]:
    if isinstance(value, list | dict):
        inner = value.values() if isinstance(value, dict) else value
        return [leaf for each in inner for leaf in leaves(each)]
    return [value]
