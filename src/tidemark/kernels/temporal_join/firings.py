"""When the single timer of each key fires, for all keys of a step at once.

A key has one timer, at the smallest time it has not handled. Every row lowers it; a firing clears
it and sets it again for the rows that still wait. Rows that only request clean-up (versions) do not
set it again, so a firing in between swallows their request. The moments at which a key fires are
therefore a chain: each firing leads to the next one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tidemark.kernels.arrivals import Advances
from tidemark.kernels.sorting import stable_order
from tidemark.kernels.tables import Longs, distinct


@dataclass(frozen=True, slots=True)
class Requests:
    """Rows that need their key (a number below `keys`) to fire: their position in the sequence,
    and the first moment that reaches their time.
    """

    key: Longs
    sequence: Longs
    firing: Longs

    def where(self, chosen: npt.NDArray[np.bool_]) -> Requests:
        return Requests(self.key[chosen], self.sequence[chosen], self.firing[chosen])


@dataclass(frozen=True, slots=True)
class Firings:
    """The (key, moment) pairs that fire, sorted; a pair is the number `key * width + moment`."""

    pairs: Longs
    width: int

    @property
    def key(self) -> Longs:
        return self.pairs // self.width

    @property
    def moment(self) -> Longs:
        return self.pairs % self.width

    def before(self, key: Longs, moment: Longs) -> Longs:
        """The position in `pairs` of the key's last firing before a moment; -1 if none."""
        return _last_of_key(self, key, np.searchsorted(self.pairs, key * self.width + moment) - 1)

    def last(self) -> Longs:
        """The positions in `pairs` of each key's last firing."""
        key = self.key
        return np.flatnonzero(np.append(key[1:] != key[:-1], True)) if key.size else key


def _last_of_key(firings: Firings, key: Longs, position: Longs) -> Longs:
    if not firings.pairs.size:
        return np.full(key.shape, -1, dtype=np.int64)
    same = (position >= 0) & (firings.pairs[position] // firings.width == key)
    return np.where(same, position, -1).astype(np.int64)


def fire(waiting: Requests, once: Requests, advances: Advances) -> Firings:
    """The firings of all keys. `waiting` rows keep their timer until they are handled; those of
    `once` lose it with the first firing after their arrival.
    """
    width = len(advances) + 1
    if len(advances) == 1:
        return Firings(_keys_of(waiting, once) * width, width)
    lasting = distinct(waiting.key * width + waiting.firing)
    candidates = distinct(np.concatenate([lasting, once.key * width + once.firing]))
    following = _following(candidates, lasting, once, advances, width)
    keys = candidates // width
    roots = np.append(True, keys[1:] != keys[:-1]) if keys.size else np.zeros(0, dtype=bool)
    return Firings(candidates[_reachable(roots, following)], width)


def _keys_of(*requests: Requests) -> Longs:
    """The keys with any requests, ascending."""
    asks = np.zeros(max(int(r.key.max(initial=-1)) for r in requests) + 1, dtype=bool)
    for several in requests:
        asks[several.key] = True
    return np.flatnonzero(asks)


def _following(
    candidates: Longs, lasting: Longs, once: Requests, advances: Advances, width: int
) -> Longs:
    """Per candidate the position of the one that fires after it, if it fires; the end if none."""
    # A row arrived after moment m exactly if at least m + 1 moments are before it.
    behind = once.key * width + np.searchsorted(advances.sequence, once.sequence, side="right")
    order = stable_order(behind)
    behind = behind[order]
    # Keys ascend along the array, so the running minimum from the right never crosses into a
    # smaller key: that key's own pairs are smaller than all after it.
    soonest = np.minimum.accumulate((once.key * width + once.firing)[order][::-1])[::-1]
    nothing = np.iinfo(np.int64).max
    next_once = np.append(soonest, nothing)[np.searchsorted(behind, candidates + 1)]
    next_lasting = np.append(lasting, nothing)[np.searchsorted(lasting, candidates + 1)]
    following = np.minimum(next_once, next_lasting)
    same_key = following // width == candidates // width
    return np.where(same_key, np.searchsorted(candidates, following), candidates.size)


def _reachable(roots: npt.NDArray[np.bool_], following: Longs) -> npt.NDArray[np.bool_]:
    """Which nodes are on a path from a root, by doubling the length of the jumps."""
    end = following.size
    jump = np.append(following, end)
    jumps = []
    while (jump[:end] != end).any():
        jumps.append(jump)
        jump = jump[jump]
    reached = np.append(roots, False)
    for jump in reversed(jumps):
        reached[jump[np.flatnonzero(reached)]] = True
    return reached[:end]
