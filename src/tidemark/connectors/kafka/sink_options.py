"""The options of sinks in Kafka, by Flink's names, and which of them go together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tidemark.catalog.tables import Changelog, Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.formats import FORMATS
from tidemark.connectors.options import option_error, span_of_option
from tidemark.connectors.unsupported import EXACTLY_ONCE_BY_PATTERN, PARTITIONER_CLASS
from tidemark.errors import PlanError

_EXACTLY_ONCE: Final = "exactly-once"
_GUARANTEE: Final = "sink.delivery-guarantee"
_PREFIX: Final = "sink.transactional-id-prefix"
_PARTITIONER: Final = "sink.partitioner"
_PARTITIONERS: Final = ("default", "fixed", "round-robin")
_MAX_ROWS: Final = "sink.buffer-flush.max-rows"
_INTERVAL: Final = "sink.buffer-flush.interval"

_DELIVERY = (
    OptionSpec(
        "sink.parallelism",
        "int",
        summary="the maximum number of tasks that write; for exactly-once delivery, one task sends "
        "what all tasks have encoded",
    ),
    OptionSpec(
        _GUARANTEE,
        "enum",
        "at-least-once",
        choices=("none", "at-least-once", _EXACTLY_ONCE),
        aliases=("sink.semantic",),
        summary="how often a row is in the topic after a restart; `none` means the same as "
        "`at-least-once`",
    ),
    OptionSpec(_PREFIX, summary="a prefix of the names of transactions; for exactly-once delivery"),
    OptionSpec(
        "sink.transaction-naming-strategy",
        "enum",
        "default",
        choices=("default", "incrementing", "pooling"),
        summary="accepted without effect; a sink has one name, and one transaction at a time",
    ),
)
SINK_OPTIONS = (
    OptionSpec(
        _PARTITIONER,
        default="default",
        summary="`default`: the partition of the key, or any; `fixed`: one partition for each "
        "task; `round-robin`: any partition",
    ),
    *_DELIVERY,
)
UPSERT_SINK_OPTIONS = (
    *_DELIVERY,
    OptionSpec(
        _MAX_ROWS,
        "int",
        0,
        summary="if this and the interval are set, a micro-batch writes only the last change of "
        "each key",
    ),
    OptionSpec(_INTERVAL, "duration", 0, summary="see `sink.buffer-flush.max-rows`"),
)


def check_key(table: Table, format_: str) -> None:
    if table.primary_key is not None and FORMATS[format_].changelog is Changelog.APPEND:
        raise PlanError(
            f"a Kafka table in the {format_} format cannot have a PRIMARY KEY, as in Flink",
            source=table.source,
            notes={"table": table.name, "why": "a topic may have several rows of one key"},
            hint="use 'connector' = 'upsert-kafka', or remove the key",
        )


def check_writing(table: Table, options: Mapping[str, Any]) -> None:
    """Check what only matters if the table is written."""
    _check_delivery(table, options)
    partitioner = options[_PARTITIONER]
    if partitioner == "round-robin" and options["key.fields"]:
        raise option_error(
            table, _PARTITIONER, "'round-robin' is not for rows with keys, as in Flink"
        )
    if partitioner not in _PARTITIONERS:
        at = span_of_option(table, _PARTITIONER)
        raise PARTITIONER_CLASS.error(at, source=table.source)


def check_upsert_writing(table: Table, options: Mapping[str, Any]) -> None:
    _check_delivery(table, options)
    if (options[_MAX_ROWS] > 0) != (options[_INTERVAL] > 0):
        raise option_error(
            table, _MAX_ROWS, f"'{_MAX_ROWS}' and '{_INTERVAL}' must be set together"
        )


def _check_delivery(table: Table, options: Mapping[str, Any]) -> None:
    if (tasks := options["sink.parallelism"]) is not None and tasks < 1:
        raise option_error(table, "sink.parallelism", "option 'sink.parallelism' must be 1 or more")
    if options.get("properties.transactional.id") is not None:
        raise option_error(
            table,
            "properties.transactional.id",
            "'properties.transactional.id' is decided by the sink",
            hint=f"set '{_PREFIX}'",
        )
    if not is_exactly_once(options):
        return
    if options[_PREFIX] is None:
        raise option_error(
            table,
            _GUARANTEE,
            f"'{_PREFIX}' is required for '{_EXACTLY_ONCE}'",
            hint=f"add '{_PREFIX}' = '...', a name that no other application uses",
        )
    if options.get("topic-pattern") is not None:
        at = span_of_option(table, "topic-pattern")
        raise EXACTLY_ONCE_BY_PATTERN.error(at, source=table.source)


def is_upsert(options: Mapping[str, Any]) -> bool:
    """Whether these are options of upsert-kafka."""
    return _MAX_ROWS in options


def keeps_last(options: Mapping[str, Any]) -> bool:
    """Whether a micro-batch writes only the last change of each key."""
    return bool(options.get(_MAX_ROWS))


def is_exactly_once(options: Mapping[str, Any]) -> bool:
    return bool(options[_GUARANTEE] == _EXACTLY_ONCE)


def transaction_prefix(options: Mapping[str, Any]) -> str:
    return str(options[_PREFIX])
