"""All aggregate calls of an operator at once: columns of accumulators, from rows to results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np
import polars as pl

from tidemark.kernels import decimal_sums
from tidemark.kernels.aggregates import numbered
from tidemark.kernels.aggregates.accumulators import (
    AT,
    SIGN,
    VALUE,
    Accumulator,
    Merge,
    Summary,
    SummaryColumn,
)
from tidemark.kernels.aggregates.functions import aggregate_of
from tidemark.kernels.aggregates.numbers import ROWS
from tidemark.kernels.aggregates.numbers import rows as count_of_rows
from tidemark.kernels.aggregates.running import RunningLists, slices
from tidemark.kernels.aggregates.scope import Aggregate, AggregateScope
from tidemark.kernels.aggregates.values_apart import Extreme, ValueArguments
from tidemark.kernels.columns import ACCUMULATE, KIND
from tidemark.kernels.tables import Longs, longs, run_starts
from tidemark.kernels.windows.spec import AggregateSpec

_GROUP = "_tm_list"
_PLACE = "_tm_place_of_list"


@dataclass(frozen=True, slots=True)
class Aggregates:
    """The accumulators of several calls, without duplicates, and their results.

    Rows become accumulators (`lifted`), accumulators of a group become one (`merged`), and results
    can be computed at any time (`results`). Merging in any grouping gives the same result.
    """

    accumulators: tuple[Accumulator, ...]
    results: tuple[pl.Expr, ...]
    retracts: bool
    by_arrival: bool
    distinct: tuple[ValueArguments, ...] = ()
    extremes: tuple[Extreme, ...] = ()

    @classmethod
    def of(
        cls,
        calls: Sequence[AggregateSpec],
        *,
        retracts: bool,
        counted: bool = False,
        by_arrival: bool = False,
        merges: bool = True,
        with_changes: bool = False,
        with_extremes: bool = False,
    ) -> Aggregates:
        """`counted` keeps the number of rows even if no call needs it. Without `merges`, a group
        has a single accumulator, to which rows are added in order. `with_changes` means that the
        changes of the values of `distinct` will be known: see `lifted_changes`; `with_extremes`
        that the accumulators of `extremes` will be given.
        """
        scopes = [
            AggregateScope(call, retracts, by_arrival, merges, with_changes, with_extremes)
            for call in calls
        ]
        found = [aggregate_of(scope) for scope in scopes]
        kept: dict[str, Accumulator] = {}
        for accumulator in (a for aggregate in found for a in aggregate.accumulators):
            kept[accumulator.name] = accumulator.together(kept.get(accumulator.name))
        if retracts or counted:
            rows = count_of_rows(retracts)
            kept[rows.name] = rows
        named = zip(found, calls, strict=True)
        results = tuple(aggregate.result.alias(call.output) for aggregate, call in named)
        distinct = ValueArguments.of([s.call for s in scopes if s.of_changes])
        extremes = _extremes(zip(scopes, found, strict=True))
        return cls(tuple(kept.values()), results, retracts, by_arrival, distinct, extremes)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(accumulator.name for accumulator in self.accumulators)

    @property
    def keeps_values(self) -> bool:
        """Whether values are kept apart from the accumulators."""
        return bool(self.distinct or self.extremes)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that results are computed from."""
        return (*self.names, *(column.name for column in self._summaries))

    def types_of_results(self, accumulators: pl.DataFrame) -> pl.DataFrame:
        """No results, of the types that those of such accumulators have."""
        return accumulators.clear().with_columns(self._no_summaries).select(self.results)

    @property
    def _no_summaries(self) -> list[pl.Expr]:
        return [pl.lit(None, c.dtype).alias(c.name) for c in self._summaries]

    @property
    def _summaries(self) -> list[SummaryColumn]:
        return [column for a in self.accumulators for column in a.summaries]

    @property
    def has_rows(self) -> pl.Expr:
        """Whether a group has any rows left that were not retracted."""
        return pl.col(ROWS) != 0

    @property
    def depends_on_order(self) -> bool:
        return any(a.how.is_list or a.how is Merge.FOLD for a in self.accumulators)

    @property
    def combinable(self) -> bool:
        """Whether merging some rows in advance, wherever they are, saves anything."""
        by_place = (Merge.FIRST, Merge.LAST, Merge.LIST, Merge.LEDGER, Merge.FOLD)
        return not self.retracts and not any(a.how in by_place for a in self.accumulators)

    def lifted(self, rows: pl.DataFrame, keep: Sequence[str]) -> pl.DataFrame:
        """Each row as accumulators, next to the columns to keep."""
        if self.retracts:
            adds = pl.col(KIND).is_in(ACCUMULATE)
            sign = pl.when(adds).then(pl.lit(1, pl.Int64)).otherwise(pl.lit(-1, pl.Int64))
            rows = rows.with_columns(sign.alias(SIGN))
        rows = rows.with_columns(
            pl.lit(0, pl.Int64).alias(name) for each in self.distinct for name in each.changes
        )
        return rows.with_columns(a.lift.alias(a.name) for a in self.accumulators).select(
            *keep, *self.names
        )

    def lifted_changes(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The accumulators of changes, for rows whose changes are known by now."""
        return rows.select(a.lift.alias(a.name) for a in self.accumulators if a.of_changes)

    def merged(
        self,
        rows: pl.DataFrame,
        by: Sequence[str],
        first: Sequence[str] = (),
        least: Sequence[str] = (),
        greatest: Sequence[str] = (),
    ) -> pl.DataFrame:
        """One row per group, groups in order of their first rows; with the other columns of the
        first row, and their extremes.
        """
        extremes = dict.fromkeys(least, Merge.LEAST) | dict.fromkeys(greatest, Merge.GREATEST)
        hows = extremes | {a.name: a.how for a in self.accumulators}
        found = numbered.merged(rows, by, first, hows)
        if found is not None:
            return found
        also = (pl.col(*first).first(),) if first else ()
        ends = (*(pl.col(name).min() for name in least), *(pl.col(name).max() for name in greatest))
        merging = [accumulator.merged for accumulator in self.accumulators]
        guards = decimal_sums.guards(
            rows, [a.name for a in self.accumulators if a.how is Merge.TOTAL]
        )
        groups = rows.group_by(by, maintain_order=True).agg(*also, *ends, *merging, *guards)
        return self._settled(decimal_sums.checked(groups), self.accumulators)

    def merged_runs(self, rows: pl.DataFrame, first: Longs, end: Longs) -> pl.DataFrame | None:
        """The accumulators of runs of rows, which may overlap; None if they are not numbers."""
        hows = {a.name: a.how for a in self.accumulators}
        return numbered.merged_runs(rows, first, end, hows)

    def running(
        self, rows: pl.DataFrame, by: str, wanted: pl.Expr, final: pl.Expr
    ) -> Iterator[pl.DataFrame]:
        """The wanted rows with what their results need of their groups up to them, and the `final`
        ones among them with all accumulators; some rows at a time.

        Rows of a group are adjacent, in order of arrival.
        """
        lists = [a for a in self.accumulators if a.how.is_list]
        folded = [a for a in self.accumulators if a.how is Merge.FOLD]
        numbers = [a for a in self.accumulators if numbered.can_run(rows[a.name], a.how)]
        plain = [a for a in self.accumulators if a not in (*lists, *folded, *numbers)]
        chosen = rows.select(wanted.fill_null(False)).to_series()
        starts = run_starts(longs(rows, by))
        result = rows.with_columns(
            *(a.running.over(by) for a in plain),
            *(_folded_along(rows, a, by) for a in folded),
            *(numbered.running(rows[a.name], a.how, starts) for a in numbers),
        )
        result = result if chosen.all() else result.filter(chosen)
        if not lists or result.is_empty():
            yield result.with_columns(self._no_summaries)
            return
        growing = [(a, RunningLists.of(rows[a.name], a.how, starts)) for a in lists]
        places = np.flatnonzero(chosen.to_numpy())
        result = result.with_columns(
            each.summary(places, column) for a, each in growing for column in a.summaries
        )
        shown = {name for one in self.results for name in one.meta.root_names()}
        made = [each for a, each in growing if a.name in shown]
        kept = [each for a, each in growing if a.name not in shown]
        is_final = result.select(pl.repeat(True, pl.len()) & final.fill_null(False))
        final_ = is_final.to_series().to_numpy()
        result = result.with_columns(each.only(places, final_) for each in kept)
        for part in slices(places, starts, made):
            yield result[part].with_columns(each.at(places[part]) for each in made)

    def _settled(self, groups: pl.DataFrame, accumulators: Sequence[Accumulator]) -> pl.DataFrame:
        for accumulator in accumulators:
            if accumulator.how is Merge.LEDGER:
                groups = _canceled(groups, accumulator.name, self.by_arrival)
            elif accumulator.folding is not None:
                groups = groups.with_columns(_folded(groups, accumulator))
        return groups


def _extremes(calls: Iterable[tuple[AggregateScope, Aggregate]]) -> tuple[Extreme, ...]:
    """The extremes of calls that are given, each with all its filters."""
    found: dict[tuple[Summary, tuple[str, ...]], dict[str | None, str]] = {}
    for scope, aggregate in calls:
        if scope.of_extremes:
            what = Summary.LEAST if scope.call.function == "MIN" else Summary.GREATEST
            of_filters = found.setdefault((what, scope.call.arguments), {})
            of_filters[scope.call.filter] = aggregate.accumulators[0].name
    return tuple(
        Extreme(what, ValueArguments(names, tuple(columns)), tuple(columns.values()))
        for (what, names), columns in found.items()
    )


def _folded(groups: pl.DataFrame, accumulator: Accumulator) -> pl.Series:
    """One accumulator from those of each group."""
    assert accumulator.folding is not None
    made = [accumulator.folding.together(parts) for parts in groups[accumulator.name].to_list()]
    return pl.Series(accumulator.name, made, pl.Binary)


def _folded_along(rows: pl.DataFrame, accumulator: Accumulator, by: str) -> pl.Series:
    """Per row the accumulator of the rows up to it; rows of a group are adjacent."""
    assert accumulator.folding is not None
    made: list[bytes | None] = []
    for _, group in groupby(zip(rows[by], rows[accumulator.name], strict=True), itemgetter(0)):
        made += accumulator.folding.running(part for _, part in group)
    return pl.Series(accumulator.name, made, pl.Binary)


def _canceled(groups: pl.DataFrame, column: str, by_arrival: bool) -> pl.DataFrame:
    """The groups without retracted items; among equal ones the first is removed first."""
    items = groups.select(pl.int_range(pl.len()).alias(_GROUP), column)
    items = items.explode(column, empty_as_null=False, keep_nulls=False).unnest(column)
    if by_arrival:
        items = items.sort(_GROUP, AT, maintain_order=True)
    adds = pl.col(SIGN) > 0
    same = [_GROUP, VALUE]
    # The n-th retraction removes the n-th item added, whichever came first.
    added, taken = adds.cast(pl.Int64), (~adds).cast(pl.Int64)
    left = (
        pl.when(adds)
        .then(added.cum_sum().over(same) > taken.sum().over(same))
        .otherwise(taken.cum_sum().over(same) > added.sum().over(same))
    )
    left_over = items.filter(left).select(_GROUP, pl.struct(AT, VALUE, SIGN).alias(column))
    lists = left_over.group_by(_GROUP, maintain_order=True).agg(column)
    found = groups.with_row_index(_PLACE).with_columns(pl.col(_PLACE).cast(pl.Int64))
    joined = found.drop(column).join(
        lists, left_on=_PLACE, right_on=_GROUP, how="left", maintain_order="left"
    )
    nothing = pl.lit([], dtype=groups.schema[column])
    return joined.with_columns(pl.coalesce(column, nothing)).select(groups.columns)
