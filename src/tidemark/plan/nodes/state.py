"""What an operator's state means, as plain values: what must be the same for state to fit.

Names and words of EXPLAIN are not part of it, nor is how long state is kept. What is part of it:
the keys, the times, the windows, the functions, and the columns of the rows that are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any

from tidemark.catalog.tables import UserFunction
from tidemark.functions.registry import Function
from tidemark.plan.expressions import Ref
from tidemark.plan.nodes.edge import Edge
from tidemark.types import DataType


@dataclass(frozen=True, slots=True)
class KeptColumn:
    """A column of the rows that are kept. Operators that know columns by place have no names."""

    name: str
    type: str

    def __str__(self) -> str:
        return f"`{self.name}` {self.type}"


Rows = tuple[KeptColumn, ...]


@dataclass(frozen=True, slots=True)
class Passed:
    """A condition of which an operator keeps no other rows: by the origins of its columns, as JSON,
    and in words.
    """

    condition: str
    words: str


@dataclass(frozen=True, slots=True)
class StateSpec:
    """What the state of an operator means, and which columns of each input it keeps. `format` is
    the first format of checkpoints whose versions of Tidemark can read it.
    """

    meaning: dict[str, Any]
    rows: tuple[Rows, ...]
    follows_a_clock: bool = False  # windows are those that the clocks of a time zone show
    format: int = 1


def by_name(edge: Edge, but: Iterable[str] = ()) -> Rows:
    """The columns of rows that are kept under their names."""
    hidden = set(but)
    return tuple(KeptColumn(c.name, c.type.text()) for c in edge.columns if c.name not in hidden)


def by_place(edge: Edge, places: Iterable[int]) -> Rows:
    """The columns that are known by the number of their place."""
    return tuple(
        KeptColumn(f"#{place + 1}", edge.columns[place].type.text()) for place in sorted({*places})
    )


def plain(value: Any, column: Callable[[int], Any] | None = None) -> Any:
    """A value of a plan as JSON, by its structure, not its description. `column` returns the value
    that represents the column at a position.
    """
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Enum():
            return plain(value.value)
        case DataType():
            return value.text()
        case Function() | UserFunction():
            return value.name
        case Ref(name=name, index=index):
            return {"column": name, "place": index} if column is None else column(index)
        case tuple() | list():
            return [plain(part, column) for part in value]
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: plain(getattr(value, field.name), column) for field in fields(value)}
        return {"is": type(value).__name__, **parts}
    return str(value)
