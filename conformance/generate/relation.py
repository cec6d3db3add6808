"""What the generator knows about a table, a view or a query that it has written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from random import Random
from typing import Literal, TypeVar

from conformance.generate.clocks import Clock

T = TypeVar("T")

# Enough about a column's type to write expressions over it and to find columns for a UNION.
Kind = Literal[
    "int", "decimal", "double", "string", "bool", "time", "instant", "date", "array", "row",
    "multiset", "json",
]  # fmt: skip
# Kinds whose values can be compared, grouped and sorted.
PLAIN: tuple[Kind, ...] = (
    "int", "decimal", "double", "string", "bool", "time", "instant", "date"
)  # fmt: skip


@dataclass(frozen=True)
class Column:
    name: str
    kind: Kind


@dataclass(frozen=True)
class Relation:
    """`sql` is what follows FROM: a name, or a query in parentheses."""

    sql: str
    columns: tuple[Column, ...]
    # The column with the event time, if windows and joins by time may use one.
    time: str | None = None
    # Whether rows are only inserted.
    appends: bool = True
    # Columns that no two different rows have in common.
    unique: tuple[str, ...] = ()
    # Whether the order of rows is that of one file.
    in_order: bool = False
    # The window function whose bounds are the columns window_start and window_end.
    window: str | None = None
    # The primary key of a versioned table.
    version_key: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def of(self, *kinds: Kind) -> list[Column]:
        return [column for column in self.columns if column.kind in kinds]

    def without(self, names: Iterable[str]) -> Relation:
        dropped = set(names)
        return replace(self, columns=tuple(c for c in self.columns if c.name not in dropped))


class Draw:
    """Random choices of one script, names that are new in it, and the views it has made."""

    def __init__(self, seed: str) -> None:
        self.random = Random(seed)
        self.clock = Clock()
        self.views: list[str] = []
        self.tables: list[Relation] = []
        self._names = 0

    def name(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def one(self, choices: Iterable[T]) -> T:
        return self.random.choice(list(choices))

    def some(self, choices: Iterable[T], least: int, most: int) -> list[T]:
        """Different ones of the choices, in their order."""
        given = list(choices)
        count = min(self.random.randint(least, most), len(given))
        chosen = sorted(self.random.sample(range(len(given)), count))
        return [given[position] for position in chosen]

    def table_name(self, relation: Relation) -> str:
        """The name of a relation, of a new view if need be: some clauses take names only."""
        if not relation.sql.startswith("("):
            return relation.sql
        view = self.name("view")
        self.views.append(f"CREATE VIEW {view} AS {relation.sql[1:-1]}")
        return view

    def named(self, relation: Relation, query: str, views: float = 0.2) -> Relation:
        """The result of a query, sometimes as a view."""
        if self.chance(views):
            view = self.name("view")
            self.views.append(f"CREATE VIEW {view} AS {query}")
            return replace(relation, sql=view)
        return replace(relation, sql=f"({query})")


def aliased(relation: Relation, alias: str) -> str:
    return f"{relation.sql} AS {alias}"
