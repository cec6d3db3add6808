"""Where CSV files may be cut: not every line begins a record, because fields have line breaks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tidemark.formats.blocks import LINE_END, without_mark
from tidemark.formats.csv_exact import Scanner, without_line_end
from tidemark.formats.csv_plain import Places, places_of, quotes_around_fields
from tidemark.formats.csv_style import Style


@dataclass(frozen=True, slots=True)
class CsvCut:
    """How many bytes of a block are whole records. The block begins with one."""

    style: Style

    def at_lines(self, block: bytes) -> bool:
        """Whether each line of the block is a record, if that is true of what precedes it."""
        quote = self.style.quote
        if quote is None:
            return True
        if quote.encode() not in block:
            return not self._escapes(block)
        if self._comments(block):
            return False
        quotes = self._quotes(block)
        return (
            quotes is not None
            and len(quotes) % 2 == 0
            and bool(_outside(_line_ends(block), quotes).all())
        )

    def all_at_lines(self, blocks: Iterable[bytes]) -> bool:
        """Whether each line of a file is a record; the blocks are whole lines."""
        return all(map(self.at_lines, blocks))

    def __call__(self, block: bytes, begins_file: bool) -> int:
        own = bytes(without_mark(block)) if begins_file else block
        cut = self._cut(own)
        return cut and cut + len(block) - len(own)

    def _cut(self, block: bytes) -> int:
        quote = self.style.quote
        if quote is None:
            return block.rfind(b"\n") + 1
        if quote.encode() not in block and not self._escapes(block):
            return block.rfind(b"\n") + 1
        quotes = self._quotes(block)
        if quotes is None:
            return self._walked(block)
        last = block.rfind(b"\n")
        if np.searchsorted(quotes, last) % 2 == 0:  # as in most blocks
            return last + 1
        line_ends = _line_ends(block)
        outside = line_ends[_outside(line_ends, quotes)]
        return int(outside[-1]) + 1 if len(outside) else 0

    def _escapes(self, block: bytes) -> bool:
        return self.style.escape is not None and self.style.escape.encode() in block

    def _comments(self, block: bytes) -> bool:
        """Whether there may be comments, in which quotes mean nothing."""
        return self.style.comments and b"#" in block

    def _quotes(self, block: bytes) -> Places | None:
        """Where the quotes are; None if one may be something else than the begin or the end of a
        field, or half of a double one.
        """
        quote, delimiter = (self.style.quote or "").encode(), self.style.delimiter.encode()
        if self._escapes(block) or self._comments(block):
            return None
        return quotes_around_fields(np.frombuffer(block, np.uint8), quote, delimiter)

    def _walked(self, block: bytes) -> int:
        """The same, record by record."""
        scanner = Scanner(self.style)
        text = block.decode("utf-8", "surrogateescape")
        start = 0
        while start < len(text):
            end = scanner.end(text, start)
            if end == len(text) and not _is_whole(text[start:], scanner):
                break
            start = end
        return len(text[:start].encode("utf-8", "surrogateescape"))


def _line_ends(block: bytes) -> Places:
    return places_of(np.frombuffer(block, np.uint8), LINE_END)


def _outside(line_ends: Places, quotes: Places) -> npt.NDArray[np.bool_]:
    """Which line ends are not between the first and the last quote of a field."""
    outside: npt.NDArray[np.bool_] = np.searchsorted(quotes, line_ends) % 2 == 0
    return outside


def _is_whole(record: str, scanner: Scanner) -> bool:
    """Whether the last record of a block is one, and not only the first part of one."""
    if not record.endswith("\n"):
        return False
    return scanner.is_no_record(record) or scanner.fields(without_line_end(record)) is not None
