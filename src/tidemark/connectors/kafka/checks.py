"""Which options of Kafka tables go together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tidemark.catalog.tables import Table
from tidemark.connectors.formats import FORMATS
from tidemark.connectors.formats.base import FormatField
from tidemark.connectors.kafka.options import (
    RECORD_FORMATS,
    key_columns,
    options_of_format,
    value_columns,
    value_format,
)
from tidemark.connectors.kafka.positions import specific_offsets
from tidemark.connectors.kafka.properties import client_settings
from tidemark.connectors.kafka.sink_options import check_key
from tidemark.connectors.options import option_error
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import did_you_mean


def check(table: Table, options: Mapping[str, Any]) -> None:
    """Check what the declarations of single options cannot."""
    _check_topics(table, options)
    _check_alignment(table, options)
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
    _check_columns(table, options)
    check_key(table, value_format(options))


def check_reading(table: Table, options: Mapping[str, Any]) -> None:
    """Check what only matters if the table is read."""
    _check_position(table, options, "scan.startup", options["scan.startup.mode"])
    check_upsert_reading(table, options)


def check_upsert_reading(table: Table, options: Mapping[str, Any]) -> None:
    _check_position(table, options, "scan.bounded", options["scan.bounded.mode"])
    if (tasks := options["scan.parallelism"]) is not None and tasks < 1:
        raise option_error(table, "scan.parallelism", "option 'scan.parallelism' must be 1 or more")
    if options["tidemark.kafka.max-records-per-batch"] < 1:
        raise option_error(table, "tidemark.kafka.max-records-per-batch", "it must be at least 1")


def check_upsert(table: Table, options: Mapping[str, Any]) -> None:
    """The same for `upsert-kafka`, whose key is the primary key."""
    _check_topics(table, options)
    _check_alignment(table, options)
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
    _check_columns(table, options)


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
    """The option that goes with the mode is required. Those of other modes have no effect, as in
    Flink: a hint may override the mode of a table that has them. Without a mode they are an error.
    """
    is_default = mode in ("group-offsets", "unbounded") and table.option(f"{of}.mode") is None
    for name, asked_by in (
        ("specific-offsets", "specific-offsets"),
        ("timestamp-millis", "timestamp"),
    ):
        key = f"{of}.{name}"
        given = options.get(key)
        if mode == asked_by and given is None:
            raise option_error(table, f"{of}.mode", f"'{of}.mode' = '{mode}' requires '{key}'")
        if mode != asked_by and given is not None and is_default:
            raise option_error(table, key, f"'{key}' requires '{of}.mode' = '{asked_by}'")
    if mode == "timestamp" and options[f"{of}.timestamp-millis"] < 0:
        raise option_error(
            table,
            f"{of}.timestamp-millis",
            f"option '{of}.timestamp-millis' must be 0 or more",
            notes={"why": "to brokers, negative numbers are not times: -2 is the first record"},
        )
    if mode == "specific-offsets":
        if len(options["topic"] or ()) != 1:
            raise option_error(
                table,
                f"{of}.mode",
                f"'{of}.mode' = '{mode}' requires exactly one topic (same in Flink)",
            )
        try:
            if not specific_offsets(options[f"{of}.specific-offsets"]):
                raise ValueError(f"'{of}.specific-offsets' is empty")
        except ValueError as problem:
            raise option_error(table, f"{of}.specific-offsets", str(problem)) from None
    if mode == "group-offsets" and of == "scan.bounded" and not options.get("properties.group.id"):
        raise option_error(
            table, f"{of}.mode", f"'{of}.mode' = 'group-offsets' requires 'properties.group.id'"
        )


def _check_alignment(table: Table, options: Mapping[str, Any]) -> None:
    names = ("group", "max-drift", "update-interval")
    group, drift, interval = (f"scan.watermark.alignment.{name}" for name in names)
    given = [key for key in (group, drift, interval) if options[key] is not None]
    if given and not {group, drift} <= {*given}:
        raise option_error(
            table, given[0], f"watermark alignment requires '{group}' and '{drift}' (same in Flink)"
        )


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
    for place, name in enumerate(keys):
        if name in keys[:place]:
            raise option_error(table, "key.fields", f"the key field `{name}` is there twice")
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


def _check_columns(table: Table, options: Mapping[str, Any]) -> None:
    """Keys and values can have the columns that are in them."""
    prefix = "" if options.get("format") else "value."
    _check_part(table, value_format(options), prefix, value_columns(table, options), "", options)
    if options["key.format"] is not None:
        keys, begin = key_columns(table, options), options["key.fields-prefix"]
        _check_part(table, options["key.format"].lower(), "key.", keys, begin, options)


def _check_part(
    table: Table,
    format_: str,
    prefix: str,
    names: Sequence[str],
    begin: str,
    options: Mapping[str, Any],
) -> None:
    types = {c.name: c.type for c in table.columns if isinstance(c, PhysicalColumn)}
    fields = [FormatField(name.removeprefix(begin), name, types[name]) for name in names]
    FORMATS[format_].check_messages(table, tuple(fields), options_of_format(options, prefix))
