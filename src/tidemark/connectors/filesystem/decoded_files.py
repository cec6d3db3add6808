"""Files that Spark lists and workers decode, as rows of Spark: for formats that Spark does not
read, or not as Flink does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from tidemark import types as t
from tidemark.connectors.base import Part
from tidemark.connectors.filesystem.files_columns import reading
from tidemark.connectors.formats.base import ABOUT_FILES, Decode, FormatField, Open, raw_name
from tidemark.connectors.sent_types import received, sent
from tidemark.functions.arrow_types import loose_arrow
from tidemark.storage import Access, scheme_of

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

# Whether the row only counts a bad record that was left out.
_SKIPPED: Final = "_tm_skipped"
_AT_ONCE: Final = 1 << 16


# What Arrow opens with the settings of Spark. From elsewhere, workers get what is in the files.
_BY_ARROW: Final = {None, "file", "s3", "s3a", "abfs", "abfss"}
# The last of the columns that Spark has of files.
_CONTENT: Final = raw_name(3)


def listed(open_: Open) -> DataFrame:
    """A row for each file, as `ABOUT_FILES`; what is in them is not read."""
    return _files(open_).select(*ABOUT_FILES)


def _files(open_: Open) -> DataFrame:
    from pyspark.sql import types as s

    known = {
        "path": s.StringType(),
        "modificationTime": s.TimestampType(),
        "length": s.LongType(),
        "content": s.BinaryType(),
    }
    schema = s.StructType([s.StructField(name, type_) for name, type_ in known.items()])
    return open_("binaryFile", schema, {})


def decoded(decode: Decode, format_: str, *, skips: bool) -> DataFrame:
    """The rows of files, each of which one worker reads. If bad records are skipped, they are
    counted.
    """
    about = listed(decode.open)
    opened = scheme_of(decode.options["path"]) in _BY_ARROW
    files = about if opened else _files(decode.open).select(*ABOUT_FILES, _CONTENT)
    fields = [replace(field, type=sent(field.type)) for field in decode.fields]
    read = _Files(format_, decode.in_file, decode.read, decode.options, decode.access)
    rows = files.mapInArrow(read, _schema(fields, about.schema))
    if skips:
        rows = decode.count_skipped(rows, _SKIPPED).where(f"NOT {_SKIPPED}")
    columns = [
        f"{received(raw_name(i), field.type)} AS {field.sql}"
        for i, field in enumerate(decode.fields)
    ]
    return rows.selectExpr(*columns, *ABOUT_FILES)


def _schema(fields: list[FormatField], about: StructType) -> StructType:
    from pyspark.sql.types import BooleanType, StructField, StructType

    from tidemark.spark.types import to_spark

    return StructType(
        [
            *(StructField(raw_name(i), to_spark(field.type)) for i, field in enumerate(fields)),
            *about.fields,
            StructField(_SKIPPED, BooleanType()),
        ]
    )


@dataclass(frozen=True, slots=True)
class _Files:
    """Decodes the files of a partition, for `DataFrame.mapInArrow`."""

    format: str
    fields: tuple[FormatField, ...]
    read: frozenset[str]
    options: Mapping[str, Any]
    access: Access

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for i in range(batch.num_rows):
                yield from self._rows_of(batch.slice(i, 1))

    def _rows_of(self, file: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        about, skipped = file.select(list(ABOUT_FILES)), 0

        def count(_: int, bad: int) -> None:
            nonlocal skipped
            skipped += bad

        read = reading(self.format, self.fields, self.options, read=self.read, count=count)
        types = [each.type for each in self.fields if each.name in self.read]
        content = file.column(_CONTENT)[0].as_py() if _CONTENT in file.schema.names else None
        part = Part(about.column(0)[0].as_py(), access=self.access, content=content)
        for rows, _ in read(part):
            yield _batch([*map(_to_send, rows, types)], about, skipped=False)
        for start in range(0, skipped, _AT_ONCE):
            size = min(_AT_ONCE, skipped - start)
            yield _batch([_nothing(type_, size) for type_ in types], about, skipped=True)


def _to_send(column: pl.Series, type_: t.DataType) -> pa.Array:
    import polars as pl

    values = column.to_arrow(compat_level=pl.CompatLevel.oldest())
    return values.cast(loose_arrow(type_)).cast(loose_arrow(sent(type_)))


def _nothing(type_: t.DataType, size: int) -> pa.Array:
    import pyarrow as pa

    return pa.nulls(size, loose_arrow(sent(type_)))


def _batch(columns: list[pa.Array], about: pa.RecordBatch, *, skipped: bool) -> pa.RecordBatch:
    """The columns, with what is known of their file beside them."""
    import pyarrow as pa

    known = [*(column[0] for column in about.columns), pa.scalar(skipped)]
    beside = [pa.repeat(each, len(columns[0])) for each in known]
    names = [*map(raw_name, range(len(columns))), *about.schema.names, _SKIPPED]
    return pa.RecordBatch.from_arrays([*columns, *beside], names=names)
