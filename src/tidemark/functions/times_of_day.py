"""Spark SQL for times of the day, which Spark 4.2 cannot cast as later versions do."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version

from tidemark.functions.spark_text import bound


@cache
def has_casts() -> bool:
    """Whether Spark casts timestamps to TIME, and cuts the digits of a TIME: since 4.3."""
    try:
        major, minor = version("pyspark").split(".")[:2]
    except PackageNotFoundError:
        return True
    return (int(major), int(minor)) >= (4, 3)


def time_of(moment: str) -> str:
    """The time of the day of a timestamp."""
    return f"CAST({moment} AS TIME(6))" if has_casts() else bound(moment, _made)


def _made(moment: str) -> str:
    return f"make_time(hour({moment}), minute({moment}), extract(SECOND FROM {moment}))"


def cut_to(time: str, precision: int) -> str:
    """A time of the day without the digits beyond a precision."""
    if has_casts():
        return f"CAST(CAST({time} AS TIME({precision})) AS TIME(6))"
    unit = 10 ** (6 - precision)
    return bound(f"time_to_micros({time})", lambda n: f"time_from_micros({n} - {n} % {unit})")
