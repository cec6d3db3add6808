"""Aggregates of values that are kept apart from the accumulators, each as a row of state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tidemark.kernels.aggregates.accumulators import Summary
from tidemark.kernels.windows.spec import SUMS, AggregateSpec


@dataclass(frozen=True, slots=True)
class ValueArguments:
    """Arguments whose distinct values are counted, and the filters of the calls that do."""

    names: tuple[str, ...]
    filters: tuple[str | None, ...]

    @property
    def table(self) -> str:
        """The table of the values in state."""
        return f"values({','.join(self.names)})"

    @property
    def changes(self) -> list[str]:
        """The columns of changes, one per filter."""
        return [change_name(self.names, where) for where in self.filters]

    @classmethod
    def of(cls, calls: Iterable[AggregateSpec]) -> tuple[ValueArguments, ...]:
        """All arguments of some calls, each with all its filters."""
        found: dict[tuple[str, ...], dict[str | None, None]] = {}
        for call in calls:
            found.setdefault(call.arguments, {})[call.filter] = None
        return tuple(cls(names, tuple(filters)) for names, filters in found.items())


@dataclass(frozen=True, slots=True)
class Extreme:
    """The LEAST or GREATEST value of an argument, and its accumulator per filter."""

    what: Summary
    arguments: ValueArguments
    columns: tuple[str, ...]

    @property
    def table(self) -> str:
        """The table of the values in state, in order."""
        return f"{self.what.value}({','.join(self.arguments.names)})"


def is_sum(call: AggregateSpec) -> bool:
    """Whether only sums over its distinct values are needed."""
    return call.distinct and call.implementation is None and call.function in SUMS


def change_name(arguments: tuple[str, ...], where: str | None) -> str:
    """The column (Int64) that says whether a row adds a distinct value (1), removes one (-1), or
    neither (0).
    """
    return f"_tm_change({','.join(arguments)})" + ("" if where is None else f"?{where}")
