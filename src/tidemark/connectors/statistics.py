"""Groups of rows that a scan need not read, because what is known of their columns excludes that a
row meets its conditions.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.connectors.base import ColumnsRequest
from tidemark.connectors.columns_by_name import column, frame_of
from tidemark.connectors.formats.base import FormatField
from tidemark.connectors.possible_rows import PARTS, Possible
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import DataError
from tidemark.plan.expressions import Expression, references

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from tidemark.columns import Program


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """What is known of a column: a value for each group of rows, NULL if it is not known."""

    low: pl.Series
    high: pl.Series
    nulls: pl.Series
    values: pl.Series

    @classmethod
    def counted(
        cls,
        low: pl.Series,
        high: pl.Series,
        nulls: Sequence[int | None],
        rows: Sequence[int | None],
    ) -> ColumnStatistics:
        """With the numbers of NULLs and of rows."""
        import polars as pl

        some = [None if count is None else count > 0 for count in nulls]
        others = [
            None if count is None or all_ is None else count < all_
            for count, all_ in zip(nulls, rows, strict=True)
        ]
        test = pl.Boolean()
        return cls(low, high, pl.Series(some, dtype=test), pl.Series(others, dtype=test))

    @classmethod
    def unknown(cls, type_: t.DataType, groups: int) -> ColumnStatistics:
        low = unknown_bound(type_, groups)
        return cls.counted(low, low, [None] * groups, [None] * groups)


def bounds_of(values: pa.Array, field: FormatField) -> pl.Series:
    """Bounds of a file, as its values become values of the table."""
    import polars as pl
    import pyarrow as pa

    try:
        batch = pa.RecordBatch.from_arrays([values], [field.name])
        [found] = frame_of(batch).select(column(field, field.name))
    except (pa.ArrowException, pl.exceptions.PolarsError):
        return unknown_bound(field.type, len(values))
    return found


def unknown_bound(type_: t.DataType, groups: int) -> pl.Series:
    import polars as pl

    from tidemark.columns import polars_type

    return pl.Series([None] * groups, dtype=polars_type(type_))


@dataclass(frozen=True)
class StatisticsTest:
    """Tests groups of rows by their statistics."""

    conditions: tuple[Expression, ...]
    names: tuple[str, ...]  # of the columns that the conditions refer to
    types: tuple[t.DataType, ...]
    zone: str
    now: dt.datetime

    @classmethod
    def of(cls, request: ColumnsRequest) -> StatisticsTest:
        columns = request.table.columns
        names = tuple(column.name for column in columns if isinstance(column, PhysicalColumn))
        return cls(request.conditions, names, request.types, request.zone, request.now)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns whose statistics matter. Without any, all groups are needed."""
        return tuple(self.names[place] for place in self._places)

    @property
    def fields(self) -> list[FormatField]:
        return [FormatField(self.names[n], self.names[n], self.types[n]) for n in self._places]

    def may_have_rows(self, known: Mapping[str, ColumnStatistics], groups: int) -> list[bool]:
        """Whether each of so many groups may have rows that meet the conditions. Of other columns
        nothing is known.
        """
        import polars as pl

        if not self.columns or not groups:
            return [True] * groups
        frame = pl.DataFrame([*self._statistics(known, groups)])
        names = [f"met {place}" for place in range(len(self._program.values))]
        try:
            met = self._program.over(frame, names).rows()
        except (DataError, pl.exceptions.PolarsError):
            return [True] * groups  # it is reported where rows are filtered
        return [False not in row for row in met]

    def _statistics(
        self, known: Mapping[str, ColumnStatistics], groups: int
    ) -> Iterator[pl.Series]:
        parts = iter(self._parts)
        for place in self._places:
            found = known.get(self.names[place])
            if found is None:
                found = ColumnStatistics.unknown(self.types[place], groups)
            yield from (part.alias(next(parts)) for part in _without_nan(found))

    @property
    def _parts(self) -> list[str]:
        return [f"{part} {place}" for place in self._places for part in PARTS]

    @cached_property
    def _places(self) -> tuple[int, ...]:
        return tuple(sorted(frozenset[int]().union(*map(references, self._tested))))

    @cached_property
    def _tested(self) -> tuple[Expression, ...]:
        """The conditions about which statistics may say something."""
        return tuple(filter(self._is_tested, self.conditions))

    def _is_tested(self, condition: Expression) -> bool:
        from tidemark.columns import NotInColumns, Program

        own = {place: place for place in range(len(self.names))}
        if not references(condition) <= own.keys():
            return False
        if not references(Possible(own).true(condition)):
            return False
        try:
            Program.of([condition], self.names, self.zone, self.now)
        except NotInColumns:
            return False  # only Spark computes it
        return True

    @cached_property
    def _program(self) -> Program:
        from tidemark.columns import Program

        possible = Possible({place: number for number, place in enumerate(self._places)})
        tests = [*map(possible.true, self._tested)]
        return Program.of(tests, self._parts, self.zone, self.now)


def _without_nan(found: ColumnStatistics) -> tuple[pl.Series, ...]:
    """If one bound is NaN, the other one may be wrong."""
    low, high = found.low, found.high
    if low.dtype.is_float():
        wrong = low.is_nan().fill_null(False) | high.is_nan().fill_null(False)
        low, high = low.set(wrong, None), high.set(wrong, None)
    return low, high, found.nulls, found.values
