"""Windows for the Python API: `Tumble`, `Hop`, `Cumulate`, `Session`, and row-count windows.

>>> from tidemark.windows import Hop, Tumble
>>> Tumble("10 minutes", on="ts").function("TABLE orders")
"TUMBLE(TABLE orders, DESCRIPTOR(`ts`), INTERVAL '600.000' SECOND)"
>>> Hop.rows(100, slide=10).row_counts
(100, 10)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from tidemark.durations import parse_duration
from tidemark.errors import PlanError
from tidemark.types import quote_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Settings of all windows: when results are emitted, and how late rows may be.

    A period of 0 milliseconds means for each row, None means never.
    """

    early_ms: int | None = None
    late_ms: int | None = None
    lateness_ms: int = 0

    def early_fire(self, every: str | None = None) -> Self:
        """Also emit results before the end of the window: periodically, or for each row."""
        return replace(self, early_ms=_milliseconds(every) if every else 0)

    def late_fire(self, every: str | None = None) -> Self:
        """Emit an updated result for late rows, up to `allowed_lateness`."""
        return replace(self, late_ms=_milliseconds(every) if every else 0)

    def allowed_lateness(self, lateness: str) -> Self:
        """Keep the window open for late rows this long after its end. Results are updated for each
        late row unless `late_fire` sets a period."""
        late = self.late_ms if self.late_ms is not None else 0
        return replace(self, lateness_ms=_milliseconds(lateness), late_ms=late)

    @property
    def row_counts(self) -> tuple[int, int] | None:
        """The size and slide of a row-count window; None for time windows."""
        return None

    @property
    def time(self) -> str | None:
        """The time column of a time window."""
        return None

    def function(self, table: str, keys: Sequence[str] = ()) -> str:
        """The window as a table function of Flink SQL; sessions are partitioned by the keys."""
        raise NotImplementedError

    def _function(self, name: str, table: str, on: str, *lengths: str | None) -> str:
        times = [f"INTERVAL '{_seconds(length)}' SECOND" for length in lengths if length]
        return f"{name}({', '.join([table, f'DESCRIPTOR({quote_name(on)})', *times])})"


@dataclass(frozen=True, slots=True)
class Rows(Window):
    """Windows of a number of rows per key, in order of arrival; see `Tumble.rows`, `Hop.rows`."""

    size: int
    slide: int

    def __post_init__(self) -> None:
        if self.size < 1 or self.slide < 1:
            raise PlanError("a row-count window needs at least one row")

    @property
    def row_counts(self) -> tuple[int, int]:
        return self.size, self.slide


@dataclass(frozen=True, slots=True)
class Tumble(Window):
    """Consecutive windows of equal length: `Tumble("10 minutes", on="ts")`."""

    size: str
    on: str
    offset: str | None = None

    @classmethod
    def rows(cls, size: int) -> Rows:
        """A window of every `size` rows of a key."""
        return Rows(size, size)

    @property
    def time(self) -> str:
        return self.on

    def function(self, table: str, keys: Sequence[str] = ()) -> str:
        return self._function("TUMBLE", table, self.on, self.size, self.offset)


@dataclass(frozen=True, slots=True)
class Hop(Window):
    """Windows of `size` that start every `slide`: `Hop("1 hour", "10 minutes", on="ts")`."""

    size: str
    slide: str
    on: str
    offset: str | None = None

    @classmethod
    def rows(cls, size: int, slide: int) -> Rows:
        """The last `size` rows of a key, after every `slide` of them."""
        return Rows(size, slide)

    @property
    def time(self) -> str:
        return self.on

    def function(self, table: str, keys: Sequence[str] = ()) -> str:
        return self._function("HOP", table, self.on, self.slide, self.size, self.offset)


@dataclass(frozen=True, slots=True)
class Cumulate(Window):
    """Windows that start together and grow by `step`, up to `size`:
    `Cumulate("1 day", "1 hour", on="ts")`."""

    size: str
    step: str
    on: str
    offset: str | None = None

    @property
    def time(self) -> str:
        return self.on

    def function(self, table: str, keys: Sequence[str] = ()) -> str:
        return self._function("CUMULATE", table, self.on, self.step, self.size, self.offset)


@dataclass(frozen=True, slots=True)
class Session(Window):
    """Windows that last as long as rows of a key follow each other within `gap`."""

    gap: str
    on: str

    @property
    def gap_ms(self) -> int:
        return _milliseconds(self.gap)

    @property
    def time(self) -> str:
        return self.on

    def function(self, table: str, keys: Sequence[str] = ()) -> str:
        partition = f" PARTITION BY ({', '.join(keys)})" if keys else ""
        return self._function("SESSION", f"{table}{partition}", self.on, self.gap)


def _milliseconds(text: str) -> int:
    try:
        return parse_duration(text)
    except ValueError as problem:
        raise PlanError(f"'{text}' is not a valid duration: {problem}") from None


def _seconds(text: str) -> str:
    """A length, which may be negative for an offset, in seconds for SQL."""
    sign = "-" if text.strip().startswith("-") else ""
    milliseconds = _milliseconds(text.strip().lstrip("-"))
    return f"{sign}{milliseconds // 1000}.{milliseconds % 1000:03d}"
