"""The current time: the same for all rows of a micro-batch, because Spark reads the clock once."""

from __future__ import annotations

from tidemark import types as t
from tidemark.functions.registry import Argument, Function, SparkCall, scalar
from tidemark.functions.times_of_day import time_of

_NOW = "date_trunc('MILLISECOND', current_timestamp())"


def _clock(
    name: str, type_: t.DataType, spark: str, summary: str, aliases: tuple[str, ...] = ()
) -> Function:
    return scalar(
        name,
        "()",
        type_.with_nullable(False),
        spark,
        strict=False,
        deterministic=False,
        aliases=aliases,
        category="temporal",
        summary=summary,
    )


def _watermark_type(arguments: tuple[Argument, ...]) -> t.DataType:
    zoned = isinstance(arguments[0].type, t.TimestampLtz)
    return (t.TimestampLtz if zoned else t.Timestamp)(3)


def _of_a_source(_: SparkCall) -> str:
    raise AssertionError("CURRENT_WATERMARK is a column when a plan runs")


FUNCTIONS: tuple[Function, ...] = (
    _clock(
        "CURRENT_DATE", t.Date(), "current_date()", "The current date in the session time zone."
    ),
    _clock(
        "CURRENT_TIME",
        t.Time(0),
        f"time_trunc('SECOND', {time_of(_NOW)})",
        "The current time of day in the session time zone.",
        ("LOCALTIME",),
    ),
    _clock(
        "CURRENT_TIMESTAMP",
        t.TimestampLtz(3),
        _NOW,
        "The current timestamp.",
        ("NOW", "CURRENT_ROW_TIMESTAMP"),
    ),
    # A separate function, not an alias: the planner makes a time attribute of it.
    _clock(
        "PROCTIME", t.TimestampLtz(3), _NOW, "The current time, as a processing time attribute."
    ),
    _clock(
        "LOCALTIMESTAMP",
        t.Timestamp(3),
        f"CAST({_NOW} AS TIMESTAMP_NTZ)",
        "The current date and time in the session time zone.",
    ),
    # The planner makes a column of it, which comes from the source.
    scalar(
        "CURRENT_WATERMARK",
        "(instant)",
        _watermark_type,
        _of_a_source,
        strict=False,
        deterministic=False,
        category="temporal",
        summary="The watermark before the row, for an event-time attribute; NULL before the first "
        "watermark.",
    ),
)
