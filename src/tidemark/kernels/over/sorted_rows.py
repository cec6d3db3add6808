"""Functions over the rows of partitions, which are sorted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.aggregates import Aggregates
from tidemark.kernels.over.distinct import counts_distinct, counts_of_distinct, move_forward
from tidemark.kernels.over.frames import Values, frame_positions
from tidemark.kernels.over.partitions import RowPartitions
from tidemark.kernels.over.ranged import results_of_ranges
from tidemark.kernels.over.spec import PLACES, SHIFTS, OverCall
from tidemark.kernels.ranges import Flags
from tidemark.kernels.tables import Longs

PARTITION: Final = "_tm_partition"  # Int64; the number of the row's partition, ascending


@dataclass(frozen=True, slots=True)
class SortedRows:
    """Rows of whole partitions in order, or as much of them as the frames of some rows need.

    `values` are what they are ordered by, as numbers; where it is not `known`, it is NULL. A
    distance of 1 in a frame is `unit` of them.
    """

    rows: pl.DataFrame
    partitions: RowPartitions
    values: Values
    known: Flags | None = None
    unit: int = 1

    def results(self, calls: Iterable[OverCall], wanted: Longs) -> list[pl.Series]:
        """The results of calls for the wanted rows, each under the name of its output."""
        calls = tuple(calls)
        aggregates = sorted((c for c in calls if c.is_aggregate), key=_frame_order)
        found = [
            result
            for _, of_frame in groupby(aggregates, key=_frame_order)
            for result in self._aggregated(tuple(of_frame), wanted)
        ]
        found += [self._shifted(call, wanted) for call in calls if call.function in SHIFTS]
        return found + [self._placed(call, wanted) for call in calls if call.function in PLACES]

    def _aggregated(self, calls: Sequence[OverCall], wanted: Longs) -> list[pl.Series]:
        """Calls with the same frame."""
        first, end = frame_positions(
            calls[0].frame.scaled(self.unit), self.partitions, self.values, self.known
        )
        first, end = first[wanted], end[wanted]
        counts = [call for call in calls if counts_distinct(call)]
        if counts and move_forward(first, end):
            found = counts_of_distinct(self.rows, counts, first, end)
            others = [call for call in calls if call not in counts]
            return found + (self._merged(others, first, end) if others else [])
        return self._merged(calls, first, end)

    def _merged(self, calls: Sequence[OverCall], first: Longs, end: Longs) -> list[pl.Series]:
        """The aggregates of the rows from one position to before another."""
        aggregates = Aggregates.of([call.call for call in calls], retracts=False, counted=True)
        lifted = aggregates.lifted(self.rows, [PARTITION])
        results = results_of_ranges(lifted, aggregates, first, end)
        return results.get_columns()

    def _shifted(self, call: OverCall, wanted: Longs) -> pl.Series:
        """LAG and LEAD: the value of another row of the partition, or the default."""
        value, *default = call.call.arguments
        distance = call.distance if call.function == "LEAD" else -call.distance
        place = wanted + distance
        there = (place >= self.partitions.start[wanted]) & (place < self.partitions.end[wanted])
        found = self.rows[value].gather(np.where(there, place, 0))
        otherwise = self.rows[default[0]].gather(wanted) if default else pl.lit(None)
        shifted = pl.when(pl.Series(there)).then(found).otherwise(otherwise)
        return pl.select(shifted.cast(call.call.dtype).alias(call.output)).to_series()

    def _placed(self, call: OverCall, wanted: Longs) -> pl.Series:
        """Functions of a row's place in its partition and the partition's size."""
        rows = self.partitions
        size, start = rows.size[wanted], rows.start[wanted]
        found: Values
        match call.function:
            case "PERCENT_RANK":
                found = (rows.first_peer[wanted] - start) / np.maximum(size - 1, 1)
            case "CUME_DIST":
                found = (rows.last_peer[wanted] - start) / size
            case _:
                found = _group_number(rows.place[wanted], size, call.distance)
        return pl.Series(call.output, found).cast(call.call.dtype)


def _group_number(place: Longs, size: Longs, groups: int) -> Longs:
    """NTILE: as many rows in each group as possible; the first groups have one more."""
    each, larger = size // groups, size % groups
    in_larger = larger * (each + 1)
    after = larger + (place - in_larger) // np.maximum(each, 1)
    return np.where(place < in_larger, place // (each + 1), after) + 1


def _frame_order(call: OverCall) -> tuple[bool, float, float]:
    frame, far = call.frame, float("inf")
    start = -far if frame.start is None else frame.start
    return frame.by_rows, start, far if frame.end is None else frame.end
