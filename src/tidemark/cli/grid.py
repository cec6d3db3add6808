"""Rows as aligned columns, or as one record per row if a line would not fit the screen."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

from tidemark import types as t
from tidemark.cli.terminal import Terminal
from tidemark.plan.nodes import Column
from tidemark.rows import Change, cell_text

# The minimum width of columns while later rows are still unknown.
_OPEN_WIDTHS: dict[type[t.DataType], int] = {
    t.Int: 6,
    t.BigInt: 8,
    t.Double: 8,
    t.Date: 10,
    t.Time: 8,
    t.Timestamp: 23,
    t.TimestampLtz: 23,
    t.Char: 8,
    t.VarChar: 12,
}
_KIND_STYLES = {"+I": "green", "+U": "yellow", "-U": "red", "-D": "red"}


@dataclass(frozen=True, slots=True)
class Lines:
    """The characters that tables are drawn with."""

    vertical: str
    horizontal: str
    cross: str
    ellipsis: str


UNICODE = Lines("│", "─", "┼", "…")
ASCII = Lines("|", "-", "+", "~")


class Grid:
    """Lays out rows of one schema. `fit` sets the widths; until then they are the headers'."""

    def __init__(self, columns: Sequence[Column], terminal: Terminal, *, kinds: bool) -> None:
        self.columns = columns
        self._kinds = kinds
        self._terminal = terminal
        self._lines = UNICODE if terminal.takes("│─┼…") else ASCII
        self.titles = [*(["op"] if kinds else []), *(_one_line(c.name) for c in columns)]
        self._right = [
            *([False] if kinds else []),
            *(isinstance(c.type, t.NUMERICS) for c in columns),
        ]
        self.widths = [cell_len(title) for title in self.titles]
        self._cutting = False

    def cells(self, change: Change) -> list[str]:
        values = [_one_line(cell_text(change.row[c.name], c.type)) for c in self.columns]
        return [change.kind, *values] if self._kinds else values

    def fit(self, rows: Sequence[Sequence[str]]) -> None:
        """Make every column as wide as its widest cell."""
        for row in rows:
            self.widths = [max(w, cell_len(cell)) for w, cell in zip(self.widths, row, strict=True)]

    def leave_room(self) -> None:
        """Make columns as wide as values of their types usually are."""
        offset = len(self.widths) - len(self.columns)
        for index, column in enumerate(self.columns, start=offset):
            usual = _OPEN_WIDTHS.get(type(column.type), 0)
            self.widths[index] = max(self.widths[index], usual)

    def shrink(self, room: int) -> None:
        """Truncate the widest columns until a line fits; truncated cells end in an ellipsis."""
        self._cutting = True
        while self.line_width > room and max(self.widths) > 4:
            self.widths[self.widths.index(max(self.widths))] -= 1

    @property
    def line_width(self) -> int:
        return sum(self.widths) + 3 * len(self.widths) - 1

    def header(self) -> list[str]:
        titles = [
            self._terminal.paint(self._pad(title, i), "bold") for i, title in enumerate(self.titles)
        ]
        rule = self._dim(
            self._lines.cross.join(self._lines.horizontal * (width + 2) for width in self.widths)
        )
        return [self._join(titles), rule]

    def line(self, row: Sequence[str]) -> str:
        return self._join([self._paint(self._pad(cell, i), i, cell) for i, cell in enumerate(row)])

    def record(self, number: int, row: Sequence[str]) -> Iterator[str]:
        """The row as one line per column."""
        kind = f" {row[0]}" if self._kinds else ""
        yield self._dim(
            f"{self._lines.horizontal * 2} {number}{kind} ".ljust(40, self._lines.horizontal)
        )
        name_width = max(cell_len(title) for title in self.titles)
        for index, (title, cell) in enumerate(zip(self.titles, row, strict=True)):
            if self._kinds and index == 0:
                continue
            name = self._terminal.paint(title + " " * (name_width - cell_len(title)), "bold")
            yield f"{name}  {self._paint(cell, index, cell)}"

    def _join(self, cells: Sequence[str]) -> str:
        return f" {self._dim(f' {self._lines.vertical} ').join(cells)}".rstrip()

    def _pad(self, text: str, index: int) -> str:
        width = self.widths[index]
        if self._cutting and cell_len(text) > width:
            text = set_cell_size(text, width - 1) + self._lines.ellipsis
        space = " " * (width - cell_len(text))
        return space + text if self._right[index] else text + space

    def _paint(self, padded: str, index: int, cell: str) -> str:
        if self._kinds and index == 0:
            return self._terminal.paint(padded, _KIND_STYLES.get(cell, "bold"))
        return self._dim(padded) if cell == "NULL" else padded

    def _dim(self, text: str) -> str:
        return self._terminal.paint(text, "dim")


def _one_line(text: str) -> str:
    """The string with control characters escaped: a cell must not move the cursor."""
    if text.isprintable():
        return text
    return "".join(
        c.encode("unicode_escape").decode() if unicodedata.category(c) == "Cc" else c for c in text
    )
