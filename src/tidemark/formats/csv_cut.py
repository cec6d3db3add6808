"""Where CSV files may be cut: not every line begins a record, because fields have line breaks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tidemark.formats.blocks import without_mark
from tidemark.formats.csv_exact import Scanner, without_line_end
from tidemark.formats.csv_style import Style

_LINE_END = 10
# How many bytes a character has at most.
_LONGEST = 4

_Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class CsvCut:
    """How many bytes of a block are whole records. The block begins with one."""

    style: Style
    width: int

    def at_lines(self, block: bytes) -> bool:
        """Whether each line of the block is a record, if that is true of what precedes it."""
        quote = self.style.quote
        if quote is None or self.width == 1:
            return True
        return quote.encode() not in block and not self._escapes(block)

    def all_at_lines(self, pieces: Iterable[bytes]) -> bool:
        """Whether each line of a file is a record."""
        before = b""
        for piece in pieces:
            if not self.at_lines(before + piece):
                return False
            before = piece[-_LONGEST:]
        return True

    def __call__(self, block: bytes, begins_file: bool) -> int:
        if self.at_lines(block):
            return block.rfind(b"\n") + 1
        own = bytes(without_mark(block)) if begins_file else block
        cut = self._between_quotes(own)
        if cut is None:
            cut = self._walked(own)
        return cut and cut + len(block) - len(own)

    def _escapes(self, block: bytes) -> bool:
        return self.style.escape is not None and self.style.escape.encode() in block

    def _between_quotes(self, block: bytes) -> int | None:
        """After the last line end outside quotes; None if a quote may be something else than the
        begin or the end of a field, or half of a double one.
        """
        quote, delimiter = (self.style.quote or "").encode(), self.style.delimiter.encode()
        if len(quote) != 1 or len(delimiter) != 1 or self._escapes(block):
            return None
        data = np.frombuffer(block, np.uint8)
        quotes = np.flatnonzero(data == quote[0])
        opening, closing = quotes[::2], quotes[1::2]
        before = data[opening[opening > 0] - 1]
        after = data[closing[closing < len(data) - 1] + 1]
        if not _among(before, b"\n" + delimiter + quote) or not _among(
            after, b"\r\n" + delimiter + quote
        ):
            return None
        line_ends = np.flatnonzero(data == _LINE_END)
        # After an odd number of quotes, a line end is inside them.
        outside = line_ends[np.searchsorted(quotes, line_ends) % 2 == 0]
        return int(outside[-1]) + 1 if len(outside) else 0

    def _walked(self, block: bytes) -> int:
        """The same, record by record."""
        scanner = Scanner(self.style, self.width)
        text = block.decode("utf-8", "surrogateescape")
        start = 0
        while start < len(text):
            end = scanner.end(text, start)
            if end == len(text) and not _is_whole(text[start:], scanner):
                break
            start = end
        return len(text[:start].encode("utf-8", "surrogateescape"))


def _among(found: _Bytes, wanted: bytes) -> bool:
    return bool(np.isin(found, np.frombuffer(wanted, np.uint8)).all())


def _is_whole(record: str, scanner: Scanner) -> bool:
    """Whether the last record of a block is one, and not only the first part of one."""
    return record.endswith("\n") and scanner.fields(without_line_end(record)) is not None
