"""The current time: the same for all rows."""

from __future__ import annotations

import polars as pl

from tidemark.columns import moments
from tidemark.columns.call import ColumnCall, WriteColumn


def _now(call: ColumnCall) -> pl.Expr:
    """In whole milliseconds."""
    call.active.surroundings.reads_clock = True
    now = call.active.surroundings.now
    return pl.lit(now.replace(microsecond=now.microsecond // 1000 * 1000)).cast(moments.INSTANT)


def _local(call: ColumnCall) -> pl.Expr:
    return moments.to_clock(_now(call), call.zone)


COLUMNS: dict[str, WriteColumn] = {
    "CURRENT_TIMESTAMP": _now,
    "PROCTIME": _now,
    "LOCALTIMESTAMP": _local,
    "CURRENT_DATE": lambda call: _local(call).dt.date(),
    "CURRENT_TIME": lambda call: _local(call).dt.truncate("1s").dt.time(),
}
