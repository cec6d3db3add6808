"""Calls of aggregate functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tidemark.catalog.tables import Changelog, UserFunction
from tidemark.kernels.windows.spec import SUMS
from tidemark.plan.nodes.state import plain
from tidemark.types import DataType

# In contracts, what a version keeps for a function, if an earlier one has kept something else.
KEPT_AS: Final = "kept as"
_SPREADS: Final = ("VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP")


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate function over columns of its node's input; COUNT without one counts rows.
    `user` is the function if it is user-defined.
    """

    function: str
    arguments: tuple[int, ...]
    type: DataType
    distinct: bool = False
    filter: int | None = None
    separator: str | None = None
    user: UserFunction | None = None
    percentages: tuple[float, ...] = ()  # of PERCENTILE

    @property
    def used(self) -> tuple[int, ...]:
        """The columns that it reads."""
        return self.arguments if self.filter is None else (*self.arguments, self.filter)

    def moved(self, place: Callable[[int], int]) -> AggregateCall:
        """The call over an input whose columns have other places."""
        only = None if self.filter is None else place(self.filter)
        return replace(self, arguments=tuple(map(place, self.arguments)), filter=only)

    def meaning(self, origin: Callable[[int], Any]) -> dict[str, Any]:
        """The call as plain values; `origin` says what a column is."""
        only = None if self.filter is None else origin(self.filter)
        own = plain(self)
        if not self.percentages:
            del own["percentages"]  # contracts of other functions were written without them
        if self.function in _SPREADS:
            own[KEPT_AS] = "moments about a point"  # earlier versions kept sums of squares
        return {**own, "arguments": [*map(origin, self.arguments)], "filter": only}

    @staticmethod
    def format_of(calls: Iterable[AggregateCall], changelog: Changelog) -> int:
        """The format of checkpoints with results that are updated: since format 3, the values of
        some calls are in tables of their own.
        """
        retracts = changelog is not Changelog.APPEND
        return 3 if any(call.keeps_values(retracts) for call in calls) else 1

    def keeps_values(self, retracts: bool) -> bool:
        """Whether all values are kept that the result depends on, counted: distinct ones, or those
        of which it is an extreme, if rows can be retracted.
        """
        if self.user is not None:
            return False
        if self.distinct and self.function in SUMS:
            return True
        return retracts and self.function in ("MIN", "MAX")

    def words(self, names: Sequence[str]) -> str:
        """The call in readable form.

        >>> from tidemark.types import BigInt
        >>> AggregateCall("COUNT", (0,), BigInt(), distinct=True, filter=1).words(["a", "b"])
        'COUNT(DISTINCT a) FILTER (WHERE b)'
        """
        arguments = ", ".join(names[place] for place in self.arguments) or "*"
        if self.percentages:
            arguments += "".join(f", {one:g}" for one in self.percentages)
        if self.separator is not None:
            arguments += ", '" + self.separator.replace("'", "''") + "'"
        distinct = "DISTINCT " if self.distinct else ""
        kept = "" if self.filter is None else f" FILTER (WHERE {names[self.filter]})"
        return f"{self.function}({distinct}{arguments}){kept}"
