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
    """A table of strings; columns of which all values are BOOLEAN are that."""
    listed = tuple(tuple(row) for row in rows)
    places = range(len(names))
    flags = [bool(listed) and all(isinstance(row[at], bool) for row in listed) for at in places]
    types = (t.Boolean() if flag else t.STRING for flag in flags)
    return TableResult(tuple(map(Column, names, types)), listed)
