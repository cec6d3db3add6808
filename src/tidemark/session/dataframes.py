"""Temporal joins and windows for DataFrames, with the same plans as the SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from tidemark.durations import parse_duration
from tidemark.errors import PlanError, did_you_mean
from tidemark.plan.late_rows import bind_late_rows
from tidemark.plan.nodes import How, Node
from tidemark.session.frames_of_users import as_given, columns_of, session_of
from tidemark.session.session import Session
from tidemark.types import quote_name
from tidemark.windows import Window

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

# A DataFrame of Spark, pandas or Polars, or an Arrow table.
F = TypeVar("F")


def temporal_join(
    left: F,
    right: F,
    *,
    on: str | Sequence[str],
    left_time: str,
    right_time: str,
    how: Literal["inner", "left"] = "inner",
    watermarks: Mapping[str, str] | None = None,
    right_kind: str | None = None,
) -> F:
    """Each row of `left` with the version of `right` that was valid at its time.

    `right` contains versions: the valid one for each key in `on` is the row with the greatest
    `right_time` that is not after `left_time`. The result streams if an input does, and a row is
    then emitted as soon as the watermark guarantees that its version cannot change. `watermarks` is
    how late rows may arrive, as in `{"left": "5 seconds", "right": "1 minute"}`; `right_kind` names
    a column of row kinds (`+I`, `-U`, `+U`, `-D`) if `right` is a changelog. Frames of pandas and
    Polars, and Arrow tables, are joined in this process; the result is like `left`.

    The columns are those of `left`, then those of `right` that are not in `on`.
    """
    keys = [on] if isinstance(on, str) else list(on)
    delays = delays_of(watermarks)
    if how not in ("inner", "left"):
        raise PlanError(f"how='{how}' is not a temporal join", hint="use 'inner' or 'left'")
    session = session_of(left, right)
    left_mark = watermark_of(left_time, delays.get("left"))
    session.register("l", left, watermark=left_mark, in_order=False)
    session.register(
        "r",
        right,
        watermark=watermark_of(right_time, delays.get("right")),
        primary_key=keys,
        row_kind=right_kind,
        in_order=False,
    )
    return as_given(session.sql(_query(left, right, keys, left_time, how, right_kind)), left)


def window_aggregate(
    frame: F,
    window: Window,
    *,
    select: Sequence[str],
    group_by: str | Sequence[str] = (),
    watermark: str | None = None,
    row_kind: str | None = None,
) -> F:
    """Aggregates of the rows of each key and window, with the same plan as the SQL.

    `select` contains SQL expressions over the columns of `group_by`, over aggregates such as
    `COUNT(*) AS n`, and over `window_start`, `window_end` and `window_time`. `watermark` is how
    late rows may arrive, as in `"5 seconds"`; `row_kind` names a column of row kinds if the frame
    is a changelog. A window with early or late results produces a changelog, with the kinds in
    `row_kind`. A frame of pandas or Polars, or an Arrow table, is aggregated in this process; the
    result is like it, with the last result of each window.
    """
    keys = [group_by] if isinstance(group_by, str) else list(group_by)
    session = session_of(frame)
    time = None if window.time is None else watermark_of(window.time, watermark)
    session.register("r", frame, watermark=time, row_kind=row_kind, in_order=False)
    grouped = session.table("r").window(window).group_by(*keys).select(*select)
    return as_given(grouped, frame)


HOWS: tuple[How, ...] = ("inner", "left", "right", "full", "semi", "anti")


def joined_columns(left: Any, right: Any, keys: Sequence[str], how: How) -> Iterator[str]:
    """The select list of a join of `l` and `r`: the columns of the left side, then those of the
    right one that are not keys; keys come from whichever side has them.
    """
    taken = set(columns_of(left))
    for name in columns_of(left):
        quoted = quote_name(name)
        either = f"COALESCE(l.{quoted}, r.{quoted}) AS {quoted}"
        yield either if name in keys and how in ("right", "full") else f"l.{quoted}"
    for name in columns_of(right) if how not in ("semi", "anti") else ():
        if name not in keys:
            alias = name if name not in taken else f"{name}_right"
            yield f"r.{quote_name(name)} AS {quote_name(alias)}"


def delays_of(watermarks: Mapping[str, str] | None) -> dict[str, str]:
    """How late rows of each side may arrive, if given."""
    delays = dict(watermarks or {})
    for side in delays:
        if side not in ("left", "right"):
            raise PlanError(
                f"unknown side `{side}` in `watermarks`", hint=did_you_mean(side, ("left", "right"))
            )
    return delays


def through(function: Callable[[Any], Any], rows: DataFrame, schema: StructType | str) -> DataFrame:
    """The rows that a function from pandas frames to pandas frames returns."""

    def each(frames: Iterator[Any]) -> Iterator[Any]:
        for frame in frames:
            yield function(frame)

    return rows.mapInPandas(each, schema)


SideName = Literal["left", "right"]


def late_rows_of(session: Session, side: SideName, join: Node) -> DataFrame:
    """The rows of one side that a join of the tables `l` and `r` drops."""
    names = {"left": "l", "right": "r"}
    if side not in names:
        raise PlanError(f"unknown side '{side}' of a join", hint="use 'left' or 'right'")
    plan = session.workspace.plan_script(f"SELECT * FROM {names[side]}")[-1].plan
    assert plan is not None
    return session.dataframe(bind_late_rows(plan.roots[0], side, None, (join,)))


def watermark_of(time: str, delay: str | None) -> str:
    """The watermark expression for rows that may arrive this late."""
    if delay is None:
        return quote_name(time)
    milliseconds = parse_duration(delay)
    seconds = f"{milliseconds // 1000}.{milliseconds % 1000:03d}"
    return f"{quote_name(time)} - INTERVAL '{seconds}' SECOND"


def _query(
    left: Any,
    right: Any,
    keys: Sequence[str],
    left_time: str,
    how: str,
    right_kind: str | None,
) -> str:
    taken = set(columns_of(left))
    columns = [f"l.{quote_name(name)}" for name in columns_of(left)]
    for name in columns_of(right):
        if name not in keys and name != right_kind:
            alias = name if name not in taken else f"{name}_right"
            columns.append(f"r.{quote_name(name)} AS {quote_name(alias)}")
    condition = " AND ".join(f"l.{quote_name(k)} = r.{quote_name(k)}" for k in keys)
    return (
        f"SELECT {', '.join(columns)} FROM l {how.upper()} JOIN r "
        f"FOR SYSTEM_TIME AS OF l.{quote_name(left_time)} AS r ON {condition}"
    )
