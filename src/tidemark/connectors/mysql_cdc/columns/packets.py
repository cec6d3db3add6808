"""The packets in which a server sends its log, as blocks of events."""

from __future__ import annotations

from typing import Final, Protocol

import numpy as np

from tidemark.formats.binlog import PADDING, EventBlock

# About so many bytes are in a block.
_BLOCK_BYTES: Final = 8 << 20
_FULL: Final = 0xFFFFFF
_OK, _ENDS, _ERROR = 0x00, 0xFE, 0xFF


class PacketStream(Protocol):
    def readinto1(self, buffer: memoryview, /) -> int: ...


class LogError(Exception):
    """What the server says instead of sending an event."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(number, message)
        self.number, self.message = number, message


class ConnectionLost(Exception):
    """The server has stopped in the middle."""


class EventPackets:
    """Reads events until the server says that there are no more."""

    def __init__(self, incoming: PacketStream) -> None:
        self._incoming = incoming
        self._rest = b""
        self.ended = False

    def block(self) -> EventBlock:
        """The next events."""
        data = bytearray(max(_BLOCK_BYTES, 2 * len(self._rest)) + PADDING)
        data[: len(self._rest)] = self._rest
        filled, at = len(self._rest), 0
        starts: list[int] = []
        ends: list[int] = []
        while True:
            at, filled = self._packets(data, at, filled, starts, ends)
            if self.ended or at > _BLOCK_BYTES // 2:
                break
            filled += self._received(data, filled)
        self._rest = bytes(data[at:filled])
        return EventBlock(
            np.frombuffer(data, np.uint8), np.array(starts, np.int64), np.array(ends, np.int64)
        )

    def _received(self, data: bytearray, filled: int) -> int:
        if filled >= len(data) - PADDING:
            data.extend(bytes(len(data)))
        with memoryview(data) as view:
            size = self._incoming.readinto1(view[filled : len(data) - PADDING])
        if not size:
            raise ConnectionLost
        return size

    def _packets(
        self, data: bytearray, at: int, filled: int, starts: list[int], ends: list[int]
    ) -> tuple[int, int]:
        """Notes the events of whole packets; returns where the rest begins and where it ends."""
        while filled - at >= 5:
            size = data[at] | data[at + 1] << 8 | data[at + 2] << 16
            if size == _FULL:
                joined = _join(data, at, filled)
                if joined is None:
                    break
                filled, size = joined
            end = at + 4 + size
            if end > filled:
                break
            status = data[at + 4]
            if status == _ERROR:
                raise _error(bytes(data[at + 5 : end]))
            if status == _ENDS and size < 9:
                self.ended = True
                return end, filled
            starts.append(at + 5)
            ends.append(end)
            at = end
        return at, filled


def _join(data: bytearray, at: int, filled: int) -> tuple[int, int] | None:
    """Bring together an event that takes several packets, all but the last one full. Returns where
    the bytes end then, and its size; None if it is not all there.
    """
    pieces, here = list[bytes](), at
    while filled - here >= 4:
        size = int.from_bytes(data[here : here + 3], "little")
        if here + 4 + size > filled:
            return None
        pieces.append(bytes(data[here + 4 : here + 4 + size]))
        here += 4 + size
        if size < _FULL:
            whole = b"".join(pieces)
            data[at + 4 : here] = whole
            return filled - (here - at - 4 - len(whole)), len(whole)
    return None


def _error(content: bytes) -> LogError:
    """A number, the SQLSTATE, and a sentence."""
    return LogError(int.from_bytes(content[:2], "little"), content[8:].decode(errors="replace"))
