"""What a sink does with the columns of its table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tidemark import types as t
from tidemark.catalog.tables import Changelog, Table
from tidemark.connectors.base import Target
from tidemark.connectors.filesystem.sinks import refuse_changelog
from tidemark.connectors.formats import FORMATS
from tidemark.connectors.formats.base import Format, FormatField
from tidemark.connectors.kafka.clients import Brokers
from tidemark.connectors.kafka.metadata import METADATA
from tidemark.connectors.kafka.options import (
    key_columns,
    options_of_format,
    value_columns,
    value_format,
)
from tidemark.connectors.kafka.properties import client_settings
from tidemark.connectors.kafka.records import (
    HEADERS,
    TIMESTAMP,
    TOPIC,
    AllowedTopics,
    KafkaRecords,
    MessagePart,
    Upserts,
)
from tidemark.connectors.kafka.sink_options import is_upsert, keeps_last
from tidemark.connectors.options import option_error
from tidemark.dialect.statements import MetadataColumn, PhysicalColumn
from tidemark.errors import PlanError
from tidemark.plan.tables import type_of

# The metadata that a sink writes, besides the topic if the table has several.
_WRITABLE = ("headers", "timestamp")


def brokers_of(target: Target) -> Brokers:
    return Brokers(client_settings(target.table, target.options))


def topic_of(target: Target) -> str | None:
    """Where all rows go; None if they say it."""
    topics: tuple[str, ...] = target.options["topic"] or ()
    return topics[0] if len(topics) == 1 else None


def encoding_of(target: Target) -> KafkaRecords:
    table, options = target.table, target.options
    format_ = FORMATS[value_format(options)]
    prefix = "" if options.get("format") else "value."
    of_value = _with_subject(options_of_format(options, prefix), format_, topic_of(target), "value")
    upserts = is_upsert(options)
    if not upserts:
        refuse_changelog(target, format_)
    format_.check_sink(table, of_value)
    fields = _Fields(target)
    of_key = None
    if options["key.format"] is not None:
        key = FORMATS[options["key.format"].lower()]
        of_key = fields.part(
            key,
            _with_subject(options_of_format(options, "key."), key, topic_of(target), "key"),
            key_columns(table, options),
            options["key.fields-prefix"],
        )
    metadata = fields.metadata()
    appends = target.changelog is Changelog.APPEND
    return KafkaRecords(
        key=of_key,
        value=fields.part(format_, of_value, value_columns(table, options)),
        kind=None if appends else len(target.columns),
        upserts=Upserts(keeps_last(options)) if upserts else None,
        topics=AllowedTopics(options["topic"] or (), options.get("topic-pattern")),
        topic=None if topic_of(target) is not None else _topic(table, metadata),
        timestamp=metadata.get(TIMESTAMP),
        headers=metadata.get(HEADERS),
        zone=target.zone,
    )


def _with_subject(
    options: Mapping[str, Any], format_: Format, topic: str | None, part: str
) -> Mapping[str, Any]:
    """With the name of the schema in a registry, which follows from the topic, as in Flink."""
    subject = f"{format_.name}.subject"
    if topic is None or options.get(subject, "") is not None:
        return options
    return {**options, subject: f"{topic}-{part}"}


def _topic(table: Table, metadata: Mapping[str, int]) -> int:
    if TOPIC not in metadata:
        raise PlanError(
            f"rows for `{table.name}` do not say which topic they go to",
            source=table.source,
            notes={"why": "the table has several topics"},
            hint="add a column `topic STRING NOT NULL METADATA` and write the name to it",
        )
    return metadata[TOPIC]


class _Fields:
    """The columns that an INSERT fills, in their order."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._columns = list(_filled(target.table))
        self._places = {column.name: place for place, column in enumerate(self._columns)}

    def part(
        self, format_: Format, options: Mapping[str, Any], names: Sequence[str], prefix: str = ""
    ) -> MessagePart:
        """The columns of these names in a format, with the types that the table declares: that a
        query never returns NULL must not change the schema of messages in Avro.
        """
        fields = [
            FormatField(
                name.removeprefix(prefix),
                self._target.columns[self._places[name]],
                type_of(self._columns[self._places[name]], self._target.table),
            )
            for name in names
        ]
        format_.check_messages(self._target.table, tuple(fields), options)
        self._check_encoder(format_, options)
        places = tuple(self._places[name] for name in names)
        return MessagePart(
            format_.name, places, tuple(t.Field(f.name, f.type) for f in fields), options
        )

    def _check_encoder(self, format_: Format, options: Mapping[str, Any]) -> None:
        if options.get("raw.charset", "UTF-8").upper() != "UTF-8":
            raise option_error(
                self._target.table,
                "raw.charset",
                "raw values are written to Kafka in UTF-8 only",
                hint="remove the option",
            )

    def metadata(self) -> dict[str, int]:
        """The places of metadata that rows bring along."""
        several = topic_of(self._target) is None
        allowed = (*_WRITABLE, TOPIC) if several else _WRITABLE
        found = {}
        for place, column in enumerate(self._columns):
            if isinstance(column, MetadataColumn):
                key = column.key or column.name
                if key not in allowed:
                    raise _not_writable(self._target.table, column, key, allowed)
                if not _can_be(key, self._target.types[place]):
                    raise _of_other_type(self._target.table, column, self._target.types[place], key)
                found[key] = place
        return found


def _filled(table: Table) -> Iterator[PhysicalColumn | MetadataColumn]:
    for column in table.columns:
        if isinstance(column, PhysicalColumn) or (
            isinstance(column, MetadataColumn) and not column.virtual
        ):
            yield column


def _can_be(key: str, type_: t.DataType) -> bool:
    """Whether values of a type become this metadata without a cast."""
    if key == TIMESTAMP:
        return isinstance(type_, t.TIMESTAMPS)
    if key == HEADERS:
        texts = (*t.CHARACTERS, *t.BINARIES)
        return (
            isinstance(type_, t.Map)
            and isinstance(type_.key, t.CHARACTERS)
            and isinstance(type_.value, texts)
        )
    return isinstance(type_, t.CHARACTERS)


def _of_other_type(table: Table, column: MetadataColumn, type_: t.DataType, key: str) -> PlanError:
    return PlanError(
        f"cannot write the metadata column `{column.name}` of `{table.name}`",
        at=column.span,
        source=table.source,
        notes={"type": type_.text(), "expected": METADATA[key].text()},
        hint=f"declare it {METADATA[key].text()}, and cast what is inserted",
    )


def _not_writable(
    table: Table, column: MetadataColumn, key: str, allowed: Sequence[str]
) -> PlanError:
    why = "it is read-only" if key in METADATA else "records have no such metadata"
    return PlanError(
        f"cannot write the metadata column `{column.name}` of `{table.name}`",
        at=column.span,
        source=table.source,
        notes={"why": why, "expected": f"one of {', '.join(allowed)}"},
        hint="declare it VIRTUAL",
    )
