"""Immutable sorted runs of rows: the building blocks of state."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from tidemark.kernels.columns import AFTER_ALL, TIME

Load = Callable[[str], pl.DataFrame]


@dataclass(frozen=True, slots=True)
class Segment:
    """Rows that never change, with a unique id.

    `low` and `high` bound the column by which the table is sorted, `latest` the event time, if the
    rows have one.
    """

    id: str
    height: int
    low: int
    high: int
    size: int
    taken: int = 0  # rows at the front that a queue has taken already
    latest: int = AFTER_ALL
    load: Load = field(default=lambda _: pl.DataFrame(), compare=False, repr=False)

    @classmethod
    def of(cls, frame: pl.DataFrame, column: str) -> Segment:
        """A segment of rows that are already in the table's order."""
        rows = frame.rechunk()
        low, high = rows[column].min(), rows[column].max()
        latest = rows[TIME].max() if TIME in rows.columns else None
        assert isinstance(low, int) and isinstance(high, int)
        return cls(
            id=uuid.uuid4().hex,
            height=rows.height,
            low=low,
            high=high,
            size=int(rows.estimated_size()),
            latest=latest if isinstance(latest, int) else AFTER_ALL,
            load=lambda _: rows,
        )

    @property
    def left(self) -> int:
        return self.height - self.taken

    def rows(self) -> pl.DataFrame:
        """All rows, including taken ones; loaded from the host's storage at the first call."""
        return self.load(self.id)

    def describe(self) -> dict[str, Any]:
        """What must be written to find the segment again."""
        names = ("id", "height", "low", "high", "size", "taken", "latest")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def found(cls, description: Mapping[str, Any], load: Load) -> Segment:
        return cls(**description, load=load)

    def called(self, ids: Mapping[str, str]) -> Segment:
        """The segment with its other id, if it has one there."""
        return replace(self, id=ids.get(self.id, self.id))

    def without_first(self, count: int, low: int) -> Segment:
        return replace(self, taken=count, low=low)


@dataclass(frozen=True, slots=True)
class Compaction:
    """When adjacent segments are merged: as soon as there are `fanout` of similar size.

    Every row is rewritten once per level, so keeping n rows costs O(log n) each, and the number of
    segments is logarithmic too.
    """

    fanout: int = 4
    smallest: int = 1024  # segments up to this height count as equally small

    def mergeable(self, segments: Sequence[Segment]) -> int:
        """How many of the newest segments to merge into one now; often none."""
        if not segments:
            return 0
        level = self._level(segments[-1])
        run = 0
        for segment in reversed(segments):
            if self._level(segment) > level:
                break
            run += 1
        return run if run >= self.fanout else 0

    def _level(self, segment: Segment) -> int:
        level, bound = 0, self.smallest
        while segment.left > bound:
            level, bound = level + 1, bound * self.fanout
        return level
