"""Small tables that statements print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tidemark import types as t
from tidemark.plan.nodes import Column


@dataclass(frozen=True, slots=True)
class TableResult:
    """A small table that is completely known."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[object, ...], ...]


def table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> TableResult:
    """A table of strings."""
    columns = tuple(Column(name, t.STRING) for name in names)
    return TableResult(columns, tuple(tuple(row) for row in rows))
