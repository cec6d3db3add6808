"""How a live table looks in a notebook, in a terminal, and as plain text."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.plan.nodes import Column
from tidemark.rows import cell_text
from tidemark.session.changelogs import python_rows

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Group


@dataclass(frozen=True)
class Snapshot:
    """Some rows of a table at one moment, and a summary of the whole table."""

    columns: tuple[Column, ...]
    newest: pa.Table
    total: int
    changes: int
    state: str
    problem: str | None = None

    def __repr__(self) -> str:
        return self.text()

    def __rich__(self) -> Group:
        return self.grid()

    @property
    def caption(self) -> str:
        """`running · 3 rows · 12 changes`"""
        parts = [self.state, _count(self.total, "row"), _count(self.changes, "change")]
        if self.newest.num_rows < self.total:
            parts.insert(2, f"the newest {self.newest.num_rows:,} shown")
        if self.problem is not None:
            parts.append(self.problem)
        return " · ".join(parts)

    def cells(self) -> Iterator[list[str]]:
        """The rows as strings, as CAST(... AS STRING) returns them."""
        for row in python_rows(self.newest):
            yield [cell_text(row[column.name], column.type) for column in self.columns]

    def _repr_html_(self) -> str:
        heads = "".join(
            f'<th title="{escape(str(column.type))}">{escape(column.name)}</th>'
            for column in self.columns
        )
        lines = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
            for row in self.cells()
        )
        return (
            f"<table><caption>{escape(self.caption)}</caption>"
            f"<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"
        )

    def grid(self) -> Group:
        """The rows as a table of the `rich` library, with the caption below it."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table()
        for column in self.columns:
            is_number = isinstance(column.type, t.NUMERICS)
            table.add_column(Text(column.name), justify="right" if is_number else "left")
        for row in self.cells():
            table.add_row(*(Text(cell) for cell in row))
        return Group(table, Text(self.caption, style="dim"))

    def text(self) -> str:
        """The table as drawn in a terminal."""
        from rich.console import Console

        out = io.StringIO()
        Console(file=out, width=100, color_system=None).print(self.grid())
        return out.getvalue().rstrip()


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
