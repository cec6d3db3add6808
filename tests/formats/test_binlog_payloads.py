"""Compressed transactions are read as if their events were in the log one by one."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.test_binlog import KINDS, decoded, defined, event, rows_event
from tests.searching import searched
from tidemark.formats import binlog as b
from tidemark.formats.binlog import BadLogEvent, EventBlock
from tidemark.formats.binlog_changes import BinlogDecoder
from tidemark.formats.binlog_payloads import unpacked

COLUMNS = [KINDS[0]]
# MySQL 9.7 wrote this: UPDATE shop.rates SET note = 'bb' WHERE id = 2, in a log from 1508 to 1699.
RECORDED = bytes.fromhex(
    "11da0d6b2801000000bf000000a306000000000201000301d801019e0028b52ffd20d8ad040032871a26902b8d01"
    "58dfb9eeee4ef3cf0d0ac3d008868a5e2b3493ce11815a7abffb0ed12021524a9902ffbf64185415bec0cd8fba9b"
    "e38c71783f89df452710528127f356b9261a48bf2f370ad6d46111c883729cc158da4b905ea55c2d238a33e256bc"
    "1e18b0e43fb4a60e0b1200a004c4b52a0c2bd9823e60acae0c27d50eac86fba6e71ad895d58adc7296a581d06090"
    "017801"
)


def number(value: int) -> bytes:
    return bytes([value]) if value < 0xFB else b"\xfe" + value.to_bytes(8, "little")


def payload(events: list[bytes], *, end: int, compression: int = 0) -> bytes:
    """An event with others in it, which do not know where they are."""
    whole = b"".join(events)
    content = pa.compress(whole, "zstd", asbytes=True) if compression == 0 else whole
    said = ((1, len(content)), (2, compression), (3, len(whole)))
    fields = b"".join(bytes([one, len(number(value))]) + number(value) for one, value in said)
    made = event(b.PAYLOAD, fields + b"\0" + content)
    return made[: b.END_POSITION] + end.to_bytes(4, "little") + made[b.END_POSITION + 4 :]


def test_what_mysql_has_compressed():
    block = unpacked(EventBlock.of([RECORDED]))

    assert block.types.tolist() == [b.QUERY, b.TABLE_MAP, b.UPDATE_ROWS[1], b.XID]
    assert block.end_positions.tolist() == [1699] * 4
    assert block.begins.tolist() == [True, False, False, False]
    [changes] = BinlogDecoder("shop", "rates").changes(block)
    assert changes.kinds([0]).to_list() == ["-U", "+U"]


@st.composite
def transactions(draw: st.DrawFn) -> list[list[bytes]]:
    numbers = st.lists(st.integers(-9, 9), min_size=1, max_size=3)
    rows = draw(st.lists(numbers, max_size=6))
    return [
        [defined(COLUMNS), rows_event(30, COLUMNS, [(value,) for value in values])]
        for values in rows
    ]


@searched(50)
@given(transactions(), st.data())
def test_compressed_or_not_the_rows_are_the_same(plain: list[list[bytes]], data: st.DataObject):
    how = [data.draw(st.sampled_from([None, 0, 255])) for _ in plain]
    log = [
        one
        for end, (events, compression) in enumerate(zip(plain, how, strict=True), 1)
        for one in (
            events if compression is None else [payload(events, end=end, compression=compression)]
        )
    ]

    block = unpacked(EventBlock.of(log))

    expected = EventBlock.of([one for events in plain for one in events])
    for found in (block, expected):
        assert found.types.tolist() == [b.TABLE_MAP, 30] * len(plain)
    assert rows(block) == rows(expected)
    assert [len(part) for part in (block, expected)] == [2 * len(plain)] * 2


def rows(block: EventBlock) -> list[object]:
    return list(decoded(block, COLUMNS, BinlogDecoder("shop", "t")))


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (RECORDED[:-9], "is damaged"),
        (payload([bytes(30)], end=9), "shorter than its header"),
        (payload([defined(COLUMNS)], end=9, compression=7), "unknown compression 7"),
    ],
)
def test_what_is_damaged_is_an_error(broken: bytes, why: str):
    with pytest.raises(BadLogEvent, match=why):
        unpacked(EventBlock.of([broken]))
