"""The rows of a table by their numbers, some at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tidemark.columns import polars_type
from tidemark.connectors.base import Part
from tidemark.types import DataType

Longs: TypeAlias = npt.NDArray[np.int64]

# What is made at once: so many rows, unless they are large.
_ROWS: Final = 1 << 17
_BYTES: Final = 32 << 20


class ColumnMaker(Protocol):
    """What makes the values of a table's columns. It is sent to workers."""

    def column(self, name: str, type_: DataType, numbers: Longs, now: Longs) -> pa.Array:
        """Those of the rows with these numbers, which are made at times in milliseconds."""
        ...


@dataclass(frozen=True, slots=True)
class MadeRows:
    """Makes the columns of a table, by their names in its DDL."""

    types: Mapping[str, DataType]
    values: ColumnMaker
    row_bytes: int
    # The rows of a second; None if all are made at the same time.
    rate: int | None

    def columns(self, part: Part, read: frozenset[str] | None = None) -> Iterator[list[pa.Array]]:
        """The rows with the numbers of a part. If some columns are read, others are NULL."""
        assert part.end is not None
        step = max(1, min(_ROWS, _BYTES // max(1, self.row_bytes)))
        for first in range(part.start, part.end, step):
            numbers = np.arange(first, min(first + step, part.end), dtype=np.int64)
            now = self._times(numbers - part.start, part.made_ms)
            yield [
                pa.nulls(len(numbers))
                if read is not None and name not in read
                else self.values.column(name, type_, numbers, now)
                for name, type_ in self.types.items()
            ]

    def _times(self, passed: Longs, first_ms: int) -> Longs:
        """When rows are made, by how many there are between them and the first."""
        if self.rate is None:
            return np.full(len(passed), first_ms, dtype=np.int64)
        return first_ms + passed * 1000 // self.rate

    def frames(
        self, part: Part, names: tuple[str, ...], read: frozenset[str] | None
    ) -> Iterator[pl.DataFrame]:
        """The same in Polars, under other names."""
        types = [polars_type(type_) for type_ in self.types.values()]
        for columns in self.columns(part, read):
            each = zip(names, columns, types, strict=True)
            yield pl.DataFrame([pl.Series(name, made).cast(dtype) for name, made, dtype in each])
