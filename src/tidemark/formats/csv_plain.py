"""What the bytes of a CSV block show at once: that its lines are records, and where quotes are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tidemark.formats.blocks import LINE_END, MARK
from tidemark.formats.csv_style import Style
from tidemark.formats.leaf_values import Flags

_CARRIAGE_RETURN = 13
# How Arrow's parser can read hexadecimal numbers, which Java does not read.
_HEXADECIMAL = b"xX"

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.intp]


def places_of(data: Bytes, byte: int) -> Places:
    return np.flatnonzero(data == byte)


def quotes_around_fields(data: Bytes, quote: bytes, delimiter: bytes) -> Places | None:
    """Where the quotes are; None if one may be something else than the begin or the end of a field,
    or half of a double one.
    """
    if len(quote) != 1 or len(delimiter) != 1:
        return None
    quotes = places_of(data, quote[0])
    opening, closing = quotes[::2], quotes[1::2]
    before = data[opening[opening > 0] - 1]
    after = data[closing[closing < len(data) - 1] + 1]
    begins = _among(before, b"\n" + delimiter + quote)
    return quotes if begins and _among(after, b"\r\n" + delimiter + quote) else None


def _among(found: Bytes, wanted: bytes) -> bool:
    table = np.zeros(256, np.bool_)
    table[[*wanted]] = True
    return bool(table[found].all())


def has_plain_style(style: Style) -> bool:
    """Whether delimiter, quote and escape are a byte each, and there are no comments."""
    characters = [style.delimiter, style.quote or '"', style.escape or "\\"]
    return not style.comments and all(len(each.encode()) == 1 for each in characters)


@dataclass(frozen=True, slots=True)
class PlainLines:
    """Lines in whose fields quotes, carriage returns and escapes mean nothing. A field with quotes
    around it may still have line ends.
    """

    data: Bytes
    starts: Places

    @staticmethod
    def of(block: bytes | memoryview, style: Style) -> PlainLines | None:
        """The lines of a block, unless its bytes leave it open whether they are like that."""
        data = np.frombuffer(block, np.uint8)
        mark = bytes(data[: len(MARK)]) == MARK  # which is left out where it begins a file
        if not len(data) or mark or _has_escapes(data, style) or not _has_whole_line_ends(data):
            return None
        if style.quote is not None:
            quotes = quotes_around_fields(data, style.quote.encode(), style.delimiter.encode())
            if quotes is None or len(quotes) % 2:
                return None
        starts = np.concatenate([[0], places_of(data, LINE_END) + 1])
        return PlainLines(data, starts[:-1] if starts[-1] == len(data) else starts)

    @property
    def count(self) -> int:
        return len(self.starts)

    @property
    def first(self) -> str:
        end = self.starts[1] if self.count > 1 else None
        return bytes(self.data[:end]).decode("utf-8", "replace")

    def empty(self) -> Flags:
        """Which lines have nothing before their end."""
        first = self.data[self.starts]
        found: Flags = (first == LINE_END) | (first == _CARRIAGE_RETURN)
        return found

    def has_hexadecimal(self) -> bool:
        found = np.concatenate([places_of(self.data, letter) for letter in _HEXADECIMAL])
        return bool((self.data[found[found > 0] - 1] == ord("0")).any())


def _has_escapes(data: Bytes, style: Style) -> bool:
    return style.escape is not None and bool((data == ord(style.escape)).any())


def _has_whole_line_ends(data: Bytes) -> bool:
    """Whether a line feed follows each carriage return."""
    returns = places_of(data, _CARRIAGE_RETURN)
    if not len(returns):
        return True
    return returns[-1] < len(data) - 1 and bool((data[returns + 1] == LINE_END).all())
