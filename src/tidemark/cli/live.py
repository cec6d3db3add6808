"""The result of an unbounded query, redrawn in place: the newest rows at the bottom, or the
current rows if rows change.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from rich.console import Console
from rich.live import Live as Screen
from rich.text import Text

from tidemark.cli.grid import Grid
from tidemark.cli.terminal import Terminal
from tidemark.plan.nodes import Column
from tidemark.rows import Change

# Header, rule, status line, and a line for the prompt that follows.
_OTHER_LINES = 4


class Newest:
    """The last rows of an append-only query."""

    def __init__(self, most: int) -> None:
        self._rows: deque[tuple[str, ...]] = deque(maxlen=most)

    def apply(self, kind: str, row: tuple[str, ...]) -> None:
        self._rows.append(row)

    def last(self, number: int) -> list[tuple[str, ...]]:
        return list(self._rows)[-number:]


class Current:
    """The current rows of a changelog, least recently changed first."""

    def __init__(self, key: Sequence[int]) -> None:
        self._key = key
        self._rows: dict[tuple[str, ...], list[tuple[str, ...]]] = {}

    def apply(self, kind: str, row: tuple[str, ...]) -> None:
        key = tuple(row[i] for i in self._key) if self._key else row
        if kind in ("-U", "-D"):
            self._remove(key)
            return
        before = [] if self._key else self._rows.pop(key, [])
        self._rows.pop(key, None)
        self._rows[key] = [*before, row]

    def _remove(self, key: tuple[str, ...]) -> None:
        rows = self._rows.pop(key, [])
        if len(rows) > 1:
            self._rows[key] = rows[1:]

    def last(self, number: int) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        for group in reversed(self._rows.values()):
            rows = [*group, *rows]
            if len(rows) >= number:
                break
        return rows[-number:]


class Live:
    """A table that is redrawn as rows change, with a status line below it."""

    owns_screen = True

    def __init__(
        self, columns: Sequence[Column], terminal: Terminal, *, kinds: bool, key: Sequence[int] = ()
    ) -> None:
        self._columns = columns
        self._terminal = terminal
        self._content = Current(key) if kinds else Newest(most=1000)
        console = Console(
            file=terminal.out, force_terminal=True, no_color=not terminal.out_color, highlight=False
        )
        self._screen = Screen(console=console, auto_refresh=False, vertical_overflow="crop")
        self._screen.start()

    def show(self, changes: Sequence[Change], status: str) -> None:
        grid = Grid(self._columns, self._terminal, kinds=False)
        for change in changes:
            self._content.apply(change.kind, tuple(grid.cells(change)))
        self._screen.update(self._drawn(grid, status), refresh=True)

    def close(self, *, failed: bool = False) -> None:
        grid = Grid(self._columns, self._terminal, kinds=False)
        self._screen.update(self._drawn(grid, None), refresh=True)
        self._screen.stop()

    def _drawn(self, grid: Grid, status: str | None) -> Text:
        rows = self._content.last(max(1, self._terminal.height - _OTHER_LINES))
        grid.fit(rows)
        grid.shrink(self._terminal.width)
        lines = [*grid.header(), *map(grid.line, rows)]
        if status is not None:
            lines.append(self._terminal.paint(f" {status}", "dim"))
        text = Text.from_ansi("\n".join(lines))
        text.no_wrap = True
        return text
