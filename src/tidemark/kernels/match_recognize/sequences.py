"""The rows of a step, one key after the other, and the values of attempts to match them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from tidemark.kernels.aggregates import Aggregates
from tidemark.kernels.aggregates.accumulators import Merge
from tidemark.kernels.columns import SEQUENCE
from tidemark.kernels.match_recognize.ahead import known_times, next_name
from tidemark.kernels.match_recognize.attempts import Attempts, Flags
from tidemark.kernels.match_recognize.spec import (
    Classifier,
    MatchCondition,
    Pick,
    RowCondition,
    RunningValue,
    Total,
    Variable,
    value_name,
)
from tidemark.kernels.sorting import ascends, stable_order
from tidemark.kernels.tables import Longs, longs, up_to_each

_ATTEMPT = "_tm_attempt"


@dataclass(slots=True)
class Sequences:
    """Rows sorted by key, those of a key in their order; `begin` and `end` are the positions of the
    first row of each row's key and after the last one. A row at a `time` could be matched when it
    was `known`.
    """

    rows: pl.DataFrame
    begin: Longs
    end: Longs
    time: Longs
    known: Longs
    _cached: dict[str, npt.NDArray[np.generic]] = field(default_factory=dict)
    _lifted: dict[tuple[Total, ...], pl.DataFrame] = field(default_factory=dict)

    # --- conditions -----------------------------------------------------------------------------

    def holds(self, variable: Variable, label: int, attempts: Attempts) -> Flags:
        """For which attempts the next row can be one of a variable, which is its label."""
        match variable.condition:
            case None:
                return np.ones(len(attempts), dtype=np.bool_)
            case RowCondition(column):
                return self.flags(column)[attempts.next]
            case MatchCondition(values, holds):
                values_frame = self.values(attempts.taking(label, 0), values)
                return _as_flags(holds(values_frame))

    def flags(self, column: str) -> Flags:
        if column not in self._cached:
            self._cached[column] = _as_flags(self.rows[column])
        flags: Flags = self._cached[column].view(np.bool_)
        return flags

    # --- values ---------------------------------------------------------------------------------

    def values(self, attempts: Attempts, values: Sequence[RunningValue]) -> pl.DataFrame:
        """The values of each attempt, under their names."""
        columns: dict[int, pl.Series] = {}
        totals: dict[int, list[int]] = {}
        for place, value in enumerate(values):
            match value:
                case Pick():
                    columns[place] = self._picked(attempts, value)
                case Classifier():
                    columns[place] = _classified(attempts, value)
                case Total():
                    totals.setdefault(value.variable, []).append(place)
        for variable, places in totals.items():
            calls = tuple(value for p in places if isinstance(value := values[p], Total))
            found = self._totals(attempts, variable, calls)
            columns.update(zip(places, found.get_columns(), strict=True))
        ordered = [columns[place].alias(value_name(place)) for place in range(len(values))]
        return pl.DataFrame(ordered)

    def _picked(self, attempts: Attempts, pick: Pick) -> pl.Series:
        place, there = attempts.place(pick.variable, pick.first, pick.offset)
        name = pick.column
        if pick.back > 0:
            place = place - pick.back
            there = there & (place >= self.begin[attempts.start])
        elif pick.back < 0:
            name = next_name(name, -pick.back)
        column = self.rows[name]
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
        run = attempts.run(variable)
        if run is None:
            return _of_members(aggregates, lifted, *attempts.members(variable))
        first, count = run
        some = np.flatnonzero(count)
        # Runs are merged in the order of their rows: what is between two runs is read as well.
        some = some[stable_order(first[some])]
        merged = aggregates.merged_runs(lifted, first[some], first[some] + count[some])
        if merged is None:
            rows = np.repeat(first[some], count[some]) + up_to_each(count[some])
            merged = _merged(aggregates, lifted[rows], count[some])
        if some.size < len(attempts) or not ascends(some):
            merged = _at_places(aggregates, merged, some, len(attempts))
        return merged.select(aggregates.results)


def _of_members(
    aggregates: Aggregates, lifted: pl.DataFrame, count: Longs, rows: Longs
) -> pl.DataFrame:
    """Aggregates over rows that are not adjacent, of which each attempt has `count`."""
    some = np.flatnonzero(count)
    merged = _merged(aggregates, lifted[rows], count[some])
    if some.size < count.size:
        merged = _at_places(aggregates, merged, some, count.size)
    return merged.select(aggregates.results)


def _classified(attempts: Attempts, value: Classifier) -> pl.Series:
    variable, there = attempts.label(value.variable, value.first, value.offset)
    names = pl.Series(value.names, dtype=pl.String)
    found = pl.Series(np.where(there, variable, 0))
    return names.gather(found.set(pl.Series(~there), None))


def _merged(aggregates: Aggregates, rows: pl.DataFrame, count: Longs) -> pl.DataFrame:
    """The accumulators of runs of `count` rows each, one run after the other."""
    number = pl.Series(_ATTEMPT, np.repeat(np.arange(count.size), count))
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
    begin, end = np.repeat(ends - sizes, sizes), np.repeat(ends, sizes)
    return Sequences(rows, begin, end, longs(rows, time), known_times(rows))
