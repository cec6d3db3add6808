"""Functions over all rows of a partition up to the current one: what came before is one row of
accumulators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import polars as pl

from tidemark.kernels.aggregates import Aggregates
from tidemark.kernels.over.partitions import RowPartitions
from tidemark.kernels.over.sorted_rows import PARTITION, SortedRows
from tidemark.kernels.over.spec import RANKS, OverCall
from tidemark.kernels.sorting import stable_order
from tidemark.kernels.tables import Longs, longs
from tidemark.kernels.windows.spec import AggregateSpec

_PEERS: Final = "_tm_peers"  # Int64; 1 for the first row of several with the same value
_WANTED: Final = "_tm_wanted"


@dataclass(frozen=True, slots=True)
class Growing:
    """Calls whose frames begin with the partition and end with the current row or its peers."""

    calls: tuple[OverCall, ...]
    aggregates: Aggregates

    @classmethod
    def of(cls, calls: Sequence[OverCall]) -> Self:
        specs = [_as_aggregate(call) for call in calls]
        return cls(tuple(calls), Aggregates.of(specs, retracts=False, counted=True, merges=False))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of accumulators."""
        return self.aggregates.names

    def lifted(self, rows: pl.DataFrame, partitions: RowPartitions) -> pl.DataFrame:
        """Sorted rows as accumulators."""
        first_of_peers = partitions.first_peer == np.arange(len(partitions))
        marked = rows.with_columns(pl.Series(_PEERS, first_of_peers).cast(pl.Int64))
        return self.aggregates.lifted(marked, [PARTITION])

    def results(
        self, lifted: pl.DataFrame, partitions: RowPartitions, before: pl.DataFrame
    ) -> list[pl.Series]:
        """The results for all rows, after what was `before` them in their partitions."""
        places = [self._place(call, partitions) for call in self.calls]
        wanted = np.zeros(len(partitions), dtype=np.bool_)
        for place in places:
            wanted[place] = True
        number = np.cumsum(wanted) - 1
        marked = lifted.with_columns(pl.Series(_WANTED, wanted))
        rows = self._together(before.with_columns(pl.lit(False).alias(_WANTED)), marked)
        rows = rows.with_columns(pl.col(PARTITION).set_sorted())
        running = self.aggregates.running(rows, PARTITION, pl.col(_WANTED), pl.lit(False))
        results = pl.concat([part.select(self.aggregates.results) for part in running])
        return [
            column.gather(number[place])
            for column, place in zip(results.get_columns(), places, strict=True)
        ]

    def after(self, lifted: pl.DataFrame, before: pl.DataFrame) -> pl.DataFrame:
        """The accumulators of each partition with these rows, and with those before them."""
        return self.aggregates.merged(self._together(before, lifted), [PARTITION])

    def _together(self, before: pl.DataFrame, lifted: pl.DataFrame) -> pl.DataFrame:
        if before.is_empty():
            return lifted
        both = pl.concat([before.select(lifted.columns), lifted])
        return both[stable_order(longs(both, PARTITION))]

    def _place(self, call: OverCall, partitions: RowPartitions) -> Longs:
        """Per row the row whose accumulators give the result."""
        if call.function == "RANK":
            return partitions.first_peer
        if call.frame.by_rows or call.function in RANKS:
            return np.arange(len(partitions))
        return partitions.last_peer - 1


def results_so_far(calls: Sequence[OverCall], rows: SortedRows) -> list[pl.Series]:
    """The results of such calls over whole partitions."""
    growing = Growing.of(calls)
    lifted = growing.lifted(rows.rows, rows.partitions)
    return growing.results(lifted, rows.partitions, lifted.clear())


def _as_aggregate(call: OverCall) -> AggregateSpec:
    """A rank is a number of rows, or of the peers of rows."""
    output, dtype = call.output, pl.Int64()
    if call.function == "DENSE_RANK":
        return AggregateSpec("SUM", (_PEERS,), output, dtype)
    if call.function in RANKS:
        return AggregateSpec("COUNT", (), output, dtype)
    return call.call
