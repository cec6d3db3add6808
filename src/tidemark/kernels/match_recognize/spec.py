"""The specification of a pattern: its variables, their conditions, and what a match returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    import polars as pl

    from tidemark.kernels.windows.spec import AggregateSpec

# Variables are known by their place in the pattern, and subsets of them by the numbers after those;
# this one stands for all rows of the match.
ALL_ROWS: Final = -1


@dataclass(frozen=True, slots=True)
class Pick:
    """The column of one row of a variable: the `offset`-th row from its first or its last one, or
    the row that comes `back` rows before that one among all rows of the key; after it, if that is
    negative.
    """

    column: str
    variable: int
    first: bool = False
    offset: int = 0
    back: int = 0


@dataclass(frozen=True, slots=True)
class Classifier:
    """The name of the variable of such a row."""

    names: tuple[str, ...]
    variable: int
    first: bool = False
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Total:
    """An aggregate over the rows of a variable."""

    call: AggregateSpec
    variable: int


@dataclass(frozen=True, slots=True)
class EmittedAt:
    """The time at which a match is emitted, in milliseconds."""


@dataclass(frozen=True, slots=True)
class MatchTime:
    """The time at which a match is emitted, as a timestamp. It is the time of its last row, unless
    an earlier attempt had to fail first.
    """

    zone: str | None = None


@dataclass(frozen=True, slots=True)
class MatchNumber:
    """The number of the match among those of its key."""


@dataclass(frozen=True, slots=True)
class OwnColumn:
    """A column of the row that is emitted, whether it is of a match or not; of the first row if the
    match is empty.
    """

    column: str


@dataclass(frozen=True, slots=True)
class IsMatched:
    """Whether a match is emitted, an empty one too, and not an unmatched row."""


RunningValue = Pick | Classifier | Total


@dataclass(frozen=True, slots=True)
class OfMatch:
    """A value over the whole match, where all its rows are emitted: other values are those over
    the rows up to the one that is emitted.
    """

    value: RunningValue


Value = RunningValue | OfMatch | EmittedAt | MatchTime | MatchNumber | OwnColumn | IsMatched


@dataclass(frozen=True, slots=True)
class RowCondition:
    """A condition over the row itself, which a BOOLEAN column has computed."""

    column: str


@dataclass(frozen=True, slots=True)
class MatchCondition:
    """A condition over the rows of the match so far: `holds` takes a frame with a column for each
    of the `values`, named `v0`, `v1`, ..., and returns a BOOLEAN for each of its rows.
    """

    values: tuple[RunningValue, ...]
    holds: Callable[[pl.DataFrame], pl.Series]


Condition = RowCondition | MatchCondition


@dataclass(frozen=True, slots=True)
class Variable:
    """A part of the pattern: `least` to `most` adjacent rows (None: any number) for which the
    condition is true; without one, any row will do.
    """

    name: str
    condition: Condition | None = None
    least: int = 1
    most: int | None = 1
    greedy: bool = True


@dataclass(frozen=True, slots=True)
class VariableSubset:
    """A name for the rows of several variables."""

    name: str
    variables: tuple[int, ...]


# --- patterns with alternatives and groups: a tree of the classes below ---------------------------


@dataclass(frozen=True, slots=True)
class One:
    """A row of a variable. Rows that are `excluded` are not among the rows of a match."""

    variable: int
    excluded: bool = False


@dataclass(frozen=True, slots=True)
class FirstOfKey:
    """No row; what follows begins with the first row of the key."""


@dataclass(frozen=True, slots=True)
class LastOfKey:
    """No row; what comes before ends with the last row of the key."""


@dataclass(frozen=True, slots=True)
class PartsInOrder:
    """One part after the other."""

    parts: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """One of the parts; the first that matches is preferred."""

    parts: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class RepeatedPart:
    """A part, `least` to `most` times (None: any number). The most times are preferred if it is
    greedy, otherwise the least.
    """

    part: Shape
    least: int
    most: int | None
    greedy: bool = True


Shape = One | FirstOfKey | LastOfKey | PartsInOrder | Alternatives | RepeatedPart


# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Skip:
    """Where the search continues after a match: after its first or its last row, or at the first
    or last row of a variable.
    """

    to: Literal["next row", "past last row", "first", "last"]
    variable: int | None = None


def value_name(place: int) -> str:
    """The name of the column of a value."""
    return f"v{place}"
