"""The parquet and orc formats: typed columns, found by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.catalog.tables import Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.formats.base import (
    ABOUT_FILES,
    Decode,
    Encode,
    FileWriter,
    Format,
    FormatField,
    raw_name,
)
from tidemark.connectors.formats.orc_times import with_times
from tidemark.connectors.formats.parquet_times import in_milliseconds
from tidemark.connectors.options import column_error
from tidemark.functions.spark_text import MAX_TIME_PRECISION, spark_type
from tidemark.functions.string_casts import to_timestamp_precision

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter
    from pyspark.sql import DataFrame

# A damaged page may have values, but others.
_CHECKED = {"parquet.page.verify-checksum.enabled": "true"}
_CODECS = {
    "parquet": ("UNCOMPRESSED", "SNAPPY", "GZIP", "LZ4", "ZSTD"),
    "orc": ("NONE", "SNAPPY", "ZLIB", "LZ4", "ZSTD"),
}


def _options(name: str) -> tuple[OptionSpec, ...]:
    key = "parquet.compression" if name == "parquet" else "orc.compress"
    return (
        OptionSpec(
            key, "enum", "SNAPPY", choices=_CODECS[name], summary="the compression of the files"
        ),
        OptionSpec(
            f"{name}.utc-timezone",
            "boolean",
            True,
            summary="accepted without effect; times in files are [those of UTC]"
            "(formats.md#parquet-and-orc)",
        ),
    )


def check(table: Table, fields: tuple[FormatField, ...], options: Mapping[str, Any]) -> None:
    seen: dict[str, str] = {}
    for field in fields:
        other = seen.setdefault(field.name.lower(), field.name)
        if other != field.name:
            message = f"columns `{other}` and `{field.name}` differ only in case"
            raise column_error(
                table, field.name, message, why="the format does not distinguish them"
            )
        if isinstance(field.type, t.INTERVALS):
            message = f"column `{field.name}` cannot be stored: it is {field.type.text()}"
            raise column_error(table, field.name, message, why="the format has no such type")


def reader(name: str) -> Any:
    def read(decode: Decode) -> DataFrame:
        by_arrow = _has_own_times if name == "orc" else has_times_of_day
        if by_arrow(decode.in_file):
            from tidemark.connectors.filesystem.decoded_files import decoded

            return decoded(decode, name, skips=False)
        from pyspark.sql.types import DataType, StructField, StructType

        schema = StructType(
            [StructField(f.name, DataType.fromDDL(spark_type(f.type))) for f in decode.fields]
        )
        frame = decode.open(name, schema, _CHECKED if name == "parquet" else {})
        cut = _at_precision if name == "parquet" else _unchanged
        columns = [f"{cut(raw_name(i), f.type)} AS {f.sql}" for i, f in enumerate(decode.fields)]
        return frame.selectExpr(*columns, *ABOUT_FILES)

    return read


def _at_precision(sql: str, type_: t.DataType) -> str:
    """Files may have more digits than the type, which Flink cuts off."""
    if not isinstance(type_, t.TIMESTAMPS):
        return sql
    return to_timestamp_precision(sql, replace(type_, precision=MAX_TIME_PRECISION), type_)


def _unchanged(sql: str, type_: t.DataType) -> str:
    return sql


def write(encode: Encode) -> DataFrame:
    from pyspark.sql import functions as f

    columns = [f.col(field.sql).alias(field.name) for field in encode.fields]
    return encode.frame.select(*columns, *encode.keep)


# Types that Arrow and Spark write the same way. So are instants in Parquet files without other
# times: Spark writes them for older systems, Arrow all times of a file one way or the other. LZ4
# has two variants in Parquet files. Of times in ORC files, Spark would write numbers.
_ALIKE = (
    t.Boolean,
    t.TinyInt,
    t.SmallInt,
    t.Int,
    t.BigInt,
    t.Float,
    t.Double,
    t.Decimal,
    t.Char,
    t.VarChar,
    t.Binary,
    t.VarBinary,
    t.Date,
)
_ALIKE_WITH_TIMES = (*_ALIKE, t.Timestamp)


def _is_alike(type_: t.DataType) -> bool:
    return all(isinstance(each, (*_ALIKE_WITH_TIMES, *_NESTED)) for each in t.with_parts(type_))


_NESTED = (t.Array, t.Map, t.Row)


def _has_own_times(fields: tuple[FormatField, ...]) -> bool:
    """Whether Arrow reads and writes files with times that are ORC's own, as Flink does. Spark
    reads none of these into TIMESTAMP, and Flink no files with other types.
    """
    return any(isinstance(each, t.Timestamp) for each in _parts(fields)) and all(
        _is_alike(field.type) for field in fields
    )


def has_times_of_day(fields: tuple[FormatField, ...]) -> bool:
    """Whether Arrow reads and writes Parquet files with these columns. Of TIME, Spark reads none
    that Flink has written, and Flink none that Spark has.
    """
    return any(isinstance(each, t.Time) for each in _parts(fields))


def _parts(fields: tuple[FormatField, ...]) -> list[t.DataType]:
    return [each for field in fields for each in t.with_parts(field.type)]


def parquet_by_arrow(
    fields: tuple[FormatField, ...], options: Mapping[str, Any]
) -> FileWriter | None:
    compression = options["parquet.compression"].lower()
    instants = any(isinstance(field.type, t.TimestampLtz) for field in fields)
    times = any(isinstance(each, t.Timestamp) for each in _parts(fields))
    if not has_times_of_day(fields):
        if compression == "lz4" or (instants and times):
            return None
        if not all(isinstance(f.type, t.TimestampLtz) or _is_alike(f.type) for f in fields):
            return None
    codec = "none" if compression == "uncompressed" else compression
    of_format = tuple(t.Field(field.name, field.type) for field in fields)
    return _ParquetFiles(of_format, codec, instants and not times)


@dataclass(frozen=True, slots=True)
class _ParquetFiles:
    fields: tuple[t.Field, ...]
    compression: str
    instants: bool

    def encoded(self, rows: pa.Table) -> pa.Table:
        return in_milliseconds(
            rows.rename_columns([each.name for each in self.fields]), self.fields
        )

    def start(self, file: pa.NativeFile) -> _ParquetFile:
        return _ParquetFile(file, self.compression, self.instants)


class _ParquetFile:
    """A file with a row group for each table that is added."""

    def __init__(self, file: pa.NativeFile, compression: str, instants: bool) -> None:
        self._file, self._compression, self._instants = file, compression, instants
        self._writer: ParquetWriter | None = None

    def add(self, rows: pa.Table) -> None:
        from pyarrow.parquet import ParquetWriter

        if self._writer is None:
            self._writer = ParquetWriter(
                self._file,
                rows.schema,
                compression=self._compression,
                store_decimal_as_integer=True,
                # For older systems, as Spark and Flink do.
                use_deprecated_int96_timestamps=self._instants,
                write_page_checksum=True,
            )
        self._writer.write_table(rows, rows.num_rows)

    def finish(self) -> None:
        if self._writer is not None:
            self._writer.close()


def orc_by_arrow(fields: tuple[FormatField, ...], options: Mapping[str, Any]) -> FileWriter | None:
    if not all(_is_alike(field.type) for field in fields):
        return None
    compression = options["orc.compress"].lower()
    codec = "uncompressed" if compression == "none" else compression
    return _OrcFiles(tuple(field.name for field in fields), codec, _stripe(options))


def _stripe(options: Mapping[str, Any]) -> int:
    """The size of a stripe before it is compressed, which is held in memory. A file grows with each
    stripe.
    """
    enough: int = options["sink.rolling-policy.file-size"]
    return min(64 << 20, enough)


@dataclass(frozen=True, slots=True)
class _OrcFiles:
    names: tuple[str, ...]
    compression: str
    stripe: int  # bytes

    def encoded(self, rows: pa.Table) -> pa.Table:
        return with_times(rows.rename_columns(self.names))

    def start(self, file: pa.NativeFile) -> _OrcFile:
        return _OrcFile(file, self.compression, self.stripe)


class _OrcFile:
    """A file whose stripes end where enough rows were added."""

    def __init__(self, file: pa.NativeFile, compression: str, stripe: int) -> None:
        from pyarrow.orc import ORCWriter

        self._writer = ORCWriter(file, compression=compression, stripe_size=stripe)

    def add(self, rows: pa.Table) -> None:
        self._writer.write(rows)

    def finish(self) -> None:
        self._writer.close()


PARQUET = Format(
    "parquet",
    _options("parquet"),
    check,
    reader("parquet"),
    write,
    by_arrow=parquet_by_arrow,
    only_by_arrow=has_times_of_day,
    spark_source="parquet",
)
ORC = Format(
    "orc",
    _options("orc"),
    check,
    reader("orc"),
    write,
    by_arrow=orc_by_arrow,
    only_by_arrow=_has_own_times,
    spark_source="orc",
)
