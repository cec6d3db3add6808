"""The avro format: container files, written and read by workers."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tidemark.catalog.tables import Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.formats.base import Decode, FileWriter, Format, FormatField
from tidemark.connectors.options import column_error
from tidemark.errors import PlanError
from tidemark.types import Field

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_CODEC: Final = "avro.codec"
_LEGACY: Final = "avro.timestamp_mapping.legacy"
_CODECS: Final = ("null", "deflate", "snappy", "bzip2", "xz", "zstandard")

OPTIONS = (
    OptionSpec(_CODEC, "enum", "snappy", choices=_CODECS, summary="the compression of the files"),
    OptionSpec(
        _LEGACY,
        "boolean",
        True,
        summary="whether TIMESTAMP is written as Avro's `timestamp-millis`, or else as "
        "`local-timestamp-millis`; both are read",
    ),
)


def check(table: Table, fields: tuple[FormatField, ...], options: Mapping[str, Any]) -> None:
    """In files, Flink restricts types as in the legacy mapping whatever the option says."""
    _check(table, fields, legacy=True)


def check_messages(
    table: Table, fields: tuple[FormatField, ...], options: Mapping[str, Any]
) -> None:
    _check(table, fields, legacy=options[_LEGACY])


def _check(table: Table, fields: tuple[FormatField, ...], *, legacy: bool) -> None:
    from tidemark.formats.avro_schema import BadSchema, NotInAvro, parsed, schema_of

    try:
        schema = schema_of([Field(field.name, field.type) for field in fields], legacy=legacy)
        parsed(json.dumps(schema))
    except (NotInAvro, BadSchema) as problem:
        raise not_in_avro(table, "avro", problem) from None


def not_in_avro(table: Table, format_: str, problem: Exception) -> PlanError:
    """The error for columns that have no schema, together or one of them."""
    from tidemark.formats.avro_schema import NotInAvro

    column, hint = "", None
    if isinstance(problem, NotInAvro):
        column, hint = problem.column, problem.hint
    what = f"column `{column}`" if column else "the columns"
    message = f"the {format_} format cannot represent {what}"
    return column_error(table, column, message, why=f"{problem}; same in Flink", hint=hint)


def read(decode: Decode) -> DataFrame:
    from tidemark.connectors.filesystem.decoded_files import decoded

    return decoded(decode, "avro", skips=False)


def by_arrow(fields: tuple[FormatField, ...], options: Mapping[str, Any]) -> FileWriter:
    of_format = tuple(Field(field.name, field.type) for field in fields)
    return _AvroFiles(of_format, options[_CODEC].lower(), options[_LEGACY])


@dataclass(frozen=True, slots=True)
class _AvroFiles:
    fields: tuple[Field, ...]
    codec: str
    legacy: bool

    def encoded(self, rows: pa.Table) -> pa.Table:
        import polars as pl
        import pyarrow as pa

        from tidemark.formats.avro_encode import records

        frame = pl.from_arrow(rows)
        assert isinstance(frame, pl.DataFrame)
        return pa.table([records(frame, self.fields, in_files=True)], ["record"])

    def start(self, file: pa.NativeFile) -> _AvroFile:
        return _AvroFile(file, self)


class _AvroFile:
    """A file that gets a block whenever it has enough records for one."""

    def __init__(self, file: pa.NativeFile, about: _AvroFiles) -> None:
        from tidemark.formats import avro_container as container
        from tidemark.formats.avro_schema import schema_of

        self._file, self._codec = file, about.codec
        self._marker = secrets.token_bytes(container.MARKER)
        self._waiting: list[pa.LargeBinaryArray] = []
        self._size = 0
        schema = schema_of(about.fields, legacy=about.legacy, in_files=True)
        file.write(container.header(schema, about.codec, self._marker))

    def add(self, rows: pa.Table) -> None:
        from tidemark.formats.avro_container import BLOCK

        for records in rows.column(0).chunks:
            self._waiting.append(records)
            self._size += records.nbytes
        if self._size >= BLOCK:
            self._write()

    def finish(self) -> None:
        if self._waiting:
            self._write()

    def _write(self) -> None:
        import pyarrow as pa

        from tidemark.formats import avro_container as container
        from tidemark.formats.avro_encode import in_blocks

        records = pa.concat_arrays(self._waiting)
        for count, content in in_blocks(records, container.BLOCK):
            self._file.write(container.block(count, content, self._codec, self._marker))
        self._waiting, self._size = [], 0


AVRO = Format("avro", OPTIONS, check, read, by_arrow=by_arrow, messages_differ=check_messages)
