"""What `tidemark doctor` asks of brokers: topics, rights, and whether the newest records fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from tidemark.connectors.base import ColumnsRequest, Doubt, Part, Probe, TableUse
from tidemark.connectors.formats.avro_confluent import registry_probe
from tidemark.connectors.kafka.client import Topics, client_library
from tidemark.connectors.kafka.options import options_of_format, value_format
from tidemark.connectors.kafka.positions import TopicPartition
from tidemark.connectors.kafka.properties import client_settings
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import JobError, SetupError

if TYPE_CHECKING:
    import polars as pl

_SECONDS: Final = 10
_NEWEST: Final = 100
_PARTITIONS: Final = 4


def probes(use: TableUse) -> Iterator[Probe]:
    options = use.options
    settings = client_settings(use.table, options)
    topics = Topics(settings, options["topic"] or (), options.get("topic-pattern"), _SECONDS)
    yield Probe("topic", lambda: _found(topics, use))
    yield Probe("rights", lambda: _rights(topics, use))
    yield from _registries(options)
    if use.reading is not None:
        reading = use.reading
        yield Probe("newest records", lambda: _newest(topics, reading))


def _found(topics: Topics, use: TableUse) -> str | Doubt:
    brokers = topics.settings["bootstrap.servers"]
    keys = topics.partitions()
    if not keys:
        return Doubt(f"no topic at {brokers} fits '{topics.pattern}'", "correct 'topic-pattern'")
    names = _names(keys)
    several = "s" if len(keys) > 1 else ""
    return f"{', '.join(names)} at {brokers}, {len(keys)} partition{several}"


def _names(keys: Iterable[TopicPartition]) -> list[str]:
    return sorted({topic for topic, _ in keys})


# --- rights ------------------------------------------------------------------------------------


def _rights(topics: Topics, use: TableUse) -> str | Doubt:
    wanted = [*["READ"] * (use.reading is not None), *["WRITE"] * use.writes]
    for topic, granted in _granted(topics.settings, _names(topics.partitions())).items():
        if granted is None:
            return Doubt("the brokers do not say which rights this user has")
        for right in wanted:
            if right not in granted:
                raise SetupError(
                    f"this user may not {right} topic '{topic}'",
                    notes={"rights": ", ".join(sorted(granted)) or "none"},
                    hint=f"grant it: kafka-acls.sh --add --operation {right} --topic {topic} ...",
                )
    return " and ".join(wanted)


def _granted(settings: Mapping[str, str], names: list[str]) -> dict[str, set[str] | None]:
    """The operations that each topic allows; None if the brokers do not know."""
    library = client_library()
    from confluent_kafka.admin import AdminClient

    if not names:
        return {}
    try:
        admin = AdminClient({**settings, "log_level": 0})
        asked = admin.describe_topics(
            library.TopicCollection(names),
            include_authorized_operations=True,
            request_timeout=_SECONDS,
        )
        found = {name: future.result() for name, future in asked.items()}
    except library.KafkaException as problem:
        raise JobError(
            "cannot describe the topics",
            notes={"why": problem.args[0].str()},
            hint="grant this user the right to DESCRIBE them",
        ) from None
    return {
        name: None
        if about.authorized_operations is None
        else {operation.name for operation in about.authorized_operations}
        for name, about in found.items()
    }


# --- registries --------------------------------------------------------------------------------


def _registries(options: Mapping[str, Any]) -> Iterator[Probe]:
    """Those of values and keys."""
    yield from registry_probe(
        value_format(options),
        options_of_format(options, "" if options.get("format") else "value."),
    )
    if options["key.format"] is not None:
        yield from registry_probe(options["key.format"].lower(), options_of_format(options, "key."))


# --- records -----------------------------------------------------------------------------------


def _newest(topics: Topics, reading: ColumnsRequest) -> str | Doubt:
    """Decodes them as a job would, whose error names the offset of a record that does not fit."""
    import polars as pl

    from tidemark.connectors.kafka.rows import KafkaColumns

    counted = [0, 0]

    def count(rows: int, skipped: int) -> None:
        counted[0] += rows
        counted[1] += skipped

    columns = KafkaColumns(replace(reading, count=count))
    parts = _newest_parts(topics)
    frames = [*columns.read(parts)]
    rows, skipped = counted
    if skipped:
        return Doubt(
            f"{skipped} of {rows + skipped} cannot be read and are skipped",
            "see why without 'ignore-parse-errors'",
        )
    if not frames:
        return "none yet" if not parts else "none has a row"
    if empty := _always_null(reading, pl.concat(frames)):
        columns_are = "columns are" if len(empty) > 1 else "column is"
        return Doubt(
            f"of {rows} read, the {columns_are} always NULL: {', '.join(empty)}",
            "compare names and types with the fields of the records",
        )
    return f"{rows} read, as '{value_format(reading.options)}'"


def _newest_parts(topics: Topics) -> list[Part]:
    earliest, latest = topics.bounds(topics.partitions())
    filled = [key for key in sorted(latest) if latest[key] > earliest[key]]
    return [
        Part(
            "",
            max(earliest[topic, number], latest[topic, number] - _NEWEST),
            latest[topic, number],
            topic=topic,
            partition=number,
        )
        for topic, number in filled[:_PARTITIONS]
    ]


def _always_null(reading: ColumnsRequest, rows: pl.DataFrame) -> list[str]:
    """The columns that a query reads and no record has."""
    names = [c.name for c in reading.table.columns if isinstance(c, PhysicalColumn)]
    return [
        name
        for name, column in zip(names, reading.columns, strict=False)
        if (reading.read is None or name in reading.read) and rows[column].is_null().all()
    ]
