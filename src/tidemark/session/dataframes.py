"""Flink's temporal join for Spark DataFrames, by the same plan as the SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from tidemark.durations import parse_duration
from tidemark.errors import PlanError, did_you_mean
from tidemark.session.session import connect
from tidemark.types import quote_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def temporal_join(
    left: DataFrame,
    right: DataFrame,
    *,
    on: str | Sequence[str],
    left_time: str,
    right_time: str,
    how: Literal["inner", "left"] = "inner",
    watermarks: Mapping[str, str] | None = None,
    right_kind: str | None = None,
) -> DataFrame:
    """Each row of `left` with the version of `right` that was valid at its time.

    `right` holds versions: of each key in `on` the row with the greatest `right_time` that is not
    after `left_time`. The result streams if an input does, and then has a row as soon as the
    watermark says that its version cannot change. `watermarks` says how late rows may come, as
    in `{"left": "5 seconds", "right": "1 minute"}`; `right_kind` names a column of row kinds
    (`+I`, `-U`, `+U`, `-D`) if `right` is a changelog.

    The columns are those of `left`, then those of `right` that are not in `on`.
    """
    keys = [on] if isinstance(on, str) else list(on)
    delays = dict(watermarks or {})
    for side in delays:
        if side not in ("left", "right"):
            raise PlanError(
                f"unknown side `{side}` of `watermarks`", hint=did_you_mean(side, ("left", "right"))
            )
    if how not in ("inner", "left"):
        raise PlanError(f"how='{how}' is not a temporal join", hint="use 'inner' or 'left'")
    session = connect(left.sparkSession)
    session.register("l", left, watermark=_watermark(left_time, delays.get("left")))
    session.register(
        "r",
        right,
        watermark=_watermark(right_time, delays.get("right")),
        primary_key=keys,
        row_kind=right_kind,
    )
    return session.sql(_query(left, right, keys, left_time, how, right_kind)).to_dataframe()


def _watermark(time: str, delay: str | None) -> str:
    if delay is None:
        return quote_name(time)
    milliseconds = parse_duration(delay)
    seconds = f"{milliseconds // 1000}.{milliseconds % 1000:03d}"
    return f"{quote_name(time)} - INTERVAL '{seconds}' SECOND"


def _query(
    left: DataFrame,
    right: DataFrame,
    keys: Sequence[str],
    left_time: str,
    how: str,
    right_kind: str | None,
) -> str:
    taken = set(left.columns)
    columns = [f"l.{quote_name(name)}" for name in left.columns]
    for name in right.columns:
        if name not in keys and name != right_kind:
            alias = name if name not in taken else f"{name}_right"
            columns.append(f"r.{quote_name(name)} AS {quote_name(alias)}")
    condition = " AND ".join(f"l.{quote_name(k)} = r.{quote_name(k)}" for k in keys)
    return (
        f"SELECT {', '.join(columns)} FROM l {how.upper()} JOIN r "
        f"FOR SYSTEM_TIME AS OF l.{quote_name(left_time)} AS r ON {condition}"
    )
