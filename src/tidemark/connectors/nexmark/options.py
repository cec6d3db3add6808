"""The options of the nexmark connector, and the columns that its tables have."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tidemark import types as t
from tidemark.catalog.tables import Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.made_rows import SEED, physical
from tidemark.connectors.options import option_error
from tidemark.errors import OptionError

BASE_TIME: Final = "tidemark.base-time"
_DAY_ONE: Final = dt.datetime(1970, 1, 1)

OPTIONS: Final = (
    OptionSpec("events.num", "long", 0, summary="the number of events; 0 means unbounded"),
    OptionSpec(
        "stop-at", "long", -1, summary="the table ends after this many events, unless negative"
    ),
    OptionSpec(
        "keep-alive", "boolean", False, summary="whether a job continues after the last event"
    ),
    OptionSpec(
        "first-event.rate",
        "int",
        10_000,
        summary="events per second of event time; an unbounded table also generates this many per "
        "second",
    ),
    OptionSpec("next-event.rate", "int", 10_000, summary="accepted without effect, as in Flink"),
    OptionSpec("person.proportion", "int", 1, summary="the proportion of person events"),
    OptionSpec("auction.proportion", "int", 3, summary="the proportion of auction events"),
    OptionSpec("bid.proportion", "int", 46, summary="the proportion of bid events"),
    OptionSpec("person.avg-size", "memory", 200, summary="the average size of a person"),
    OptionSpec("auction.avg-size", "memory", 500, summary="the average size of an auction"),
    OptionSpec("bid.avg-size", "memory", 100, summary="the average size of a bid"),
    OptionSpec(
        "bid.hot-ratio.auctions", "int", 2, summary="one in this many bids is not for a hot auction"
    ),
    OptionSpec(
        "bid.hot-ratio.bidders", "int", 4, summary="one in this many bids is not by a hot bidder"
    ),
    OptionSpec(
        "auction.hot-ratio.sellers",
        "int",
        4,
        summary="one in this many auctions is not by a hot seller",
    ),
    OptionSpec(
        "rate.shape",
        "enum",
        "SQUARE",
        choices=("SQUARE", "SINE"),
        summary="accepted without effect",
    ),
    OptionSpec("rate.period", "duration", 600_000, summary="accepted without effect, as in Flink"),
    OptionSpec("rate.limited", "boolean", False, summary="accepted without effect, as in Flink"),
    OptionSpec(
        "max-emit-speed",
        "boolean",
        True,
        summary="accepted without effect; bounded tables are generated as fast as possible",
    ),
    OptionSpec(
        BASE_TIME, summary="the time of the first event, `2024-01-01 00:00:00`; by default, now"
    ),
    replace(SEED, summary="selects other values; they are the same in each run"),
)

_LONG, _TIME = t.BigInt(), t.Timestamp(3)
_PERSON: Final = (_LONG, *[t.STRING] * 5, _TIME, t.STRING)
_AUCTION: Final = (
    *(_LONG, t.STRING, t.STRING, _LONG, _LONG),
    *(_TIME, _TIME, _LONG, _LONG, t.STRING),
)
_BID: Final = (_LONG, _LONG, _LONG, t.STRING, t.STRING, _TIME, t.STRING)
# Before the events had a channel and a URL.
_PLAIN_BID: Final = (_LONG, _LONG, _LONG, _TIME, t.STRING)

# Strings of this size are not cut from the one that all are cut from.
_LARGEST: Final = 400_000


def check(table: Table, options: Mapping[str, Any]) -> None:
    _check_columns(table)
    shares = ("person.proportion", "auction.proportion", "bid.proportion")
    for key in shares:
        _require(table, options, key, least=0)
    if not any(options[key] for key in shares):
        raise option_error(table, shares[0], "at least one proportion must be greater than zero")
    _require(table, options, "events.num", least=0)
    for key in ("first-event.rate", *(name for name in options if ".hot-ratio." in name)):
        _require(table, options, key, least=1)
    for key in ("person.avg-size", "auction.avg-size", "bid.avg-size"):
        if options[key] > _LARGEST:
            raise option_error(table, key, f"option '{key}' must be at most {_LARGEST} bytes")
    try:
        base_time_ms(options)
    except ValueError:
        raise option_error(
            table,
            BASE_TIME,
            f"invalid value '{options[BASE_TIME]}' for option '{BASE_TIME}'",
            notes={"expected": "a timestamp such as '2024-01-01 00:00:00'"},
        ) from None


def base_time_ms(options: Mapping[str, Any]) -> int | None:
    """The time before the first event; None for the time at which the job starts."""
    given = options[BASE_TIME]
    if given is None:
        return None
    return (dt.datetime.fromisoformat(given) - _DAY_ONE) // dt.timedelta(milliseconds=1)


def _require(table: Table, options: Mapping[str, Any], key: str, least: int) -> None:
    if options[key] < least:
        raise option_error(table, key, f"option '{key}' must be at least {least}")


def _check_columns(table: Table) -> None:
    types = [column.type for column in physical(table)]
    rows = [_kinds(type_) for type_ in types[1:]]
    if not (
        [type(type_) for type_ in types] == [t.Int, t.Row, t.Row, t.Row]
        and rows[:2] == [_kinds_of(_PERSON), _kinds_of(_AUCTION)]
        and rows[2] in (_kinds_of(_BID), _kinds_of(_PLAIN_BID))
    ):
        raise OptionError(
            f"the columns of `{table.name}` are not those of Nexmark's events",
            source=table.source,
            notes={
                "expected": "an event type (INT), a person, an auction and a bid",
                "person": _text(_PERSON),
                "auction": _text(_AUCTION),
                "bid": _text(_BID),
            },
            hint="declare the columns as Nexmark does",
        )


def _kinds(type_: t.DataType) -> Sequence[type[t.DataType]]:
    return _kinds_of([f.type for f in type_.fields]) if isinstance(type_, t.Row) else ()


def _kinds_of(types: Sequence[t.DataType]) -> Sequence[type[t.DataType]]:
    return [type(type_) for type_ in types]


def _text(types: Sequence[t.DataType]) -> str:
    return f"ROW of {', '.join(type_.text() for type_ in types)}"
