"""Spark SQL that computes with instants and local times regardless of time zones.

Spark shifts a TIMESTAMP_NTZ that falls into the missing hour in spring whenever it passes through a
TIMESTAMP, as in TIMESTAMPDIFF, and counts days of a TIMESTAMP by the session's calendar. Flink does
neither: it computes in UTC and shows the result in the session's zone.
"""

from __future__ import annotations

import re

from tidemark import types as t
from tidemark.functions.spark_text import bound
from tidemark.functions.times_of_day import time_of

_DAY_MICROS = 86_400_000_000
_EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
_FIXED_ZONE = re.compile(r"(Z|UTC|GMT|Etc/(UTC|GMT|UCT)|UCT|(UTC|GMT)?[+-]\d{1,2}(:?\d{2})?)\Z")


def never_shifts(zone: str) -> bool:
    """Whether the zone has a fixed offset from UTC, so that no hour is ever missing."""
    return _FIXED_ZONE.match(zone) is not None


def micros_of_clock(clock: str) -> str:
    """A TIMESTAMP_NTZ as microseconds since 1970, read as UTC."""
    return bound(clock, _micros_of_clock)


def _micros_of_clock(clock: str) -> str:
    days = f"CAST(unix_date(CAST({clock} AS DATE)) AS BIGINT)"
    return f"({days} * {_DAY_MICROS} + time_to_micros({time_of(clock)}))"


def millis_of_clock(clock: str) -> str:
    """A TIMESTAMP_NTZ as milliseconds since 1970, read as UTC; always rounded down."""
    return f"CAST(floor({micros_of_clock(clock)} / 1000) AS BIGINT)"


def clock_of_millis(millis: str) -> str:
    """The TIMESTAMP_NTZ, read as UTC, that is this many milliseconds after the start of 1970."""
    return f"timestampadd(MICROSECOND, ({millis}) * 1000L, {_EPOCH})"


def is_utc(zone: str) -> bool:
    return zone.upper() in _UTC


_UTC = ("UTC", "ETC/UTC", "GMT", "Z")


def utc_clock(instant: str) -> str:
    """The UTC time of a TIMESTAMP, as a TIMESTAMP_NTZ."""
    return f"timestampadd(MICROSECOND, unix_micros({instant}), {_EPOCH})"


def instant_of_utc_clock(clock: str) -> str:
    """The TIMESTAMP whose UTC time is the TIMESTAMP_NTZ."""
    return f"timestamp_micros({micros_of_clock(clock)})"


def session_clock(sql: str, type_: t.DataType) -> str:
    """A date, time or timestamp as the TIMESTAMP_NTZ that it is in the session's zone."""
    match type_:
        case t.Time():
            return f"make_timestamp_ntz(DATE'1970-01-01', {sql})"
        case t.Timestamp():
            return sql
    return f"CAST({sql} AS TIMESTAMP_NTZ)"


def from_session_clock(clock: str, type_: t.DataType) -> str:
    """The inverse of `session_clock`."""
    match type_:
        case t.Timestamp():
            return clock
        case t.Time():
            return time_of(clock)
        case t.TimestampLtz():
            return f"CAST({clock} AS TIMESTAMP)"
    return f"CAST({clock} AS DATE)"
