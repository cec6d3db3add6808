"""The options of Kafka tables, by Flink's names, and what they say of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tidemark.catalog.tables import Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.kafka.sink_options import SINK_OPTIONS, UPSERT_SINK_OPTIONS
from tidemark.dialect.statements import PhysicalColumn

# The formats of single records.
RECORD_FORMATS: Final = (
    "json",
    "csv",
    "raw",
    "avro",
    "avro-confluent",
    "protobuf",
    "debezium-json",
    "debezium-avro-confluent",
    "canal-json",
    "maxwell-json",
    "ogg-json",
)
_STARTS = ("earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets")
_ENDS = ("unbounded", "latest-offset", "group-offsets", "timestamp", "specific-offsets")
_NO_EFFECT = "accepted without effect"

_BROKER = (
    OptionSpec("topic", "list", summary="the topics, separated by semicolons"),
    OptionSpec(
        "properties.bootstrap.servers", required=True, summary="the brokers, separated by commas"
    ),
    OptionSpec("properties.ssl.keystore.key", secret=True, summary="the client's private key"),
    OptionSpec("properties.ssl.key.pem", secret=True, summary="the same, under librdkafka's name"),
    OptionSpec("properties.#", summary="any other setting of Kafka's client"),
)
_FORMAT = (
    OptionSpec("key.format", summary="the format of keys"),
    OptionSpec("key.fields", "list", summary="the columns that keys contain"),
    OptionSpec(
        "key.fields-prefix",
        default="",
        summary="a prefix of the names of these columns, which the fields in keys do not have",
    ),
    OptionSpec("value.format", summary="the format of values"),
    OptionSpec(
        "value.fields-include",
        "enum",
        "ALL",
        choices=("ALL", "EXCEPT_KEY"),
        summary="whether values also contain the key columns",
    ),
)
_BOUNDED = (
    OptionSpec(
        "scan.bounded.mode", "enum", "unbounded", choices=_ENDS, summary="where to stop reading"
    ),
    OptionSpec(
        "scan.bounded.specific-offsets", summary="written like 'scan.startup.specific-offsets'"
    ),
    OptionSpec(
        "scan.bounded.timestamp-millis", "long", summary="the first timestamp that is not read"
    ),
)
_READING = (
    OptionSpec(
        "scan.topic-partition-discovery.interval",
        "duration",
        300_000,
        summary="how often to look for new topics and partitions; 0 means never",
    ),
    OptionSpec(
        "scan.watermark.emit.strategy",
        "enum",
        choices=("on-event", "on-periodic"),
        summary="accepted without effect: watermarks advance with every micro-batch",
    ),
    OptionSpec(
        "scan.watermark.idle-timeout",
        "duration",
        summary="overrides 'table.exec.source.idle-timeout' for this table",
    ),
    OptionSpec(
        "scan.watermark.alignment.group",
        summary="tables of a query with the same group wait for each other's watermarks",
    ),
    OptionSpec(
        "scan.watermark.alignment.max-drift",
        "duration",
        summary="how far a partition may be ahead of the slowest one of the group before it waits",
    ),
    OptionSpec(
        "scan.watermark.alignment.update-interval",
        "duration",
        summary="accepted without effect: watermarks are compared before each micro-batch",
    ),
    OptionSpec("scan.parallelism", "int", summary=_NO_EFFECT),
    OptionSpec(
        "tidemark.kafka.max-records-per-batch",
        "long",
        summary="the maximum number of records of a table that a micro-batch reads",
        default=1_000_000,
    ),
    OptionSpec(
        "tidemark.kafka.on-data-loss",
        "enum",
        "fail",
        choices=("fail", "continue"),
        summary="what to do if records are gone before they are read",
    ),
)
OPTIONS = (
    *_BROKER,
    OptionSpec("topic-pattern", summary="a regular expression for the names of topics"),
    OptionSpec("format", summary="the same as 'value.format'"),
    *_FORMAT,
    OptionSpec(
        "scan.startup.mode",
        "enum",
        "group-offsets",
        choices=_STARTS,
        summary="where to start reading",
        aliases=("connector.startup-mode",),
    ),
    OptionSpec(
        "scan.startup.specific-offsets",
        summary="such as 'partition:0,offset:42;partition:1,offset:300'",
    ),
    OptionSpec("scan.startup.timestamp-millis", "long", summary="the first timestamp that is read"),
    *_BOUNDED,
    *_READING,
    *SINK_OPTIONS,
)
UPSERT_OPTIONS = (*_BROKER, *_FORMAT, *_BOUNDED, *_READING, *UPSERT_SINK_OPTIONS)


def value_format(options: Mapping[str, Any]) -> str:
    name: str = options["value.format"] or options.get("format") or ""
    return name.lower()


def key_columns(table: Table, options: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the columns that are in keys."""
    if table.option("connector") == "upsert-kafka":
        assert table.primary_key is not None
        return table.primary_key.columns
    return tuple(options["key.fields"] or ())


def value_columns(table: Table, options: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the columns that are in values."""
    names = tuple(c.name for c in table.columns if isinstance(c, PhysicalColumn))
    if options["value.fields-include"] == "ALL":
        return names
    in_key = key_columns(table, options)
    return tuple(name for name in names if name not in in_key)


def options_of_format(options: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The options of the format of keys or values, without `key.` or `value.`."""
    begun = {
        n.removeprefix(prefix): v for n, v in options.items() if prefix and n.startswith(prefix)
    }
    return {**options, **begun}
