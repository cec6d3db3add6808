"""Several columns of a table in one place: `with_columns(range_('a', 'c'))`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tidemark.errors import TidemarkError
from tidemark.pyflink_programs.table.expression import (
    Choose,
    Expression,
    Writing,
    column,
    expression_of,
)


def with_all_columns() -> Expression:
    return column("*")


def with_columns(head: Any, *tails: Any) -> Expression:
    return _choice(lambda names: _chosen((head, *tails), names))


def without_columns(head: Any, *tails: Any) -> Expression:
    def others(names: Sequence[str]) -> list[str]:
        left_out = {*_chosen((head, *tails), names)}
        return [name for name in names if name not in left_out]

    return _choice(others)


def range_(start: str | int, end: str | int) -> Expression:
    """The columns from one to another, by their names or places, of which the first is 1."""

    def between(names: Sequence[str]) -> Sequence[str]:
        first, last = _place(start, names), _place(end, names)
        if last < first:
            raise TidemarkError(
                f"column {names[last]} is before {names[first]}",
                hint=f"range_({end!r}, {start!r})",
            )
        return names[first : last + 1]

    return _choice(between)


def _choice(choose: Choose) -> Expression:
    def write(_: Writing) -> str:
        raise TidemarkError(
            "columns of a table can be chosen for select, group_by and the arguments of functions"
        )

    return Expression(write, choose=choose)


def _chosen(parts: Sequence[Any], names: Sequence[str]) -> list[str]:
    found: list[str] = []
    for part in map(expression_of, parts):
        if part._choose is not None:
            found += part._choose(names)
        else:
            found.append(
                names[_place(part._value if part._column is None else part._column, names)]
            )
    return found


def _place(one: str | int, names: Sequence[str]) -> int:
    place = names.index(one) if one in names else one - 1 if isinstance(one, int) else -1
    if not 0 <= place < len(names):
        raise TidemarkError(
            f"there is no column {one!r}", hint=f"the table has the columns {', '.join(names)}"
        )
    return place
