"""Transactions that MySQL has compressed (`binlog_transaction_compression`): one event that has all
of theirs.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np
import pyarrow as pa

from tidemark.formats.binlog import (
    END_POSITION,
    HEADER,
    PADDING,
    PAYLOAD,
    BadLogEvent,
    Bytes,
    EventBlock,
    Longs,
    counted,
)

# What is said about the events before they follow, each with its number and its size.
_ENDS, _SIZE, _COMPRESSION, _WHOLE_SIZE = 0, 1, 2, 3
_ZSTD, _NONE = 0, 255
_EVENT_SIZE: Final = 9  # its place in a header


def unpacked(block: EventBlock) -> EventBlock:
    """The same block with the events of compressed transactions in their places. All of these end
    where their transaction does: inside of it there is no position to begin at.
    """
    packed = np.flatnonzero(block.types == PAYLOAD).tolist()
    if not packed:
        return block
    pieces = [block.data[: len(block.data) - PADDING]]
    starts, ends = list[Longs](), list[Longs]()
    size = len(pieces[0])
    for before, at in pairwise([-1, *packed]):
        starts.append(block.starts[before + 1 : at])
        ends.append(block.ends[before + 1 : at])
        events = np.frombuffer(bytearray(_events(block.body(at))), np.uint8)
        bounds = _bounds(events)
        for place in range(4):
            position = int(block.end_positions[at]) >> 8 * place & 0xFF
            events[bounds[:-1] + END_POSITION + place] = position
        starts.append(bounds[:-1] + size)
        ends.append(bounds[1:] + size)
        pieces.append(events)
        size += len(events)
    starts.append(block.starts[packed[-1] + 1 :])
    ends.append(block.ends[packed[-1] + 1 :])
    pieces.append(np.zeros(PADDING, np.uint8))
    return EventBlock(np.concatenate(pieces), np.concatenate(starts), np.concatenate(ends))


def _events(body: bytes) -> bytes:
    """The events, one after the other and without checksums."""
    said, at = {_COMPRESSION: _NONE}, 0
    while True:
        number, at = counted(body, at)
        if number == _ENDS:
            break
        size, at = counted(body, at)
        said[number], at = counted(body, at)[0], at + size
    content = body[at : at + said[_SIZE]]
    if said[_COMPRESSION] == _NONE:
        return content
    if said[_COMPRESSION] != _ZSTD:
        raise BadLogEvent(f"a transaction has the unknown compression {said[_COMPRESSION]}")
    try:
        whole: bytes = pa.decompress(content, said[_WHOLE_SIZE], "zstd", asbytes=True)
    except (OSError, pa.ArrowException) as problem:
        raise BadLogEvent(f"a compressed transaction is damaged: {problem}") from None
    return whole


def _bounds(events: Bytes) -> Longs:
    """Where each event begins, and where the last one ends."""
    found, data = [0], events.tobytes()
    while found[-1] < len(data):
        at = found[-1] + _EVENT_SIZE
        size = int.from_bytes(data[at : at + 4], "little")
        if size < HEADER:
            raise BadLogEvent("an event of a compressed transaction is shorter than its header")
        found.append(found[-1] + size)
    return np.array(found, np.int64)
