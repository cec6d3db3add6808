"""The options of Kafka tables, by Flink's names, and which of them go together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tidemark.catalog.tables import Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.formats import FORMATS
from tidemark.connectors.kafka.positions import specific_offsets
from tidemark.connectors.kafka.properties import client_settings
from tidemark.connectors.options import option_error, span_of_option
from tidemark.connectors.unsupported import ALIGNED_WATERMARKS
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import did_you_mean

# The formats that decode single records.
RECORD_FORMATS: Final = (
    "json",
    "csv",
    "raw",
    "debezium-json",
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
    OptionSpec("properties.#", summary="any other setting of Kafka's client"),
)
_FORMAT = (
    OptionSpec("key.format", summary="the format of keys"),
    OptionSpec("key.fields", "list", summary="the columns that are in keys"),
    OptionSpec(
        "key.fields-prefix",
        default="",
        summary="what the names of these columns begin with, but not the fields in keys",
    ),
    OptionSpec("value.format", summary="the format of values"),
    OptionSpec(
        "value.fields-include",
        "enum",
        "ALL",
        choices=("ALL", "EXCEPT_KEY"),
        summary="whether values have the columns of the key, too",
    ),
)
_BOUNDED = (
    OptionSpec("scan.bounded.mode", "enum", "unbounded", choices=_ENDS, summary="where to end"),
    OptionSpec("scan.bounded.specific-offsets", summary="as 'scan.startup.specific-offsets'"),
    OptionSpec(
        "scan.bounded.timestamp-millis", "long", summary="the first timestamp not to be read"
    ),
)
_READING = (
    OptionSpec(
        "scan.topic-partition-discovery.interval",
        "duration",
        300_000,
        summary="how often to look for new topics and partitions; 0 never does",
    ),
    OptionSpec(
        "scan.watermark.idle-timeout",
        "duration",
        summary="overrides 'table.exec.source.idle-timeout' for this table",
    ),
    OptionSpec("scan.watermark.alignment.#", summary="not supported"),
    OptionSpec("scan.parallelism", "int", summary=_NO_EFFECT),
    OptionSpec(
        "tidemark.kafka.max-records-per-batch",
        "long",
        summary="how many records of a table a micro-batch reads at most; by default 1,000,000",
        default=1_000_000,
    ),
    OptionSpec(
        "tidemark.kafka.on-data-loss",
        "enum",
        "fail",
        choices=("fail", "continue"),
        summary="what to do if records that were not read yet are gone",
    ),
)
OPTIONS = (
    *_BROKER,
    OptionSpec("topic-pattern", summary="a regular expression for the names of topics"),
    OptionSpec("format", summary="the same as 'value.format'"),
    *_FORMAT,
    OptionSpec(
        "scan.startup.mode", "enum", "group-offsets", choices=_STARTS, summary="where to start"
    ),
    OptionSpec(
        "scan.startup.specific-offsets",
        summary="such as 'partition:0,offset:42;partition:1,offset:300'",
    ),
    OptionSpec("scan.startup.timestamp-millis", "long", summary="the first timestamp to be read"),
    *_BOUNDED,
    *_READING,
)
UPSERT_OPTIONS = (*_BROKER, *_FORMAT, *_BOUNDED, *_READING)


def check(table: Table, options: Mapping[str, Any]) -> None:
    """Check what the declarations of single options cannot."""
    _check_topics(table, options)
    _check_position(table, options, "scan.startup", options["scan.startup.mode"])
    _check_bounds(table, options)
    if options["format"] is not None and options["value.format"] is not None:
        raise option_error(
            table, "format", "'format' and 'value.format' are the same option: omit one"
        )
    _check_formats(table, options, value_format(options))
    if options["key.format"] is None and options["key.fields"]:
        raise option_error(table, "key.fields", "'key.fields' requires 'key.format'")
    if options["key.format"] is not None and not options["key.fields"]:
        raise option_error(
            table,
            "key.format",
            "'key.format' requires 'key.fields'",
            hint="name the columns of the key",
        )
    _check_fields(table, options)


def check_upsert(table: Table, options: Mapping[str, Any]) -> None:
    """The same for `upsert-kafka`, whose key is the primary key."""
    _check_topics(table, options)
    _check_bounds(table, options)
    for key in ("key.format", "value.format"):
        if options[key] is None:
            raise option_error(table, "connector", f"missing option '{key}' for `upsert-kafka`")
    if options["key.fields"]:
        raise option_error(
            table,
            "key.fields",
            "'key.fields' is not an option of `upsert-kafka`",
            hint="its keys are the columns of the primary key",
        )
    if table.primary_key is None:
        raise option_error(
            table,
            "connector",
            "a table of `upsert-kafka` requires a primary key",
            hint="declare PRIMARY KEY (...) NOT ENFORCED",
        )
    _check_formats(table, options, options["value.format"])
    _check_fields(table, options)
    of_changelog = FORMATS[options["value.format"].lower()].metadata
    if of_changelog or options["value.format"].endswith("-json"):
        raise option_error(
            table,
            "value.format",
            f"the format '{options['value.format']}' has row kinds of its own",
            notes={"why": "in `upsert-kafka` a record is an upsert, or without a value a delete"},
            hint="use the connector 'kafka'",
        )


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


def _check_topics(table: Table, options: Mapping[str, Any]) -> None:
    topics, pattern = options["topic"], options.get("topic-pattern")
    if bool(topics) == bool(pattern):
        found = "both are set" if topics else "none is set"
        raise option_error(
            table,
            "topic-pattern" if topics else "connector",
            "a Kafka table requires either 'topic' or 'topic-pattern'",
            notes={"found": found},
        )
    if pattern:
        try:
            re.compile(pattern)
        except re.error as problem:
            raise option_error(
                table, "topic-pattern", f"'topic-pattern' is not a regular expression: {problem}"
            ) from None
    client_settings(table, options)


def _check_position(table: Table, options: Mapping[str, Any], of: str, mode: str) -> None:
    """The option that goes with the mode is required, and no other makes sense."""
    for name, asked_by in (
        ("specific-offsets", "specific-offsets"),
        ("timestamp-millis", "timestamp"),
    ):
        key = f"{of}.{name}"
        given = options.get(key)
        if mode == asked_by and given is None:
            raise option_error(table, f"{of}.mode", f"'{of}.mode' = '{mode}' requires '{key}'")
        if mode != asked_by and given is not None:
            raise option_error(table, key, f"'{key}' requires '{of}.mode' = '{asked_by}'")
    if mode == "specific-offsets":
        if len(options["topic"] or ()) != 1:
            raise option_error(
                table,
                f"{of}.mode",
                f"'{of}.mode' = '{mode}' requires exactly one topic (same in Flink)",
            )
        try:
            specific_offsets(options[f"{of}.specific-offsets"])
        except ValueError as problem:
            raise option_error(table, f"{of}.specific-offsets", str(problem)) from None
    if mode == "group-offsets" and of == "scan.bounded" and not options.get("properties.group.id"):
        raise option_error(
            table, f"{of}.mode", f"'{of}.mode' = 'group-offsets' requires 'properties.group.id'"
        )


def _check_bounds(table: Table, options: Mapping[str, Any]) -> None:
    for name in ALIGNED_WATERMARKS.each:
        key = f"scan.watermark.alignment.{name}"
        if key in options:
            raise ALIGNED_WATERMARKS.error(span_of_option(table, key), name, source=table.source)
    _check_position(table, options, "scan.bounded", options["scan.bounded.mode"])
    if options["tidemark.kafka.max-records-per-batch"] < 1:
        raise option_error(table, "tidemark.kafka.max-records-per-batch", "it must be at least 1")


def _check_formats(table: Table, options: Mapping[str, Any], value: str) -> None:
    if not value:
        raise option_error(
            table,
            "connector",
            "missing option 'format' for `kafka`",
            hint=f"add 'format' = '...', one of {', '.join(RECORD_FORMATS)}",
        )
    for key, name in (("value.format", value), ("key.format", options["key.format"])):
        if name is not None and name.lower() not in RECORD_FORMATS:
            at = key if options[key] is not None else "format"
            raise option_error(
                table,
                at,
                f"the format '{name}' cannot be used for Kafka records",
                hint=did_you_mean(name.lower(), RECORD_FORMATS)
                or f"formats are {', '.join(RECORD_FORMATS)}",
            )
    key = options["key.format"]
    if key is not None and FORMATS[key.lower()].changelog != FORMATS["json"].changelog:
        raise option_error(
            table, "key.format", f"the format '{key}' has row kinds, which keys do not have"
        )


def _check_fields(table: Table, options: Mapping[str, Any]) -> None:
    """The columns of keys exist, and have the prefix that they should have."""
    names = [c.name for c in table.columns if isinstance(c, PhysicalColumn)]
    prefix, keys = options["key.fields-prefix"], key_columns(table, options)
    if prefix and options["value.fields-include"] != "EXCEPT_KEY":
        raise option_error(
            table,
            "key.fields-prefix",
            "'key.fields-prefix' requires 'value.fields-include' = 'EXCEPT_KEY' (same in Flink)",
        )
    for name in keys:
        if name not in names:
            raise option_error(
                table,
                "key.fields",
                f"the key field `{name}` is not a physical column",
                hint=did_you_mean(name, names),
            )
        if not name.startswith(prefix):
            raise option_error(
                table,
                "key.fields-prefix",
                f"the key field `{name}` does not begin with the prefix '{prefix}'",
            )
