"""When left rows are joined and changes of the right side become visible, in one step.

All of this is counted in half positions of the sequence: the row at position s is there at 2s + 1,
and the watermark advances before it at 2s.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from tidemark.kernels.arrivals import Advances
from tidemark.kernels.columns import AFTER_ALL, BEFORE_ALL, SEQUENCE, TIME
from tidemark.kernels.sorting import stable_order_by
from tidemark.kernels.tables import Longs, longs

NEVER = AFTER_ALL


@dataclass(frozen=True, slots=True)
class Moments:
    """The moments of a step: the advances of the watermark, which was `before` them, and the moment
    at which the right side has been loaded, NEVER if it is not in this step.
    """

    advances: Advances
    before: int
    loaded: int

    @classmethod
    def of(cls, advances: Advances, before: int, loaded: int | None, until: int) -> Moments:
        """`loaded` is that moment if it is known without the watermark."""
        if loaded is None:
            reached = np.flatnonzero(advances.watermark >= until)
            loaded = 2 * int(advances.sequence[reached[0]]) if reached.size else NEVER
        return cls(advances, before, loaded)

    def of_left(self, rows: pl.DataFrame) -> Longs:
        """When left rows are joined: when they arrive, but not before all is loaded."""
        if self.loaded == NEVER:
            return np.full(rows.height, NEVER)
        return np.maximum(2 * longs(rows, SEQUENCE) + 1, self.loaded)

    def of_changes(self, rows: pl.DataFrame) -> Longs:
        """When changes become visible: as soon as the watermark advances to their time. A change
        behind the watermark becomes visible when it next advances; without any watermark, at once,
        but not before all is loaded.
        """
        sequence, time = longs(rows, SEQUENCE), longs(rows, TIME)
        firing = self.advances.firing(sequence, time)
        moments = np.append(2 * self.advances.sequence, NEVER)
        visible = moments[firing]
        if self.before == BEFORE_ALL and self.loaded < NEVER:
            first = moments[0]
            arrived = np.maximum(2 * sequence + 1, self.loaded)
            visible = np.where(arrived < first, np.minimum(arrived, visible), visible)
        return np.asarray(visible, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Ordered:
    """Left rows and changes, numbered in the order in which they are handled."""

    left: pl.DataFrame
    changes: pl.DataFrame

    @property
    def height(self) -> int:
        return self.left.height + self.changes.height

    @classmethod
    def of(
        cls, left: tuple[pl.DataFrame, Longs], changes: tuple[pl.DataFrame, Longs], start: int
    ) -> Ordered:
        """The rows with their moments. Changes of one moment are in the order of their times, and
        come before the left rows; otherwise rows are in order of arrival.
        """
        rows = (changes[0], left[0])
        moment = np.concatenate([changes[1], left[1]])
        is_left = np.repeat([0, 1], [frame.height for frame in rows])
        time = np.concatenate([longs(changes[0], TIME), np.zeros(left[0].height, np.int64)])
        sequence = np.concatenate([longs(frame, SEQUENCE) for frame in rows])
        number = np.empty(moment.size, dtype=np.int64)
        number[stable_order_by(moment, is_left, time, sequence)] = start + np.arange(moment.size)
        mine, theirs = number[changes[0].height :], number[: changes[0].height]
        return cls(_numbered(left[0], mine), _numbered(changes[0], theirs))


def _numbered(rows: pl.DataFrame, number: Longs) -> pl.DataFrame:
    return rows.with_columns(pl.Series(SEQUENCE, number, pl.Int64)).sort(SEQUENCE)
