"""Interval joins for DataFrames: in SQL style, and in the style of Flink's stream API."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tidemark.catalog.options import INTERVAL_LATE_ROWS
from tidemark.durations import parse_duration
from tidemark.errors import PlanError
from tidemark.plan.nodes import How
from tidemark.session.co_groups import CoGrouped, KeyedSide, WindowJoined
from tidemark.session.dataframes import (
    HOWS,
    F,
    SideName,
    delays_of,
    joined_columns,
    late_rows_of,
    through,
    watermark_of,
)
from tidemark.session.frames_of_users import as_given, on_spark, session_of
from tidemark.session.session import Session
from tidemark.types import quote_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


def interval_join(
    left: F,
    right: F,
    *,
    on: str | Sequence[str],
    left_time: str,
    right_time: str,
    between: tuple[str, str],
    how: How = "inner",
    watermarks: Mapping[str, str] | None = None,
) -> F:
    """Pairs of rows with equal keys whose times are within bounds of each other.

    `right_time` must be in [`left_time` + lower, `left_time` + upper], where `between` are the two
    bounds: `("-10 seconds", "1 minute")`. An unmatched row is emitted, if `how` keeps it, when no
    match can arrive any more. `watermarks` is how late rows may arrive, as in `{"left": "5
    seconds"}`. The result streams if an input does. Frames of pandas and Polars, and Arrow tables,
    are joined in this process; the result is like `left`.

    The columns are those of `left`, then those of `right` that are not in `on`; keys of a right or
    full join come from whichever side has them. Semi and anti joins return the columns of `left`.
    """
    if how not in HOWS:
        raise PlanError(f"how='{how}' is not an interval join", hint=f"use one of {HOWS}")
    keys = [on] if isinstance(on, str) else list(on)
    delays = delays_of(watermarks)
    session = session_of(left, right)
    left_mark = watermark_of(left_time, delays.get("left"))
    right_mark = watermark_of(right_time, delays.get("right"))
    session.register("l", left, watermark=left_mark, in_order=False)
    session.register("r", right, watermark=right_mark, in_order=False)
    near = _near(left_time, right_time, *map(_milliseconds, between))
    equal = [f"l.{quote_name(key)} = r.{quote_name(key)}" for key in keys]
    condition = " AND ".join([*equal, near])
    if how in ("semi", "anti"):
        exists = "EXISTS" if how == "semi" else "NOT EXISTS"
        query = f"SELECT * FROM l WHERE {exists} (SELECT 1 FROM r WHERE {condition})"
    else:
        columns = ", ".join(joined_columns(left, right, keys, how))
        query = f"SELECT {columns} FROM l {how.upper()} JOIN r ON {condition}"
    return as_given(session.sql(query), left)


def _milliseconds(bound: str) -> int:
    """A signed duration: `-10 seconds`."""
    text = bound.strip()
    sign = -1 if text.startswith("-") else 1
    try:
        return sign * parse_duration(text.lstrip("+-").strip())
    except ValueError as problem:
        raise PlanError(f"'{bound}' is not a valid bound of an interval join: {problem}") from None


def _near(left_time: str, right_time: str, lower: int, upper: int) -> str:
    left, right = f"l.{quote_name(left_time)}", f"r.{quote_name(right_time)}"
    return f"{right} BETWEEN {left} {_interval(lower)} AND {left} {_interval(upper)}"


def _interval(milliseconds: int) -> str:
    seconds, rest = divmod(abs(milliseconds), 1000)
    sign = "-" if milliseconds < 0 else "+"
    return (
        f"{sign} INTERVAL '{seconds // 86_400} {_clock(seconds % 86_400)}.{rest:03d}' DAY TO SECOND"
    )


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


# --- the stream API ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stream:
    """Rows with an event time. `delay` is how late they may arrive."""

    frame: DataFrame
    time: str
    delay: str | None = None

    def key_by(self, *keys: str) -> KeyedStream:
        """The rows partitioned by these keys."""
        if not keys:
            raise PlanError("key_by needs at least one column", hint='for example: key_by("user")')
        return KeyedStream(self, keys)

    def join(self, other: Stream) -> WindowJoined:
        """Pairs of rows with equal keys in the same window: `.where("user").equal_to("user")
        .window(Tumble("1 minute", on="ts")).select("l.id", "r.id AS other")`."""
        return WindowJoined(self._side(), other._side())

    def co_group(self, other: Stream) -> CoGrouped:
        """The rows of both streams by key and window, for a function, even if one of them has
        none: `.where("user").equal_to("user").window(Session("5 minutes",
        on="ts")).apply(function, schema)`.
        """
        return CoGrouped(self._side(), other._side())

    def _side(self) -> KeyedSide:
        return KeyedSide(self.frame, self.time, self.delay)


def stream(frame: DataFrame, *, time: str, delay: str | None = None) -> Stream:
    """A DataFrame, streaming or not, with `time` as its event-time column."""
    return Stream(frame, time, delay)


@dataclass(frozen=True, slots=True)
class KeyedStream:
    stream: Stream
    keys: tuple[str, ...]

    def interval_join(self, other: KeyedStream) -> IntervalJoined:
        """Pairs of rows with equal keys; `between` sets how far apart they may be."""
        if len(self.keys) != len(other.keys):
            raise PlanError(
                "both sides of an interval join must have the same number of keys",
                notes={"left": ", ".join(self.keys), "right": ", ".join(other.keys)},
            )
        return IntervalJoined(self, other)


@dataclass(frozen=True, slots=True)
class IntervalJoined:
    """The pairs of two keyed streams within time bounds, as in Flink's stream API.

    Inner only. A row that arrives behind the watermark is dropped.
    """

    left: KeyedStream
    right: KeyedStream
    bounds: tuple[int, int] | None = None
    exclusive: tuple[int, int] = (0, 0)

    def between(self, lower: str, upper: str) -> IntervalJoined:
        """The right time must be in [left time + lower, left time + upper]."""
        bounds = _milliseconds(lower), _milliseconds(upper)
        if bounds[0] > bounds[1]:
            raise PlanError(
                "the lower bound of an interval join is greater than the upper bound",
                notes={"between": f"{lower}, {upper}"},
            )
        return replace(self, bounds=bounds)

    def lower_bound_exclusive(self) -> IntervalJoined:
        """Exclude pairs that are exactly the lower bound apart."""
        return replace(self, exclusive=(1, self.exclusive[1]))

    def upper_bound_exclusive(self) -> IntervalJoined:
        """Exclude pairs that are exactly the upper bound apart."""
        return replace(self, exclusive=(self.exclusive[0], 1))

    def select(self, *expressions: str) -> DataFrame:
        """The pairs as columns: SQL expressions over the rows `l` and `r`.

        >>> pairs.select("l.id", "r.url AS clicked", "r.ts - l.ts AS took")  # doctest: +SKIP
        """
        session = self._session()
        return session.sql(f"SELECT {', '.join(expressions)} {self._from()}").to_dataframe()

    def process(
        self, function: Callable[[Any], Any], schema: StructType | str, *expressions: str
    ) -> DataFrame:
        """The rows that a function returns for the pairs: it gets a pandas frame with the
        columns in `expressions`, as in `select`, and returns one with the columns of
        `schema`.
        """
        pairs = self.select(*(expressions or ("l.*", "r.*")))
        return through(function, pairs, schema)

    def late_rows(self, side: SideName) -> DataFrame:
        """The rows of the left or the right side that arrive behind the watermark and are
        dropped. Added to the columns of the side are `late_operator`, `late_time`,
        `late_watermark`, and `late_by`, the number of milliseconds by which the row was late.
        """
        session = self._session()
        plan = session.workspace.plan_script(f"SELECT l.*, r.* {self._from()}")[-1].plan
        assert plan is not None
        return late_rows_of(session, side, plan.roots[0])

    def _session(self) -> Session:
        session = on_spark(self.left.stream.frame)
        session.workspace.options.set(INTERVAL_LATE_ROWS, "drop")
        for name, side in (("l", self.left), ("r", self.right)):
            rows = side.stream
            session.register(name, rows.frame, watermark=watermark_of(rows.time, rows.delay))
        return session

    def _from(self) -> str:
        if self.bounds is None:
            raise PlanError(
                "an interval join needs bounds",
                hint='call between("-10 seconds", "10 seconds") before select or process',
            )
        lower, upper = self.bounds[0] + self.exclusive[0], self.bounds[1] - self.exclusive[1]
        pairs = zip(self.left.keys, self.right.keys, strict=True)
        equal = [f"l.{quote_name(mine)} = r.{quote_name(theirs)}" for mine, theirs in pairs]
        near = _near(self.left.stream.time, self.right.stream.time, lower, upper)
        return f"FROM l JOIN r ON {' AND '.join([*equal, near])}"
