"""The formats avro-confluent and debezium-avro-confluent: messages with the ID of their schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tidemark.catalog.tables import Changelog, Table
from tidemark.connectors.base import OptionSpec, Probe
from tidemark.connectors.formats.avro import not_in_avro
from tidemark.connectors.formats.base import Decode, Format, FormatField
from tidemark.connectors.options import option_error
from tidemark.connectors.unsupported import SCHEMA_TO_WRITE
from tidemark.errors import SetupError
from tidemark.schema_registry.settings import BadSetting, RegistrySettings
from tidemark.types import Field, Row

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def _options(format_: str) -> tuple[OptionSpec, ...]:
    def spec(name: str, summary: str, *, old: bool = False, **more: Any) -> OptionSpec:
        aliases = (f"{format_}.schema-registry.{name}",) if old else ()
        return OptionSpec(f"{format_}.{name}", summary=summary, aliases=aliases, **more)

    return (
        spec(
            "url", "the URL of the registry; several are separated by `,`", old=True, required=True
        ),
        spec("subject", "the subject of the schema; required for writing", old=True),
        spec("schema", "the schema to read or write with, instead of the table's", old=True),
        spec("ssl.truststore.location", "the trusted certificates: PEM or PKCS12"),
        spec("ssl.truststore.password", "the password of the truststore", secret=True),
        spec("ssl.keystore.location", "a key with its certificate: PEM or PKCS12"),
        spec("ssl.keystore.password", "the password of the keystore", secret=True),
        spec("basic-auth.credentials-source", "`USER_INFO` or `URL`", secret=False),
        spec("basic-auth.user-info", "`name:password`", secret=True),
        spec("bearer-auth.credentials-source", "`STATIC_TOKEN`", secret=False),
        spec("bearer-auth.token", "the token", secret=True),
        spec("properties", "additional settings, `name:value,name:value`", secret=True),
    )


def registry_probe(format_: str, options: Mapping[str, Any]) -> Iterator[Probe]:
    """Whether the registry of a format answers, if it has one."""
    if f"{format_}.url" not in options:
        return
    settings = RegistrySettings.of(format_, options)

    def answers() -> str:
        from tidemark.schema_registry.client import RegistryError, registry

        try:
            registry(settings).check()
        except RegistryError as problem:
            raise SetupError(
                f"cannot use the schema registry: {problem.why}", hint=problem.hint
            ) from None
        return "answers"

    yield Probe("schema registry", answers)


def _checker(
    format_: str, row: Callable[[Sequence[Field]], Row]
) -> Callable[[Table, tuple[FormatField, ...], Mapping[str, Any]], None]:
    def check(table: Table, fields: tuple[FormatField, ...], options: Mapping[str, Any]) -> None:
        try:
            RegistrySettings.of(format_, options)
        except BadSetting as bad:
            key = f"{format_}.{bad.option}"
            raise option_error(
                table, key, f"invalid value for option '{key}': {bad.why}", hint=bad.hint
            ) from None
        _check_types(table, format_, row([Field(f.name, f.type) for f in fields]), options)

    return check


def _check_types(table: Table, format_: str, row: Row, options: Mapping[str, Any]) -> None:
    from tidemark.formats.avro_reader_schema import table_type
    from tidemark.formats.avro_schema import BadSchema, NotInAvro, schema_of

    try:
        schema_of(row.fields)
    except NotInAvro as problem:
        raise not_in_avro(table, format_, problem) from None
    if (own := options[f"{format_}.schema"]) is None:
        return
    key = f"{format_}.schema"
    try:
        found = table_type(own)
    except BadSchema as problem:
        raise option_error(table, key, f"invalid schema: {problem}") from None
    # As in Flink, a record of a changelog may be null, and another one may not.
    found = found if row.nullable else found.with_nullable(False)
    if found != row:
        raise option_error(
            table,
            key,
            "the schema is not that of the table",
            notes={"schema": found.text(), "table": row.text()},
            hint="declare the columns with the types of the schema; what is not in a union with "
            "null is NOT NULL",
        )


def _sink_checker(format_: str) -> Callable[[Table, Mapping[str, Any]], None]:
    def check_sink(table: Table, options: Mapping[str, Any]) -> None:
        """A schema of the user's must have the bytes of the table's own."""
        from tidemark.formats.avro_reader_schema import has_bytes_of_table

        own = options[f"{format_}.schema"]
        if own is not None and not has_bytes_of_table(own):
            raise SCHEMA_TO_WRITE.error(None, source=table.source)

    return check_sink


def _not_in_files(format_: str) -> Callable[[Decode], DataFrame]:
    def read(decode: Decode) -> DataFrame:
        raise AssertionError(f"{format_} is refused in files")

    return read


def _format(
    name: str, row: Callable[[Sequence[Field]], Row], changelog: Changelog = Changelog.APPEND
) -> Format:
    return Format(
        name,
        _options(name),
        _checker(name, row),
        _not_in_files(name),
        check_sink=_sink_checker(name),
        changelog=changelog,
        only_messages=True,
    )


def _event(fields: Sequence[Field]) -> Row:
    from tidemark.formats.avro_debezium import event_of

    return event_of(fields)


def _record(fields: Sequence[Field]) -> Row:
    return Row(tuple(fields), nullable=False)


AVRO_CONFLUENT = _format("avro-confluent", _record)
DEBEZIUM_AVRO_CONFLUENT = _format("debezium-avro-confluent", _event, Changelog.RETRACT)
