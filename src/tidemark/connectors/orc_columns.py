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
    misfit,
    names_in,
    nulls,
    reads,
)
from tidemark.connectors.file_blocks import Unchanged, readable, unreadable
from tidemark.connectors.formats.base import FormatField
from tidemark.errors import DataError

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
            file = _opened(part.file)
            schema = file.schema
            if (wrong := _misfit(schema, self.fields)) is not None:
                raise DataError(f"{part.file}  {wrong}", hint=ON_SPARK)
            names = names_in(schema, self.fields)
            for stripe in _stripes(file, part):
                unchanged.check()
                for rows in self._rows(file, stripe, names):
                    if self.count is not None:
                        self.count(rows.height, 0)
                    yield rows, {}
        except (pa.ArrowException, OSError) as problem:
            raise unreadable(part.file, str(problem)) from None

    def _rows(
        self, file: ORCFile, stripe: int, names: Sequence[str | None]
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
            rows = pl.from_arrow(piece)
            assert isinstance(rows, pl.DataFrame)
            yield rows.select(map(column, self.fields, names))


def fit(files: Sequence[str], fields: Sequence[FormatField]) -> bool:
    """Whether the columns of all files have types that are read without a cast of values.

    Times of ORC are left to Spark: in Arrow's nanoseconds they would end in the year 2262.
    """
    import pyarrow as pa

    try:
        for name in files:
            schema = _opened(name).schema
            found = [schema.field(each).type for each in names_in(schema, fields) if each]
            if any(map(pa.types.is_timestamp, found)) or _misfit(schema, fields) is not None:
                return False
    except (pa.ArrowException, OSError, DataError):
        return True  # which is for the worker that reads the file to say
    return True


def _misfit(schema: pa.Schema, fields: Sequence[FormatField]) -> str | None:
    if schema.names and all(name.startswith("_col") for name in schema.names):
        return "the file's columns have no names, as old versions of Hive wrote them"
    return misfit(schema, fields, _fits)


def _fits(name: str, found: pa.DataType, wanted: t.DataType) -> bool:
    import pyarrow as pa

    if isinstance(wanted, t.Timestamp):
        # Spark writes them as microseconds.
        return found in (pa.timestamp("ns"), pa.int64())
    if isinstance(wanted, t.TimestampLtz):
        # A time without a zone is one in the zone of its writer, which Arrow does not say.
        return bool(found == pa.timestamp("ns", "UTC"))
    return reads(found, wanted)


def _opened(file: str) -> ORCFile:
    from pyarrow import orc

    with readable(file):
        if os.path.getsize(file) == 0:
            raise unreadable(file, "it is empty; even without rows an orc file has a footer")
        return orc.ORCFile(file)


def _stripes(file: ORCFile, part: Part) -> list[int]:
    """The stripes of a part. Where one begins is not known, but they are about the same size."""
    starts = [file.file_length * stripe // file.nstripes for stripe in range(file.nstripes)]
    end = part.end
    return [
        stripe
        for stripe, start in enumerate(starts)
        if part.start <= start and (end is None or start < end)
    ]
