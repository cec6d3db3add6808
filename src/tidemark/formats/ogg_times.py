"""The times of Ogg events, as Flink reads them: strings without a zone, which are times in UTC.

`op_ts` is read to milliseconds. So is `current_ts` if it has a T and six digits after the seconds;
otherwise it is read as a timestamp that SQL writes. Other strings are not times.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import polars as pl

from tidemark.formats.changelog_json import INSTANTS, read_again
from tidemark.formats.ogg_time_patterns import ISO_TIME, SQL_TIME

_PLAIN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{6}$"
_EPOCH = datetime(1970, 1, 1)
_MILLISECOND = 1_000


def event_time(text: str) -> int | None:
    """The microseconds of `op_ts`; None if it is not a time."""
    moment = _moment(text) if re.fullmatch(SQL_TIME, text) else None
    return None if moment is None else moment // _MILLISECOND * _MILLISECOND


def event_times(text: pl.Series) -> pl.Series:
    """The same for whole columns."""
    plain = _moments(text, _PLAIN) // _MILLISECOND * _MILLISECOND
    return read_again(text, plain, event_time).cast(INSTANTS)


def ingestion_time(text: str) -> int | None:
    """The microseconds of `current_ts`; None if it is not a time."""
    if re.fullmatch(SQL_TIME, text):
        return _moment(text)
    return event_time(text.replace("T", " ")) if re.fullmatch(ISO_TIME, text) else None


def ingestion_times(text: pl.Series) -> pl.Series:
    """The same for whole columns."""
    iso = _moments(text.str.replace("T", " "), _PLAIN) // _MILLISECOND * _MILLISECOND
    is_iso = text.str.contains(ISO_TIME)
    plain = pl.select(pl.when(is_iso).then(iso)).to_series()
    return read_again(text, plain, ingestion_time).cast(INSTANTS)


def _moment(text: str) -> int | None:
    numbers = [int(part) for part in re.split("[- :.]", text)[:6]]
    _, _, fraction = text.partition(".")
    try:
        moment = datetime(*numbers, microsecond=int(f"{fraction:0<6}"[:6]))  # type: ignore[arg-type, misc]
    except ValueError:
        return None
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _moments(text: pl.Series, pattern: str) -> pl.Series:
    matching = pl.select(pl.when(text.str.contains(pattern)).then(text)).to_series()
    return matching.str.to_datetime("%Y-%m-%d %H:%M:%S%.6f", strict=False, time_unit="us").cast(
        pl.Int64
    )
