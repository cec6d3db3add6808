"""Window joins for Spark DataFrames: in SQL style, and in the style of Flink's stream API."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from tidemark.errors import PlanError
from tidemark.plan.joins.co_groups import GroupFunction, bind_co_group
from tidemark.plan.nodes import Column, How, Node
from tidemark.session.dataframes import (
    HOWS,
    SideName,
    delays_of,
    joined_columns,
    late_rows_of,
    through,
    watermark_of,
)
from tidemark.session.frames_of_users import on_spark
from tidemark.session.session import Session as Connection
from tidemark.session.unsupported import EARLY_AND_LATE_RESULTS, OUTER_SESSIONS
from tidemark.types import quote_name
from tidemark.windows import Cumulate, Hop, Session, Tumble, Window

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


@dataclass(frozen=True, slots=True)
class KeyedSide:
    """Rows with an event time. `delay` is how late they may arrive."""

    frame: DataFrame
    time: str
    delay: str | None = None


@dataclass(frozen=True, slots=True)
class _Windowed:
    """Two sides, the keys by which their rows match, and their windows."""

    left: KeyedSide
    right: KeyedSide
    left_keys: tuple[str, ...] = ()
    right_keys: tuple[str, ...] = ()
    by: Window | None = None

    def where(self, *keys: str) -> Self:
        """The key columns of the left side."""
        return replace(self, left_keys=keys)

    def equal_to(self, *keys: str) -> Self:
        """The key columns of the right side, in the same order as those of the left side."""
        return replace(self, right_keys=keys)

    def window(self, window: Window) -> Self:
        """The windows: `Tumble`, `Hop`, `Cumulate` or `Session`. Each side is assigned to them
        by its own time; sessions are built from the rows of both sides together.
        """
        return replace(self, by=window)

    def late_rows(self, side: SideName) -> DataFrame:
        """The rows of the left or the right side that arrive after their windows are closed, and
        are dropped. Added to the columns of the side are `late_operator`, `late_time`,
        `late_watermark`, and `late_by`, the number of milliseconds by which the row was late.
        """
        session = self._session()
        return late_rows_of(session, side, self._group(session))

    def _session(self) -> Connection:
        return on_spark(self.left.frame)

    def _group(
        self,
        session: Connection,
        function: GroupFunction | None = None,
        columns: Sequence[Column] = (),
    ) -> Node:
        window = self.by
        if not isinstance(window, Tumble | Hop | Cumulate | Session):
            raise PlanError(
                "joins of two streams need time windows",
                hint="call .window(Tumble('10 minutes', on='ts')) before select or apply",
            )
        if window.early_ms is not None or window.late_ms is not None or window.lateness_ms:
            raise EARLY_AND_LATE_RESULTS.error(None)
        nodes = [_node(session, name, side, window) for name, side in self._sides()]
        gap_ms = window.gap_ms if isinstance(window, Session) else None
        keys = self.left_keys, self.right_keys
        return bind_co_group(
            nodes[0], nodes[1], keys, gap_ms=gap_ms, function=function, columns=columns
        )

    def _sides(self) -> tuple[tuple[str, KeyedSide], tuple[str, KeyedSide]]:
        return ("l", self.left), ("r", self.right)


def _node(
    session: Connection, name: str, side: KeyedSide, window: Tumble | Hop | Cumulate | Session
) -> Node:
    """The rows of a side with their windows; sessions are found later, from both sides together."""
    session.register(name, side.frame, watermark=watermark_of(side.time, side.delay))
    source = name
    if not isinstance(window, Session):
        source = f"TABLE({replace(window, on=side.time).function(f'TABLE {name}')})"
    plan = session.workspace.plan_script(f"SELECT * FROM {source}")[-1].plan
    assert plan is not None
    return plan.roots[0]


class CoGrouped(_Windowed):
    """The rows of both sides by key and window, for a function."""

    __slots__ = ()

    def apply(self, function: GroupFunction, schema: StructType | str) -> DataFrame:
        """The rows that the function returns for each key and window.

        It is called with a dict of the key, `window_start` and `window_end`, and the rows of both
        sides in order of arrival as pandas frames, one of which may be empty. It returns a frame
        with the columns of `schema` and any number of rows, or None. NULLs are keys like any other.
        """
        session = self._session()
        return session.dataframe(self._group(session, function, _columns_of(schema)))


class WindowJoined(_Windowed):
    """The pairs of rows with equal keys in the same window."""

    __slots__ = ()

    def select(self, *expressions: str) -> DataFrame:
        """The pairs as columns: SQL expressions over the rows `l` and `r`, and over `window_start`
        and `window_end`.

        >>> pairs.select("l.id", "r.url AS clicked", "window_end")  # doctest: +SKIP
        """
        session = self._session()
        session.register("pairs", session.dataframe(self._group(session)))
        return session.sql(f"SELECT {', '.join(expressions)} FROM pairs").to_dataframe()

    def apply(
        self, function: Callable[[Any], Any], schema: StructType | str, *expressions: str
    ) -> DataFrame:
        """The rows that a function returns for the pairs: it gets a pandas frame with the
        columns in `expressions`, as in `select`, and returns one with the columns of
        `schema`.
        """
        pairs = self.select(*(expressions or ("l.*", "r.*")))
        return through(function, pairs, schema)


def _columns_of(schema: StructType | str) -> tuple[Column, ...]:
    from pyspark.sql.types import StructType

    from tidemark.spark.types import from_spark

    struct = StructType.fromDDL(schema) if isinstance(schema, str) else schema
    return tuple(Column(field.name, from_spark(field.dataType)) for field in struct.fields)


# --- in the words of DataFrames ------------------------------------------------------------------


def co_group(
    left: DataFrame,
    right: DataFrame,
    function: GroupFunction,
    *,
    on: str | Sequence[str],
    window: Window,
    schema: StructType | str,
    right_time: str | None = None,
    watermarks: Mapping[str, str] | None = None,
) -> DataFrame:
    """The rows that a function returns for the rows of both sides with one key in one window.

    The window's `on` is the time of the left side, and of the right one unless `right_time` is
    given; sessions are built from the rows of both sides together. The function is called when the
    watermark closes the window, as in `CoGrouped.apply`. `watermarks` is how late rows may arrive,
    as in `{"left": "5 seconds"}`. The result streams if an input does.
    """
    keys = (on,) if isinstance(on, str) else tuple(on)
    sides = _both(left, right, window, right_time, watermarks)
    return CoGrouped(*sides, keys, keys, window).apply(function, schema)


def window_join(
    left: DataFrame,
    right: DataFrame,
    *,
    on: str | Sequence[str],
    window: Window,
    how: How = "inner",
    right_time: str | None = None,
    watermarks: Mapping[str, str] | None = None,
) -> DataFrame:
    """The rows of both sides with equal keys in the same window, when the watermark closes it.

    The window's `on` is the time of the left side, and of the right one unless `right_time` is
    given. `watermarks` is how late rows may arrive, as in `{"left": "5 seconds"}`. The result
    streams if an input does.

    The columns are those of `left`, those of `right` that are not in `on`, then `window_start` and
    `window_end`; keys and windows of a right or full join come from whichever side has them. Semi
    and anti joins return the columns of `left` and the window. Sessions are built from the rows of
    both sides together, and only support `inner` joins.
    """
    if how not in HOWS:
        raise PlanError(f"how='{how}' is not a window join", hint=f"use one of {HOWS}")
    keys = (on,) if isinstance(on, str) else tuple(on)
    sides = _both(left, right, window, right_time, watermarks)
    joined = WindowJoined(*sides, keys, keys, window)
    if isinstance(window, Session):
        if how != "inner":
            raise OUTER_SESSIONS.error(None, how)
        return joined.select(*joined_columns(left, right, keys, how), "window_start", "window_end")
    return _by_sql(joined, window, how)


def _both(
    left: DataFrame,
    right: DataFrame,
    window: Window,
    right_time: str | None,
    watermarks: Mapping[str, str] | None,
) -> tuple[KeyedSide, KeyedSide]:
    if window.time is None:
        raise PlanError("joins of two streams need time windows, not row-count windows")
    delays = delays_of(watermarks)
    return (
        KeyedSide(left, window.time, delays.get("left")),
        KeyedSide(right, right_time or window.time, delays.get("right")),
    )


def _by_sql(joined: WindowJoined, window: Window, how: How) -> DataFrame:
    """Windows that rows are assigned to individually are those of the table functions."""
    session = joined._session()
    sources = []
    for name, side in joined._sides():
        session.register(name, side.frame, watermark=watermark_of(side.time, side.delay))
        assert isinstance(window, Tumble | Hop | Cumulate)
        of_side = replace(window, on=side.time)
        sources.append(f"TABLE({of_side.function(f'TABLE {name}')})")
    equal = [f"l.{quote_name(key)} = r.{quote_name(key)}" for key in joined.left_keys]
    same = [f"l.{bound} = r.{bound}" for bound in ("window_start", "window_end")]
    condition = " AND ".join([*equal, *same])
    frames = joined.left.frame, joined.right.frame
    columns = [*joined_columns(*frames, joined.left_keys, how), *_bounds(how)]
    query = f"SELECT {', '.join(columns)} FROM {sources[0]} AS l "
    if how in ("semi", "anti"):
        exists = "EXISTS" if how == "semi" else "NOT EXISTS"
        query += f"WHERE {exists} (SELECT 1 FROM {sources[1]} AS r WHERE {condition})"
    else:
        query += f"{how.upper()} JOIN {sources[1]} AS r ON {condition}"
    return session.sql(query).to_dataframe()


def _bounds(how: How) -> Iterator[str]:
    for bound in ("window_start", "window_end"):
        either = f"COALESCE(l.{bound}, r.{bound}) AS {bound}"
        yield either if how in ("right", "full") else f"l.{bound}"
