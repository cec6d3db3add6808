"""The rows of a step, one key after the other, and attempts to match them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from tidemark.kernels.aggregates import Aggregates
from tidemark.kernels.aggregates.accumulators import Merge
from tidemark.kernels.columns import SEQUENCE
from tidemark.kernels.match_recognize.spec import (
    ALL_ROWS,
    MatchCondition,
    Pick,
    RowCondition,
    Total,
    Variable,
    value_name,
)
from tidemark.kernels.tables import Longs, ascends, longs, stable_order, up_to_each

Flags = npt.NDArray[np.bool_]

_ATTEMPT = "_tm_attempt"


@dataclass(frozen=True, slots=True)
class Attempts:
    """Attempts to match, by the positions of their first rows: the state of the automaton after
    the rows that each has taken, and how many of them are of which variable. Variables follow
    each other, and no row is left out, so that says which rows they are.
    """

    start: Longs
    state: Longs
    counts: Longs  # one line per attempt, one column per variable

    @classmethod
    def beginning(cls, start: Longs, state: int, variables: int) -> Attempts:
        counts = np.zeros((start.size, variables), dtype=np.int64)
        return cls(start, np.full(start.size, state, dtype=np.int64), counts)

    @classmethod
    def together(cls, several: Sequence[Attempts]) -> Attempts:
        return cls(
            np.concatenate([each.start for each in several]),
            np.concatenate([each.state for each in several]),
            np.concatenate([each.counts for each in several]),
        )

    def __len__(self) -> int:
        return self.start.size

    def __getitem__(self, chosen: Flags | Longs | slice) -> Attempts:
        return Attempts(self.start[chosen], self.state[chosen], self.counts[chosen])

    @property
    def next(self) -> Longs:
        """The position of the row after those that are taken."""
        return np.asarray(self.start + self.counts.sum(axis=1))

    def taking(self, variable: int, state: int) -> Attempts:
        """The attempts after one more row of a variable."""
        counts = self.counts.copy()
        counts[:, variable] += 1
        return Attempts(self.start, np.full(len(self), state, dtype=np.int64), counts)

    def rows_of(self, variable: int) -> tuple[Longs, Longs]:
        """The first row of a variable, and how many there are."""
        if variable == ALL_ROWS:
            return self.start, np.asarray(self.counts.sum(axis=1))
        return self.start + self.counts[:, :variable].sum(axis=1), self.counts[:, variable]


@dataclass(slots=True)
class Sequences:
    """Rows sorted by key, those of a key in their order; `end` is the position after the last row
    of each row's key.
    """

    rows: pl.DataFrame
    end: Longs
    time: Longs
    _cached: dict[str, npt.NDArray[np.generic]] = field(default_factory=dict)
    _lifted: dict[tuple[Total, ...], pl.DataFrame] = field(default_factory=dict)

    # --- conditions -----------------------------------------------------------------------------

    def holds(self, variable: Variable, place: int, attempts: Attempts) -> Flags:
        """For which attempts the next row can be one of a variable."""
        match variable.condition:
            case None:
                return np.ones(len(attempts), dtype=np.bool_)
            case RowCondition(column):
                return self._flags(column)[attempts.next]
            case MatchCondition(values, holds):
                values_frame = self.values(attempts.taking(place, 0), values)
                return _as_flags(holds(values_frame))

    def _flags(self, column: str) -> Flags:
        if column not in self._cached:
            self._cached[column] = _as_flags(self.rows[column])
        flags: Flags = self._cached[column].view(np.bool_)
        return flags

    # --- values ---------------------------------------------------------------------------------

    def values(self, attempts: Attempts, values: Sequence[Pick | Total]) -> pl.DataFrame:
        """The values of each attempt, under their names."""
        columns: dict[int, pl.Series] = {}
        totals: dict[int, list[int]] = {}
        for place, value in enumerate(values):
            if isinstance(value, Pick):
                columns[place] = self._picked(attempts, value)
            else:
                totals.setdefault(value.variable, []).append(place)
        for variable, places in totals.items():
            calls = tuple(value for p in places if isinstance(value := values[p], Total))
            found = self._totals(attempts, variable, calls)
            columns.update(zip(places, found.get_columns(), strict=True))
        ordered = [columns[place].alias(value_name(place)) for place in range(len(values))]
        return pl.DataFrame(ordered)

    def _picked(self, attempts: Attempts, pick: Pick) -> pl.Series:
        first, count = attempts.rows_of(pick.variable)
        place = first + pick.offset if pick.first else first + count - 1 - pick.offset
        there = count > pick.offset
        column = self.rows[pick.column]
        if there.all():
            return column.gather(place)
        known = pl.Series(np.where(there, place, 0))
        return column.gather(known.set(pl.Series(~there), None))

    # --- aggregates -----------------------------------------------------------------------------

    def _totals(self, attempts: Attempts, variable: int, totals: tuple[Total, ...]) -> pl.DataFrame:
        calls = [
            replace(total.call, output=value_name(place)) for place, total in enumerate(totals)
        ]
        aggregates = Aggregates.of(calls, retracts=False)
        if totals not in self._lifted:
            numbered = self.rows.with_columns(pl.int_range(pl.len()).alias(SEQUENCE))
            self._lifted[totals] = aggregates.lifted(numbered, [SEQUENCE])
        lifted = self._lifted[totals]
        first, count = attempts.rows_of(variable)
        some = np.flatnonzero(count)
        # Runs are merged in the order of their rows: what is between two runs is read as well.
        some = some[stable_order(first[some])]
        merged = aggregates.merged_runs(lifted, first[some], first[some] + count[some])
        if merged is None:
            merged = _merged(aggregates, lifted, first[some], count[some])
        if some.size < len(attempts) or not ascends(some):
            merged = _at_places(aggregates, merged, some, len(attempts))
        return merged.select(aggregates.results)


def _merged(
    aggregates: Aggregates, lifted: pl.DataFrame, first: Longs, count: Longs
) -> pl.DataFrame:
    """The accumulators of runs of rows, each run by itself."""
    rows = lifted[np.repeat(first, count) + up_to_each(count)]
    number = pl.Series(_ATTEMPT, np.repeat(np.arange(first.size), count))
    return aggregates.merged(rows.with_columns(number), [_ATTEMPT]).drop(_ATTEMPT)


def _at_places(
    aggregates: Aggregates, merged: pl.DataFrame, places: Longs, height: int
) -> pl.DataFrame:
    """The accumulators at their places; the other places are of no rows."""
    place = np.full(height, -1)
    place[places] = np.arange(places.size)
    spread = merged.clear(height)
    if merged.height:
        spread = merged.select(pl.all().gather(pl.Series(place).replace(-1, None)))
    sums = [a.name for a in aggregates.accumulators if a.how is Merge.TOTAL]
    return spread.with_columns(pl.col(sums).fill_null(0)) if sums else spread


def _as_flags(column: pl.Series) -> Flags:
    return column.cast(pl.Boolean).fill_null(False).to_numpy()


def sequences_of(rows: pl.DataFrame, key: Longs, time: str) -> Sequences:
    """Rows that are sorted by the number of their key and then in their order."""
    last = np.append(key[1:] != key[:-1], True) if key.size else np.zeros(0, dtype=np.bool_)
    ends = np.flatnonzero(last) + 1
    sizes = np.diff(np.append(0, ends))
    return Sequences(rows, np.repeat(ends, sizes), longs(rows, time))
