"""Row groups of Parquet files that a scan need not read, by the statistics in their footers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tidemark.connectors.columns_by_name import names_in
from tidemark.connectors.filesystem.parquet_types import at_precision
from tidemark.connectors.formats.base import FormatField
from tidemark.connectors.statistics import (
    ColumnStatistics,
    StatisticsTest,
    bounds_of,
    unknown_bound,
)

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile, Statistics

# Whose order depends on the writer, so that it has to be a known one.
_ORDERED_BY_WRITER: Final = ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
# Fewer rows of a single file are read about as quickly as their statistics are.
_WORTH_TESTING: Final = 1 << 14


@dataclass(frozen=True, slots=True)
class Footer:
    """What the footer of a file says of some row groups, as far as a test needs it."""

    groups: Sequence[int]
    rows: Sequence[int]
    columns: Sequence[_Column]

    @property
    def types(self) -> tuple[pa.DataType | None, ...]:
        return tuple(each.type for each in self.columns)


@dataclass(frozen=True, slots=True)
class _Column:
    type: pa.DataType | None  # None if nothing is known of it
    low: Sequence[Any]
    high: Sequence[Any]
    nulls: Sequence[int | None]


def needed(
    file: ParquetFile,
    groups: Sequence[int],
    fields: Sequence[FormatField],
    test: StatisticsTest | None,
) -> list[int]:
    """Those of the row groups that may have rows which pass the test."""
    if file.metadata.num_rows < _WORTH_TESTING:
        return [*groups]
    [found] = needed_of([footer_of(file, groups, fields, test)], fields, test)
    return found


def needed_of(
    footers: Sequence[Footer], fields: Sequence[FormatField], test: StatisticsTest | None
) -> list[list[int]]:
    """The same for several files."""
    found = [[*footer.groups] for footer in footers]
    if test is None:
        return found
    tested = [place for place, footer in enumerate(footers) if footer.columns]
    # Files of one table usually have the same types.
    alike = itertools.groupby(tested, key=lambda place: footers[place].types)
    for _, some in ((types, [*places]) for types, places in alike):
        groups = [(place, group) for place in some for group in footers[place].groups]
        known = _statistics([footers[place] for place in some], _tested(fields, test))
        met = test.may_have_rows(known, len(groups))
        for place in some:
            found[place] = []
        for (place, group), may_have_rows in zip(groups, met, strict=True):
            if may_have_rows:
                found[place].append(group)
    return found


def _tested(fields: Sequence[FormatField], test: StatisticsTest) -> list[FormatField]:
    return [field for field in fields if field.name in test.columns]


def _statistics(
    footers: Sequence[Footer], fields: Sequence[FormatField]
) -> dict[str, ColumnStatistics]:
    """The statistics of row groups of all files, which have the same types."""
    rows = _joined(footer.rows for footer in footers)
    found = {}
    for place, field in enumerate(fields):
        columns = [footer.columns[place] for footer in footers]
        if (type_ := columns[0].type) is not None:
            low, high = (
                _joined(each.low for each in columns),
                _joined(each.high for each in columns),
            )
            nulls = _joined(each.nulls for each in columns)
            bounds = _bounds([*low, *high], type_, field)
            found[field.name] = ColumnStatistics.counted(*bounds, nulls, rows)
    return found


def _joined(parts: Iterable[Sequence[Any]]) -> list[Any]:
    return [*itertools.chain.from_iterable(parts)]


def _bounds(
    limits: Sequence[Any], type_: pa.DataType, field: FormatField
) -> tuple[pl.Series, pl.Series]:
    """The least and then the largest values."""
    import pyarrow as pa

    groups = len(limits) // 2
    own = type_.value_type if pa.types.is_dictionary(type_) else type_
    try:
        found = bounds_of(pa.array(limits, own), field)
    except (pa.ArrowException, TypeError, ValueError):
        found = unknown_bound(field.type, len(limits))
    # What a time has beyond the digits of its type may be cut off where the rows are read.
    return at_precision(found[:groups], field.type), found[groups:]


# --- what a footer says --------------------------------------------------------------------------


def footer_of(
    file: ParquetFile,
    groups: Sequence[int],
    fields: Sequence[FormatField],
    test: StatisticsTest | None,
) -> Footer:
    import pyarrow as pa

    if test is None or not test.columns:
        return Footer(groups, (), ())
    about = [file.metadata.row_group(group) for group in groups]
    schema, rows = file.schema_arrow, [group.num_rows for group in about]

    def columns(test: StatisticsTest) -> Iterator[_Column]:
        for name in names_in(schema, _tested(fields, test)):
            if name is None:  # the file lacks the column, so that it is NULL
                yield _Column(pa.null(), [None] * len(rows), [None] * len(rows), rows)
            elif (leaf := _leaf(file, name)) is None:
                yield _Column(None, (), (), ())
            else:
                found = [group.column(leaf).statistics for group in about]
                pairs = [_limits(each, _is_ordered(file, leaf)) for each in found]
                low, high = [low for low, _ in pairs], [high for _, high in pairs]
                yield _Column(schema.field(name).type, low, high, [*map(_null_count, found)])

    return Footer(groups, rows, [*columns(test)])


def _leaf(file: ParquetFile, name: str) -> int | None:
    """The number of a column, if it is not nested. Names of nested ones may look the same."""
    leaves = map(file.schema.column, range(len(file.schema.names)))
    named = [place for place, leaf in enumerate(leaves) if leaf.path == name]
    if len(named) != 1:
        return None
    leaf = file.schema.column(named[0])
    nested = leaf.max_definition_level > 1 or leaf.max_repetition_level > 0
    return None if nested or leaf.physical_type == "INT96" else named[0]


def _is_ordered(file: ParquetFile, leaf: int) -> bool:
    by_writer = file.schema.column(leaf).physical_type in _ORDERED_BY_WRITER
    return bool(file.metadata.created_by) or not by_writer


def _limits(statistics: Statistics | None, ordered: bool) -> tuple[Any, Any]:
    """The least and the largest value, if they are known."""
    if statistics is None or not (ordered and statistics.has_min_max):
        return None, None
    try:
        return statistics.min, statistics.max
    except (ValueError, ArithmeticError):
        return None, None  # a string that was cut within a character, or a time that Python lacks


def _null_count(statistics: Statistics | None) -> int | None:
    return None if statistics is None or not statistics.has_null_count else statistics.null_count
