"""Which rows come after one of their partition that was emitted and is not before them."""

from __future__ import annotations

import numpy as np

from tidemark.kernels.arrivals import Advances
from tidemark.kernels.columns import BEFORE_ALL
from tidemark.kernels.sorting import largest_so_far, stable_order_by
from tidemark.kernels.tables import Longs


def latest_fired(
    advances: Advances, key: Longs, sequence: Longs, time: Longs, asking: int
) -> Longs:
    """For each of the last `asking` rows the latest time of the rows of its key that the watermarks
    of the step have fired before it arrived; BEFORE_ALL if there is none.

    A late row fires nothing, but the row because of which it is late is not before it: so it makes
    no difference here.
    """
    nothing = np.full(asking, BEFORE_ALL, dtype=np.int64)
    if not asking or not len(advances) or advances.sequence[0] > sequence[-1]:
        return nothing
    firing = advances.firing(sequence, time)
    fires = np.flatnonzero(firing < len(advances))
    # A row that arrives at the moment of a firing comes after it.
    moment = np.append(2 * advances.sequence[firing[fires]], 2 * sequence[-asking:] + 1)
    key = np.append(key[fires], key[-asking:])
    order = stable_order_by(key, moment)
    found = np.empty(order.size, dtype=np.int64)
    found[order] = largest_so_far(np.append(time[fires], nothing)[order], key[order])
    return found[-asking:]
