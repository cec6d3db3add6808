"""The formats in which a query's changes are printed as they arrive."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from tidemark.catalog.tables import Changelog
from tidemark.cli.choices import ResultFormat
from tidemark.cli.grid import Grid
from tidemark.cli.status import count
from tidemark.cli.terminal import Terminal
from tidemark.plan.nodes import Column
from tidemark.rows import Change, json_row, json_value

if TYPE_CHECKING:
    from tidemark.cli.protocols import ResultLike


class ResultView(Protocol):
    """Prints the changes of one query. `status` is the content of the status line."""

    # Whether the view controls the screen, so that no status line may be drawn.
    owns_screen: bool

    def show(self, changes: Sequence[Change], status: str) -> None: ...

    def close(self, *, failed: bool = False) -> None:
        """There are no more changes, no more are wanted, or the query has failed."""


class JsonLines:
    """`{"op": "+I", "row": {...}}`, one change per line."""

    def __init__(self, columns: Sequence[Column], terminal: Terminal) -> None:
        self.owns_screen = terminal.out_is_screen
        self._columns = columns
        self._terminal = terminal

    def show(self, changes: Sequence[Change], status: str) -> None:
        if changes:
            self._terminal.write("".join(map(self._line, changes)))

    def close(self, *, failed: bool = False) -> None:
        """Nothing to do: every line is complete."""

    def _line(self, change: Change) -> str:
        entry = {"op": change.kind, "row": json_row(change.row, self._columns)}
        return json.dumps(entry, ensure_ascii=False, allow_nan=False) + "\n"


class Csv:
    """A header and comma-separated values; the first column is `op` if rows can change."""

    def __init__(self, columns: Sequence[Column], terminal: Terminal, *, kinds: bool) -> None:
        self.owns_screen = terminal.out_is_screen
        self._columns = columns
        self._terminal = terminal
        self._kinds = kinds
        names = [column.name for column in columns]
        self._write([["op", *names] if kinds else names])

    def show(self, changes: Sequence[Change], status: str) -> None:
        if changes:
            self._write(map(self._cells, changes))

    def close(self, *, failed: bool = False) -> None:
        """Nothing to do: every line is complete."""

    def _cells(self, change: Change) -> list[str]:
        values = [_csv_text(change.row[c.name], c) for c in self._columns]
        return [change.kind, *values] if self._kinds else values

    def _write(self, rows: object) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)  # type: ignore[arg-type]
        self._terminal.write(text.getvalue())


def _csv_text(value: object, column: Column) -> str:
    written = json_value(value, column.type)
    if written is None:
        return ""
    return written if isinstance(written, str) else json.dumps(written, ensure_ascii=False)


class AlignedTable:
    """An aligned table. The first rows are held back to find the widths of the columns."""

    LOOKS_AT = 1000

    def __init__(self, columns: Sequence[Column], terminal: Terminal, *, kinds: bool) -> None:
        self.owns_screen = False
        self._grid = Grid(columns, terminal, kinds=kinds)
        self._terminal = terminal
        self._held: list[list[str]] | None = []
        self._as_records = False
        self._written = 0

    def show(self, changes: Sequence[Change], status: str) -> None:
        rows = [self._grid.cells(change) for change in changes]
        if self._held is None:
            self._write(rows)
            return
        self._held += rows
        if len(self._held) >= self.LOOKS_AT:
            self._begin()

    def close(self, *, failed: bool = False) -> None:
        nothing_to_show = failed and not self._held
        if self._held is not None and not nothing_to_show:
            self._begin()

    def _begin(self) -> None:
        rows, self._held = self._held or [], None
        # From now on lines appear one by one; a spinner between them would smear.
        self.owns_screen = self._terminal.out_is_screen
        self._grid.fit(rows)
        too_wide = self._grid.line_width > self._terminal.width
        self._as_records = self._terminal.out_is_screen and too_wide and bool(rows)
        if not self._as_records:
            self._write_lines(self._grid.header())
        self._write(rows)

    def _write(self, rows: Sequence[Sequence[str]]) -> None:
        self._write_lines([line for row in rows for line in self._lines_of(row)])

    def _lines_of(self, row: Sequence[str]) -> Iterable[str]:
        self._written += 1
        return self._grid.record(self._written, row) if self._as_records else [self._grid.line(row)]

    def _write_lines(self, lines: Sequence[str]) -> None:
        self._terminal.write("".join(f"{line}\n" for line in lines))


class StreamedTable:
    """A table whose lines appear as rows arrive, for unbounded queries."""

    def __init__(self, columns: Sequence[Column], terminal: Terminal, *, kinds: bool) -> None:
        self.owns_screen = terminal.out_is_screen
        self._grid = Grid(columns, terminal, kinds=kinds)
        self._grid.leave_room()
        self._terminal = terminal
        self._lines(self._grid.header())

    def show(self, changes: Sequence[Change], status: str) -> None:
        if changes:
            self._lines([self._grid.line(self._grid.cells(change)) for change in changes])

    def close(self, *, failed: bool = False) -> None:
        """Nothing to do: every line is complete."""

    def _lines(self, lines: Sequence[str]) -> None:
        self._terminal.write("".join(f"{line}\n" for line in lines))


def choose_view(output: ResultFormat, result: ResultLike, terminal: Terminal) -> ResultView:
    """The view for a query in an output format: live on a screen, plain lines otherwise."""
    columns = result.columns
    kinds = result.changelog is not Changelog.APPEND
    if output is ResultFormat.jsonl:
        return JsonLines(columns, terminal)
    if output is ResultFormat.csv:
        return Csv(columns, terminal, kinds=kinds)
    if result.bounded:
        return AlignedTable(columns, terminal, kinds=kinds)
    if not terminal.out_is_screen:
        return StreamedTable(columns, terminal, kinds=kinds)
    from tidemark.cli.live import Live

    return Live(columns, terminal, kinds=kinds, key=_positions(result))


def show_table(result: ResultLike, output: ResultFormat, terminal: Terminal) -> None:
    """Print the rows of SHOW, DESCRIBE or EXPLAIN; a single multi-line string as it is."""
    columns = result.columns
    rows = [Change("+I", row) for row in result.rows()]
    if output is ResultFormat.table and _is_text(rows, columns):
        terminal.write(f"{rows[0].row[columns[0].name]}\n")
        return
    view: ResultView
    if output is ResultFormat.jsonl:
        view = JsonLines(columns, terminal)
    elif output is ResultFormat.csv:
        view = Csv(columns, terminal, kinds=False)
    else:
        view = AlignedTable(columns, terminal, kinds=False)
    view.show(rows, "")
    view.close()
    if output is ResultFormat.table:
        terminal.say(terminal.paint_err(count(len(rows)), "dim"))


def _positions(result: ResultLike) -> list[int]:
    """The positions of the key by which an upsert changelog replaces rows; empty for others."""
    if result.changelog is not Changelog.UPSERT or not result.keys:
        return []
    names = [column.name for column in result.columns]
    return [names.index(name) for name in result.keys[0]]


def _is_text(rows: Sequence[Change], columns: Sequence[Column]) -> bool:
    return len(rows) == 1 and len(columns) == 1 and "\n" in str(rows[0].row[columns[0].name])
