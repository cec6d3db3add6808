"""Results as Flink prints them: with the widths that column types have."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Sequence

from tidemark import types as t
from tidemark.plan.nodes import Column
from tidemark.rows import Change, cell_text

_NULL = "<NULL>"
_WIDTHS: dict[type[t.DataType], int] = {
    t.TinyInt: 4,
    t.SmallInt: 6,
    t.Int: 11,
    t.BigInt: 20,
    t.Boolean: 5,
    t.Date: 10,
}
_TIME, _TIMESTAMP = 8, 19


def print_changes(
    changes: Iterable[Change], columns: Sequence[Column], *, kinds: bool, widest: int
) -> None:
    """Print rows as they come, in columns whose widths follow from their types."""
    widths = [max(_width(c.name), _width_of(c.type, widest)) for c in columns]
    titles = [column.name for column in columns]
    if kinds:
        widths, titles = [2, *widths], ["op", *titles]
    rows = (
        [*([change.kind] if kinds else []), *(_cell(change.row[c.name], c.type) for c in columns)]
        for change in changes
    )
    _print(rows, titles, widths)


def print_table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a small table, whose columns are as wide as what is in them."""
    cells = [[_text(value) for value in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(names, *cells, strict=True)]
    _print(cells, names, widths)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return cell_text(value, t.Boolean())
    return "" if value is None else str(value)


def _print(rows: Iterable[Sequence[str]], titles: Sequence[str], widths: Sequence[int]) -> None:
    border = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    count = 0
    try:
        for row in rows:
            if not count:
                _say(border, _line(titles, widths), border)
            _say(_line(row, widths))
            count += 1
    finally:
        if count:
            _say(border)
    _say("Empty set" if not count else f"{count} row{'s' * (count > 1)} in set")


def _say(*lines: str) -> None:
    print("\n".join(lines), file=sys.stdout, flush=True)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (_padded(cell, width) for cell, width in zip(cells, widths, strict=True))
    return f"| {' | '.join(padded)} |"


def _padded(cell: str, width: int) -> str:
    if _width(cell) > width:
        cell = _cut(cell, width - 3) + "..."
    return " " * (width - _width(cell)) + cell


def _cut(cell: str, width: int) -> str:
    while _width(cell) > width:
        cell = cell[:-1]
    return cell


def _cell(value: object, type_: t.DataType) -> str:
    return _NULL if value is None else cell_text(value, type_)


def _width_of(type_: t.DataType, widest: int) -> int:
    return max(_own_width(type_, widest), len(_NULL))


def _own_width(type_: t.DataType, widest: int) -> int:
    match type_:
        case t.Decimal(precision=digits):
            return digits + 2
        case t.Time(precision=digits):
            return _TIME + bool(digits) + digits
        case t.Timestamp(precision=digits) | t.TimestampLtz(precision=digits):
            return _TIMESTAMP + bool(digits) + digits
    return _WIDTHS.get(type(type_), widest)


def _width(text: str) -> int:
    """How many places of a terminal it takes."""
    wide = (unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + sum(wide)
