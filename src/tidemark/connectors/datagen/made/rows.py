"""The rows of a table by their numbers, some at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import numpy as np
import polars as pl
import pyarrow as pa

from tidemark.columns import polars_type
from tidemark.connectors.base import Part
from tidemark.connectors.datagen.made.draws import Draws
from tidemark.connectors.datagen.made.random_values import Longs, RandomValues
from tidemark.connectors.datagen.made.sequences import sequence
from tidemark.connectors.datagen.sizes import bytes_of
from tidemark.types import DataType

# What is made at once: so many rows, unless they are large.
_ROWS: Final = 1 << 17
_BYTES: Final = 32 << 20


@dataclass(frozen=True, slots=True)
class MadeRows:
    """Makes the columns of a table, by their names in its DDL."""

    types: Mapping[str, DataType]
    options: Mapping[str, Any]
    seed: str
    zone: str
    # The rows of a second; None if all are made at the same time.
    rate: int | None

    def columns(self, part: Part, read: frozenset[str] | None = None) -> Iterator[list[pa.Array]]:
        """The rows with the numbers of a part. If some columns are read, others are NULL."""
        assert part.end is not None
        step = self._at_once()
        for first in range(part.start, part.end, step):
            numbers = np.arange(first, min(first + step, part.end), dtype=np.int64)
            now = self._times(numbers - part.start, part.made_ms)
            yield [
                pa.nulls(len(numbers))
                if read is not None and name not in read
                else self._column(name, numbers, now)
                for name in self.types
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

    def _at_once(self) -> int:
        each = self.types.items()
        size = sum(bytes_of(type_, f"fields.{name}", self.options) for name, type_ in each)
        return max(1, min(_ROWS, _BYTES // max(1, size)))

    def _column(self, name: str, numbers: Longs, now: Longs) -> pa.Array:
        path, type_ = f"fields.{name}", self.types[name]
        if self.options.get(f"{path}.kind") == "sequence":
            return sequence(type_, Decimal(self.options[f"{path}.start"]), numbers)
        draws = Draws(path, self.seed, numbers.astype(np.uint64))
        return RandomValues(self.options, self.zone, now).column(type_, draws)
