"""Messages of logical decoding as changes: whole columns as if they were read one by one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.formats.pgoutput import BadChange, ChangeDecoder
from tidemark.formats.pgoutput_rows import NoOldRow, Untouched, changed_rows

OID, OTHER = 16_384, 70_000
UNTOUCHED = object()
Value = Any  # a string, None or UNTOUCHED
Row = tuple[Value, ...]


# --- messages, as PostgreSQL writes them -------------------------------------------------------


def begin(position: int, number: int, microseconds: int) -> bytes:
    parts = (position, 8), (microseconds, 8), (number, 4)
    return b"B" + b"".join(value.to_bytes(size) for value, size in parts)


def relation(oid: int, columns: int) -> bytes:
    named = b"".join(
        b"\1" + f"c{place}".encode() + b"\0" + (25).to_bytes(4) + b"\xff" * 4
        for place in range(columns)
    )
    return b"R" + oid.to_bytes(4) + b"public\0t\0f" + columns.to_bytes(2) + named


def row(values: Row) -> bytes:
    written = len(values).to_bytes(2)
    for value in values:
        if value is None:
            written += b"n"
        elif value is UNTOUCHED:
            written += b"u"
        else:
            text = value.encode()
            written += b"t" + len(text).to_bytes(4) + text
    return written


@dataclass(frozen=True)
class Change:
    """A change: `before` is None if a message does not have the old row, or only its key."""

    kind: str
    before: Row | None
    after: Row | None
    only_key: bool = False

    def message(self, oid: int = OID) -> bytes:
        written = self.kind.encode() + oid.to_bytes(4)
        if self.before is not None:
            written += (b"K" if self.only_key else b"O") + row(self.before)
        return written + (b"" if self.after is None else b"N" + row(self.after))


def truncate(*oids: int) -> bytes:
    return b"T" + len(oids).to_bytes(4) + b"\0" + b"".join(oid.to_bytes(4) for oid in oids)


COMMIT, ORIGIN = b"C" + b"\0" * 25, b"O" + b"\0" * 8 + b"here\0"


# --- one by one --------------------------------------------------------------------------------


def rows_of(change: Change, upserts: bool) -> list[tuple[Value, ...]]:
    """The rows of a change, its key being the first column."""
    before, after = change.before, change.after
    if after is not None and before is not None and not change.only_key:
        pairs = zip(after, before, strict=True)
        after = tuple(old if new is UNTOUCHED else new for new, old in pairs)
    if before is None:
        assert after is not None
        return [("+U" if change.kind == "U" else "+I", *after)]
    if after is None:
        return [("-D", *before)]
    if change.only_key or before[0] != after[0]:
        return [("-D", *before), ("+I", *after)]
    return [("+U", *after)] if upserts else [("-U", *before), ("+U", *after)]


# --- searching ---------------------------------------------------------------------------------

strings = st.one_of(
    st.none(), st.text(max_size=4), st.sampled_from(["", "n", "t\0\0\0\1x", "é" * 9])
)


@st.composite
def changes(draw: st.DrawFn, width: int, upserts: bool) -> Change:
    rows = st.tuples(*[strings] * width)
    kind = draw(st.sampled_from("IUD"))
    before = None if kind == "I" else draw(rows)
    after = None if kind == "D" else draw(rows)
    only_key = bool(kind != "I" and upserts and draw(st.booleans()))
    if only_key and kind == "U" and draw(st.booleans()):
        before = None  # its key has not changed
    if after is not None and before is not None and not only_key:
        after = tuple(UNTOUCHED if draw(st.integers(0, 5)) == 0 else value for value in after)
    return Change(kind, before, after, only_key and before is not None)


@st.composite
def streams(draw: st.DrawFn) -> tuple[bool, list[bytes], list[tuple[Value, ...]], int]:
    """Messages, what they result in if transactions with an odd number are read, and how many of
    them truncate the table."""
    upserts, width = draw(st.booleans()), draw(st.integers(1, 3))
    messages, expected, truncated = [relation(OTHER, 1)], [], 0
    for number in range(draw(st.integers(0, 4))):
        messages += [begin(1000 + number, number, number * 1_000_000), ORIGIN]
        for _ in range(draw(st.integers(0, 5))):
            what = draw(st.integers(0, 9))
            if what == 0:
                messages.append(Change("I", None, ("other",)).message(OTHER))
            elif what == 1:
                messages.append(truncate(OTHER, OID))
                truncated += number % 2
            elif what == 2:
                width = draw(st.integers(1, 3))
                messages.append(relation(OID, width))
            else:
                if relation(OID, width) not in messages:
                    messages.append(relation(OID, width))
                change = draw(changes(width, upserts))
                messages.append(change.message())
                if number % 2:
                    time = 946_684_800_000_000 + number * 1_000_000
                    expected += [(time, *found) for found in rows_of(change, upserts)]
        messages.append(COMMIT)
    return upserts, messages, expected, truncated


def read(upserts: bool, blocks: list[pa.BinaryArray]) -> tuple[list[tuple[Value, ...]], int]:
    decoder = ChangeDecoder(OID, lambda positions, numbers: (numbers % 2 == 1) & (positions > 0))
    found: list[tuple[Value, ...]] = []
    for block in blocks:
        for part in decoder.changes(block):
            rows = changed_rows(part, {"c0"}, upserts=upserts)
            columns = [rows.strings(place).to_list() for place in range(len(part.table.columns))]
            found += zip(rows.committed_us.tolist(), rows.kinds.to_list(), *columns, strict=True)
    return found, decoder.truncated


@searched(200)
@given(streams(), st.lists(st.integers(0, 40), max_size=4))
def test_blocks_are_read_like_single_messages(stream, cuts):
    upserts, messages, expected, truncated = stream
    bounds = sorted({0, len(messages), *(cut for cut in cuts if cut < len(messages))})
    whole = pa.array(messages, pa.binary())
    # A slice shares the bytes of the others.
    blocks = [whole[first:last] for first, last in pairwise(bounds)]

    assert read(upserts, blocks) == (expected, truncated)


# --- what is wrong -----------------------------------------------------------------------------


def one(change: Change, *, upserts: bool = False, width: int = 2) -> list[tuple[Value, ...]]:
    messages = [begin(1, 1, 0), relation(OID, width), change.message(), COMMIT]
    return read(upserts, [pa.array(messages, pa.binary())])[0]


def test_a_change_without_its_old_row_is_an_error_unless_rows_are_upserts():
    update = Change("U", None, ("1", "a"))

    assert [kind for _, kind, *_ in one(update, upserts=True)] == ["+U"]
    with pytest.raises(NoOldRow):
        one(update)
    with pytest.raises(NoOldRow):
        one(Change("D", ("1", None), None, only_key=True))


def test_a_value_that_no_row_has_is_an_error():
    with pytest.raises(Untouched):
        one(Change("U", None, ("1", UNTOUCHED)), upserts=True)
    with pytest.raises(Untouched):
        one(Change("U", ("0", None), ("1", UNTOUCHED), only_key=True), upserts=True)


def test_a_row_that_does_not_fit_its_table_is_an_error():
    with pytest.raises(BadChange, match="does not have the columns"):
        one(Change("I", None, ("1",)))
    with pytest.raises(BadChange, match="before the columns"):
        read(False, [pa.array([begin(1, 1, 0), Change("I", None, ("1",)).message()], pa.binary())])
