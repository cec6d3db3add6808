"""The results of all rows of partitions, in any order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from tidemark.kernels.keys import Keys
from tidemark.kernels.order import Order
from tidemark.kernels.over.growing import results_so_far
from tidemark.kernels.over.ordered import ordered
from tidemark.kernels.over.sorted_rows import PARTITION
from tidemark.kernels.over.spec import OverCall


def with_results(
    rows: pl.DataFrame, keys: Sequence[str], order: Sequence[Order], calls: Sequence[OverCall]
) -> pl.DataFrame:
    """The rows followed by the results of the calls, sorted by partition and order. They are given
    in order of arrival, which counts among equal ones.
    """
    _, [partition] = Keys.numbering(tuple(keys), rows)
    sorted_rows = ordered(rows, partition, order)
    growing = [call for call in calls if call.grows]
    results = results_so_far(growing, sorted_rows) if growing else []
    others = [call for call in calls if not call.grows]
    results += sorted_rows.results(others, np.arange(rows.height))
    in_order = pl.DataFrame(results).select(call.output for call in calls)
    return sorted_rows.rows.drop(PARTITION).hstack(in_order)
