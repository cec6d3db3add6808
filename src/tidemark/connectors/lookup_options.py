"""The options of tables that are looked up, with Flink's names, and what they say."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any, Final

from tidemark.catalog.tables import LookupTraits, Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.options import option_error
from tidemark.plan.window_words import duration

_PARTIAL: Final = "lookup.partial-cache."
_FULL: Final = "lookup.full-cache."

# For tables that workers load as a whole.
FULL_CACHE_OPTIONS = (
    OptionSpec(
        "lookup.full-cache.reload-strategy",
        "enum",
        "PERIODIC",
        choices=("PERIODIC", "TIMED"),
        summary="whether the table is reloaded at intervals or at a time of day",
    ),
    OptionSpec(
        "lookup.full-cache.periodic-reload.interval",
        "duration",
        summary="how often a table that is looked up is reloaded; by default, it is loaded once",
    ),
    OptionSpec(
        "lookup.full-cache.periodic-reload.schedule-mode",
        "enum",
        "FIXED_DELAY",
        choices=("FIXED_DELAY", "FIXED_RATE"),
        summary="whether the interval is measured from the end or from the start of a load",
    ),
    OptionSpec(
        "lookup.full-cache.timed-reload.iso-time",
        summary="the time of day at which the table is reloaded, such as `10:15` or `10:15Z`",
    ),
    OptionSpec(
        "lookup.full-cache.timed-reload.interval-in-days",
        "int",
        1,
        summary="the number of days from one reload at that time to the next",
    ),
)
# For tables that are looked up by key.
LOOKUP_OPTIONS = (
    OptionSpec(
        "lookup.cache",
        "enum",
        "NONE",
        choices=("NONE", "PARTIAL", "FULL"),
        summary="which rows workers cache: none, those looked up, or the whole table",
    ),
    OptionSpec("lookup.max-retries", "int", 3, summary="how often a failed lookup is retried"),
    OptionSpec(
        "lookup.partial-cache.expire-after-access",
        "duration",
        summary="how long a key stays in the cache after it was last looked up",
    ),
    OptionSpec(
        "lookup.partial-cache.expire-after-write",
        "duration",
        summary="how long a key stays in the cache after its rows were read",
    ),
    OptionSpec(
        "lookup.partial-cache.cache-missing-key",
        "boolean",
        True,
        summary="whether the cache also stores that a key has no rows",
    ),
    OptionSpec(
        "lookup.partial-cache.max-rows",
        "long",
        summary="the maximum number of keys in a worker's cache; it keeps the most recently used",
    ),
    *FULL_CACHE_OPTIONS,
)


def lookup_traits(options: Mapping[str, Any]) -> LookupTraits:
    """How a table with LOOKUP_OPTIONS is looked up."""
    cache = options["lookup.cache"]
    if cache == "FULL":
        return LookupTraits("whole", full_cache(options))
    if cache == "NONE":
        return LookupTraits("keys", "none")
    parts = [
        f"at most {most} keys" if (most := options[_PARTIAL + "max-rows"]) is not None else "",
        _after(options, "access"),
        _after(options, "write"),
        "" if options[_PARTIAL + "cache-missing-key"] else "no missing keys",
    ]
    return LookupTraits("keys", ", ".join(["partial", *filter(None, parts)]))


def check_lookup(table: Table, options: Mapping[str, Any]) -> None:
    """Check how a table with LOOKUP_OPTIONS is looked up, as Flink does."""
    for name in ("lookup.max-retries", _PARTIAL + "max-rows"):
        if (options[name] or 0) < 0:
            raise option_error(table, name, f"'{name}' must be 0 or more")
    limits = (
        _PARTIAL + "max-rows",
        _PARTIAL + "expire-after-write",
        _PARTIAL + "expire-after-access",
    )
    if options["lookup.cache"] == "PARTIAL" and all(options[name] is None for name in limits):
        raise option_error(
            table,
            "lookup.cache",
            "a PARTIAL cache requires a limit",
            notes={"why": "it would grow without bound, and never notice that rows have changed"},
            hint=f"set '{limits[0]}', '{limits[1]}' or '{limits[2]}'",
        )


def full_cache(options: Mapping[str, Any]) -> str:
    """When a table is loaded again, in words."""
    if options[_FULL + "reload-strategy"] == "TIMED":
        days = options[_FULL + "timed-reload.interval-in-days"]
        when = f"at {options[_FULL + 'timed-reload.iso-time']}"
        return f"full, loaded again {when} every {'day' if days == 1 else f'{days} days'}"
    interval = options[_FULL + "periodic-reload.interval"]
    return "full, loaded once" if interval is None else f"full, loaded every {duration(interval)}"


def _after(options: Mapping[str, Any], what: str) -> str:
    after = options[f"{_PARTIAL}expire-after-{what}"]
    return "" if after is None else f"for {duration(after)} after the last {what}"


def reloads(options: Mapping[str, Any]) -> bool:
    """Whether a table that is looked up as a whole is loaded more than once."""
    timed = options[_FULL + "reload-strategy"] == "TIMED"
    return timed or options[_FULL + "periodic-reload.interval"] is not None


def check_reloads(table: Table, options: Mapping[str, Any]) -> None:
    """Check the time of day at which a table is loaded again."""
    name = _FULL + "timed-reload.iso-time"
    if options[_FULL + "timed-reload.interval-in-days"] < 1:
        raise option_error(table, _FULL + "timed-reload.interval-in-days", "it must be 1 or more")
    if options[_FULL + "reload-strategy"] != "TIMED":
        return
    if options[name] is None:
        raise option_error(table, _FULL + "reload-strategy", f"TIMED requires '{name}'")
    try:
        dt.time.fromisoformat(options[name])
    except ValueError:
        raise option_error(
            table, name, f"'{options[name]}' is not a time of day", hint="such as 10:15 or 10:15Z"
        ) from None
