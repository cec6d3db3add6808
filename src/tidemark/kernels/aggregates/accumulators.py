"""Accumulators: the partial result of a group of rows, in one column, and how two are merged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final, Protocol

import polars as pl

from tidemark.kernels.aggregates import spreads

SIGN: Final = "_tm_sign"  # Int64; 1 for an added row, -1 for a retracted one
AT: Final = "at"  # in a list item: the row's position in the sequence
VALUE: Final = "value"  # in a list item: the row's value


class Merge(Enum):
    """How accumulators merge. The rows of a group are in order, oldest first."""

    TOTAL = "total"
    LEAST = "least"
    GREATEST = "greatest"
    FIRST = "first"  # the item that arrived first
    LAST = "last"
    SET = "set"  # a list without duplicates
    LIST = "list"  # a list of items
    LEDGER = "ledger"  # a list of items with signs; a retracted one cancels the first equal one
    GIVEN = "given"  # what it is at each row is known; nothing is merged
    SPREAD = "spread"  # see `spreads.py`
    FOLD = "fold"  # bytes that only their `Folding` understands

    @property
    def is_list(self) -> bool:
        return self in (Merge.SET, Merge.LIST, Merge.LEDGER)


class Summary(Enum):
    """What a result needs of a list. It is found row by row without making the lists."""

    COUNT = "count"  # of the items of a set
    TOTAL = "total"
    SPREAD = "spread"  # the sum of the squared distances from the mean
    LEAST = "least"  # of the items of a ledger that are left
    GREATEST = "greatest"
    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class SummaryColumn:
    """A column of summaries, computed in a type."""

    name: str
    what: Summary
    dtype: pl.DataType


class Folding(Protocol):
    """How accumulators merge that are bytes, made by a user-defined function."""

    def together(self, parts: Iterable[bytes]) -> bytes | None:
        """One accumulator from several; None from none."""

    def running(self, parts: Iterable[bytes | None]) -> Iterator[bytes | None]:
        """Per accumulator, the result of merging it with those before it."""


@dataclass(frozen=True, slots=True)
class Accumulator:
    """A column of accumulators. `lift` makes one from a row; NULL adds nothing. With `of_changes`,
    the row also needs the changes of its distinct values; see `values_apart.py`.
    """

    name: str
    lift: pl.Expr
    how: Merge
    folding: Folding | None = None
    of_changes: bool = False
    summaries: tuple[SummaryColumn, ...] = ()

    def with_summary(self, what: Summary, dtype: pl.DataType) -> tuple[Accumulator, pl.Expr]:
        """The same, summarized also in this way, and the summary."""
        column = SummaryColumn(f"{self.name} {what.value} {dtype}", what, dtype)
        return replace(self, summaries=(*self.summaries, column)), pl.col(column.name)

    def together(self, other: Accumulator | None) -> Accumulator:
        """The accumulator with the summaries of another one that is the same otherwise."""
        if other is None:
            return self
        return replace(self, summaries=tuple(dict.fromkeys((*other.summaries, *self.summaries))))

    @property
    def merged(self) -> pl.Expr:
        """One accumulator from those of a group, for `group_by(...).agg`."""
        return _MERGED[self.how](pl.col(self.name)).alias(self.name)

    @property
    def running(self) -> pl.Expr:
        """Per row the accumulator of the rows up to it, for `.over(...)`; not for lists or
        bytes.
        """
        return _RUNNING[self.how](pl.col(self.name)).alias(self.name)


def _arrived(items: pl.Expr) -> pl.Expr:
    return items.struct.field(AT)


def _joined(lists: pl.Expr) -> pl.Expr:
    return lists.explode(empty_as_null=False, keep_nulls=False)


_MERGED: dict[Merge, Callable[[pl.Expr], pl.Expr]] = {
    Merge.TOTAL: lambda column: column.sum(),
    Merge.LEAST: lambda column: column.min(),
    Merge.GREATEST: lambda column: column.max(),
    Merge.FIRST: lambda column: column.sort_by(_arrived(column), nulls_last=True).first(),
    Merge.LAST: lambda column: column.sort_by(_arrived(column), nulls_last=False).last(),
    Merge.SET: lambda column: _joined(column).unique(maintain_order=True),
    Merge.LIST: _joined,
    Merge.LEDGER: _joined,
    Merge.GIVEN: lambda column: column.last(),
    Merge.SPREAD: spreads.merged,
    Merge.FOLD: lambda column: column.drop_nulls(),  # followed by `Folding.together`
}


def _first_so_far(column: pl.Expr) -> pl.Expr:
    is_first = column.is_not_null() & (column.is_not_null().cum_sum() == 1)
    return pl.when(is_first).then(column).forward_fill()


_RUNNING: dict[Merge, Callable[[pl.Expr], pl.Expr]] = {
    Merge.TOTAL: lambda column: column.fill_null(0).cum_sum(),
    Merge.LEAST: lambda column: column.cum_min().forward_fill(),
    Merge.GREATEST: lambda column: column.cum_max().forward_fill(),
    Merge.FIRST: _first_so_far,
    Merge.LAST: lambda column: column.forward_fill(),
    Merge.GIVEN: lambda column: column,
    Merge.SPREAD: spreads.running,
}
