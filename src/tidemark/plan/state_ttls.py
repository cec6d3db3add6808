"""`/*+ STATE_TTL('a' = '1 d') */`: how long the state of a table's rows is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from tidemark.durations import parse_duration
from tidemark.plan.scope import Path, Scope

STATE_TTL = "STATE_TTL"


@dataclass(frozen=True, slots=True)
class StateTtls:
    """What the STATE_TTL hints of a SELECT say about tables, in milliseconds, by their names.

    As in Flink, an operator looks for the table that it reads itself: the sides of a regular join
    that are tables, and GROUP BY and DISTINCT over one table. A join has no name.
    """

    by_name: Mapping[str, int] = field(default_factory=dict)
    applied: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, hints: Iterable[exp.Expression]) -> StateTtls:
        """The last value of a table in a hint counts, and the first hint (same in Flink)."""
        found: dict[str, int] = {}
        for hint in hints:
            if hint.name == STATE_TTL:
                given = {o.name: parse_duration(o.args["value"]) for o in hint.expressions}
                found = {**given, **found}
        return cls(found)

    def of_table(self, scope: Scope) -> int | None:
        """For the columns of one table, what a hint says about it."""
        tables = {visible.table for visible in scope.visible if visible.by != "no name"}
        if len(tables) != 1:
            return None
        [path] = tables
        for name, ttl in self.by_name.items():
            if _names(name, path):
                self.applied.add(name)
                return ttl
        return None

    @property
    def without_effect(self) -> list[str]:
        return [name for name in self.by_name if name not in self.applied]


# Nothing is applied of it.
NO_STATE_TTLS = StateTtls()


def _names(name: str, path: Path) -> bool:
    """Whether a name in a hint, with as many dots as its writer likes, is this table's."""
    written = name.split(".")
    return bool(path) and tuple(written) == path[-len(written) :]
