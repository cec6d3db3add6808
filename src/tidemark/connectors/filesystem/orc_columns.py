"""ORC files as columns: by stripes, with only the columns and types of the table."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.connectors.base import Part
from tidemark.connectors.columns_by_name import (
    ON_SPARK,
    ROWS,
    column,
    frame_of,
    misfit,
    names_in,
    nulls,
    reads,
)
from tidemark.connectors.filesystem.file_blocks import Unchanged, opened, readable, unreadable
from tidemark.connectors.filesystem.layouts import Layout, RowGroup
from tidemark.connectors.formats.base import FormatField
from tidemark.errors import DataError
from tidemark.functions.spark_text import safe_names
from tidemark.storage import is_local

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyarrow.orc import ORCFile


@dataclass(frozen=True, slots=True)
class OrcColumns:
    """Reads the columns of these names; those that a file lacks are NULL."""

    fields: tuple[FormatField, ...]
    count: Callable[[int, int], None] | None = None

    def __call__(self, part: Part) -> Iterator[tuple[pl.DataFrame, Mapping[str, pl.Series]]]:
        import pyarrow as pa

        unchanged = Unchanged(part)
        try:
            if _has_nothing(part):
                return
            file = _opened(part)
            schema = file.schema
            if (wrong := _misfit(schema, self.fields)) is not None:
                raise DataError(f"{part.file}  {wrong}", hint=ON_SPARK)
            names = names_in(schema, self.fields)
            for stripe in _stripes(file, part):
                unchanged.check()
                for rows in self._rows(file, schema, stripe, names):
                    if self.count is not None:
                        self.count(rows.height, 0)
                    yield rows, {}
        except (pa.ArrowException, OSError) as problem:
            raise unreadable(part.file, str(problem), _hint(str(problem))) from None

    def _rows(
        self, file: ORCFile, schema: pa.Schema, stripe: int, names: Sequence[str | None]
    ) -> Iterator[pl.DataFrame]:
        import polars as pl

        wanted = [name for name in names if name is not None]
        # Without a column, a stripe would have no rows.
        batch = file.read_stripe(stripe, wanted or file.schema.names[:1])
        for start in range(0, batch.num_rows, ROWS):
            piece = batch.slice(start, ROWS)
            if not wanted:
                yield nulls(self.fields, piece.num_rows)
                continue
            shaped = [
                _by_name(pl.col(name), schema.field(name).type, field.type).alias(name)
                for field, name in zip(self.fields, names, strict=True)
                if name is not None
            ]
            yield frame_of(piece).select(shaped).select(map(column, self.fields, names))


def _hint(problem: str) -> str | None:
    if "out of range for nanosecond" not in problem:
        return None
    return "times of ORC are read from 1677 to 2262; write others to parquet, or as BIGINT"


def _misfit(schema: pa.Schema, fields: Sequence[FormatField]) -> str | None:
    if schema.names and all(name.startswith("_col") for name in schema.names):
        return "the file's columns have no names, as old versions of Hive wrote them"
    return misfit(schema, fields, _fits)


def _fits(name: str, found: pa.DataType, wanted: t.DataType) -> bool:
    import pyarrow as pa

    if isinstance(wanted, t.TimestampLtz):
        # A time without a zone is one in the zone of its writer, which Arrow does not say.
        return bool(found == pa.timestamp("ns", "UTC"))
    return reads(_as_read(found, wanted), wanted)


def _as_read(found: pa.DataType, wanted: t.DataType) -> pa.DataType:
    """The type with what is wanted in place of what is read as it: TIMESTAMP is nanoseconds in
    files, or the number of microseconds, as Spark writes it; and rows have their fields by name.
    """
    import pyarrow as pa

    from tidemark.functions.arrow_types import to_arrow

    match wanted:
        case t.Timestamp() if found in (pa.timestamp("ns"), pa.int64()):
            return pa.timestamp("us")
        case t.Array(element=element) if pa.types.is_list(found):
            if _reads(found.value_type, element):
                return to_arrow(wanted)
        case t.Map(key=key, value=value) if pa.types.is_map(found):
            return pa.map_(_as_read(found.key_type, key), _as_read(found.item_type, value))
        case t.Row(fields=fields) if pa.types.is_struct(found):
            there = {each.name.lower(): each.type for each in found}
            inside = [(each, there.get(each.name.lower())) for each in fields]
            if any(own is not None and not _reads(own, each.type) for each, own in inside):
                return found
            return to_arrow(wanted)
    return found


def _reads(found: pa.DataType, wanted: t.DataType) -> bool:
    return reads(_as_read(found, wanted), wanted)


def _by_name(value: pl.Expr, found: pa.DataType, wanted: t.DataType) -> pl.Expr:
    """The value with the fields of its rows as they are wanted."""
    import polars as pl
    import pyarrow as pa

    if not any(isinstance(each, t.Row) for each in t.with_parts(wanted)):
        return value
    match wanted:
        case t.Array(element=element) if pa.types.is_list(found):
            return value.list.eval(_by_name(pl.element(), found.value_type, element))
        case t.Row(fields=fields) if pa.types.is_struct(found):
            names = safe_names([field.name for field in fields])
            inside = [
                _field(value, found, field).alias(name)
                for name, field in zip(names, fields, strict=True)
            ]
            return pl.when(value.is_not_null()).then(pl.struct(inside))
    return value


def _field(row: pl.Expr, found: pa.StructType, wanted: t.Field) -> pl.Expr:
    """A field of rows; one that a file lacks is NULL."""
    import polars as pl

    from tidemark.columns import polars_type

    names = [each.name for each in found]
    for own, safe in zip(found, safe_names(names), strict=True):
        if own.name.lower() == wanted.name.lower():
            return _by_name(row.struct.field(safe), own.type, wanted.type)
    return pl.lit(None, polars_type(wanted.type))


def _opened(part: Part) -> ORCFile:
    from pyarrow import orc

    file = part.file
    with readable(file):
        if not is_local(file) or part.content is not None:
            return orc.ORCFile(opened(part))
        return orc.ORCFile(file)


def _has_nothing(part: Part) -> bool:
    """Whether not even a footer is there, which Flink takes for no rows."""
    if part.content is not None:
        return not len(part.content)
    with readable(part.file):
        return is_local(part.file) and os.path.getsize(part.file) == 0


def _stripes(file: ORCFile, part: Part) -> list[int]:
    """The stripes of a part. Where one begins is not known, but they are about the same size."""
    end = part.end
    return [
        stripe
        for stripe, start in enumerate(_starts(file))
        if part.start <= start and (end is None or start < end)
    ]


def _starts(file: ORCFile) -> list[int]:
    return [file.file_length * stripe // file.nstripes for stripe in range(file.nstripes)]


def layouts(files: Sequence[str], read: OrcColumns) -> list[Layout]:
    """About where the stripes of files begin, and about how many rows they have. Arrow does not
    show the statistics of stripes.
    """
    return [_layout(file, read) for file in files]


def _layout(file: str, read: OrcColumns) -> Layout:
    import pyarrow as pa

    try:
        if _has_nothing(Part(file)):
            return Layout(groups=[])
        opened = _opened(Part(file))
    except (pa.ArrowException, OSError, DataError):
        return Layout()
    if _misfit(opened.schema, read.fields) is not None:
        return Layout(fits=False)
    starts = _starts(opened)
    return Layout(groups=[RowGroup(start, opened.nrows // len(starts)) for start in starts])
