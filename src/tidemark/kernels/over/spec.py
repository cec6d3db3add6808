"""What OVER computes: functions, each over a frame of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tidemark.kernels.windows.spec import AggregateSpec

# Checkpoints are checked against hashes of plans, which contain frames by class and field name: do
# not rename those of `OverFrame`, or no job resumes.


@dataclass(frozen=True, slots=True)
class OverFrame:
    """The rows around a row that count for it, itself included.

    `start` and `end` are how far the frame reaches after the row, so what precedes is negative;
    None is unbounded. With `by_rows` they count rows. Otherwise they are differences of the value
    that rows are ordered by (of a time, in milliseconds), and rows with the same value are
    in the same frames.
    """

    start: float | None = None
    end: float | None = 0
    by_rows: bool = False

    @property
    def grows(self) -> bool:
        """Whether it starts with the first row of the partition and ends with the current one."""
        return self.start is None and self.end == 0

    @property
    def looks_ahead(self) -> bool:
        """Whether rows after the current one and its peers are in it."""
        return self.end is None or self.end > 0

    def scaled(self, unit: int) -> OverFrame:
        """The frame over values of which so many are one."""
        if self.by_rows or unit == 1:
            return self
        start = None if self.start is None else self.start * unit
        return OverFrame(start, None if self.end is None else self.end * unit)


# Functions that go by the place in the partition, not by a frame.
PLACES: Final = frozenset({"PERCENT_RANK", "CUME_DIST", "NTILE"})
SHIFTS: Final = frozenset({"LAG", "LEAD"})
RANKS: Final = frozenset({"ROW_NUMBER", "RANK", "DENSE_RANK"})


@dataclass(frozen=True, slots=True)
class OverCall:
    """A function over a frame.

    LAG and LEAD have the value and possibly its default as arguments and look `distance` rows
    away; NTILE makes `distance` groups.
    """

    call: AggregateSpec
    frame: OverFrame = OverFrame()
    distance: int = 1

    @property
    def function(self) -> str:
        return self.call.function

    @property
    def output(self) -> str:
        return self.call.output

    @property
    def is_aggregate(self) -> bool:
        return self.function not in PLACES | SHIFTS | RANKS

    @property
    def grows(self) -> bool:
        """Whether its result is one of all rows of the partition so far."""
        return self.function in RANKS or (self.is_aggregate and self.frame.grows)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        only = self.call.filter
        return self.call.arguments if only is None else (*self.call.arguments, only)
