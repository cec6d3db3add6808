"""The output of a regular join: pairs, padded rows and single rows, each with a kind, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.columns import SEQUENCE
from tidemark.kernels.join_output import How, beside
from tidemark.kernels.kinds import DELETE, INSERT, Kinds, accumulates, kind_column
from tidemark.kernels.ranges import Flags, Pairs
from tidemark.kernels.regular_join.lifetimes import PARTNERS, Present
from tidemark.kernels.sorting import stable_order_by
from tidemark.kernels.tables import Longs, longs

# The output of one row, match by match: first what the first match retracts, then the pair, then
# what is emitted again for the last one.
BEFORE, ITSELF, AFTER = range(3)
_PHASES: Final = 3

LEFT, RIGHT = 0, 1


@dataclass(frozen=True, slots=True)
class MatchEvents:
    """How the rows of a side match rows of the other one, in order.

    `row` is an existing row, `event` the other side's row that is added or retracted; `first` marks
    a row's first match, `last` the loss of its only one. Per existing row: the number of its
    matches at the `end`, and whether it was `touched`.
    """

    row: Longs
    event: Longs
    first: Flags
    last: Flags
    end: Longs
    touched: Flags

    @classmethod
    def of(
        cls, mine: Present, mine_found: Pairs, other: Present, other_found: Pairs
    ) -> MatchEvents:
        before = longs(mine.lives, PARTNERS).copy()
        found = np.bincount(mine_found.mine, minlength=mine.events.height)
        before[mine.is_new] = found[mine.adds]  # both are sorted by hash and arrival
        row, event = other_found.theirs, other_found.mine
        order = stable_order_by(row, other.places[event])
        row, event = row[order], event[order]
        change = np.where(other.adds[event], 1, -1)
        partners = before[row] + _sum_before(row, change)
        end = before.copy()
        np.add.at(end, row, change)
        return cls(
            row,
            event,
            first=(change > 0) & (partners == 0),
            last=(change < 0) & (partners == 1),
            end=end,
            touched=np.isin(np.arange(end.size), row),
        )


def _sum_before(group: Longs, values: Longs) -> Longs:
    """Per element the sum of those before it in its group; equal groups are adjacent."""
    sums = np.cumsum(values) - values
    start = np.searchsorted(group, group, side="left")
    return sums - sums[start]


@dataclass(slots=True)
class Changes:
    """Collects the output, with the wanted columns of each side."""

    empty: tuple[pl.DataFrame, pl.DataFrame]
    how: How
    parts: list[pl.DataFrame] = field(default_factory=list)
    causes: list[Longs] = field(default_factory=list)
    places: list[Longs] = field(default_factory=list)
    kinds: list[Kinds] = field(default_factory=list)

    @property
    def shows_both(self) -> bool:
        return self.how not in ("semi", "anti")

    def pads(self, side: int) -> bool:
        return self.how in (("left", "full"), ("right", "full"))[side]

    def frame(self) -> pl.DataFrame:
        """Everything in the order of its causes."""
        nothing = beside(*self.empty) if self.shows_both else self.empty[LEFT]
        rows = pl.concat([nothing, *self.parts])
        kinds = np.concatenate([np.zeros(0, np.int8), *self.kinds])
        nothing_yet = np.zeros(0, dtype=np.int64)
        places = np.concatenate([nothing_yet, *self.places])
        order = stable_order_by(np.concatenate([nothing_yet, *self.causes]), places)
        return (rows[order] if rows.columns else rows).with_columns(kind_column(kinds[order]))

    # --- what one row causes ---------------------------------------------------------------

    def arrived(self, side: int, present: Present, found: Pairs) -> None:
        """Rows are added or retracted, with the matches they have found."""
        partners = np.bincount(found.mine, minlength=present.events.height)
        self.paired(side, present, found)
        self.themselves(side, present.events, present.kinds, partners > 0)

    def themselves(self, side: int, rows: pl.DataFrame, kinds: Kinds, met: Flags) -> None:
        """The output of arriving rows without the other side, depending on whether they have
        `met` a match.
        """
        if self.shows_both and self.pads(side):
            chosen, kinds = ~met, _as_of_padded(kinds)
        elif not self.shows_both and side == LEFT:
            chosen = met if self.how == "semi" else ~met
        else:
            return
        rows, kinds = rows.filter(chosen), kinds[chosen]
        self._add(self._unmatched(side, rows), longs(rows, SEQUENCE), ITSELF, kinds)

    def paired(self, side: int, present: Present, found: Pairs) -> None:
        """The pairs themselves, unless only one side comes out."""
        if not self.shows_both:
            return
        kinds = present.kinds[found.mine]
        if self.pads(side):
            kinds = _as_of_padded(kinds)
        elif self.pads(1 - side):
            kinds = np.where(present.adds[found.mine], INSERT, kinds)
        rows = self._gathered(side, present.events, found.mine)
        partners = self._gathered(1 - side, found.rows, found.theirs)
        pairs = beside(rows, partners) if side == LEFT else beside(partners, rows)
        places = found.theirs * _PHASES + ITSELF
        self._add(pairs, present.places[found.mine], places, kinds)

    def met(self, side: int, mine: Present, other: Present, match_events: MatchEvents) -> None:
        """Existing rows get their first match, or lose their only one."""
        for chosen, phase, comes in (
            (match_events.first, BEFORE, self.how == "semi"),
            (match_events.last, AFTER, self.how != "semi"),
        ):
            event = match_events.event[chosen]
            kinds = np.full(event.size, INSERT if comes else DELETE, dtype=np.int8)
            if self.how == "semi":
                kinds = other.kinds[event]
            row = match_events.row[chosen]
            places = row * _PHASES + phase
            self._add(self._unmatched(side, mine.lives[row]), other.places[event], places, kinds)

    # --- rows --------------------------------------------------------------------------------

    def _gathered(self, side: int, rows: pl.DataFrame, positions: Longs) -> pl.DataFrame:
        shown = rows.select(self.empty[side].columns)
        # Nothing to gather from a side without wanted columns.
        return shown[positions] if shown.columns else shown

    def _unmatched(self, side: int, rows: pl.DataFrame) -> pl.DataFrame:
        """Unmatched rows: next to NULLs if both sides are emitted."""
        shown = rows.select(self.empty[side].columns)
        if not self.shows_both:
            return shown
        nulls = self.empty[1 - side].clear(rows.height)
        return beside(shown, nulls) if side == LEFT else beside(nulls, shown)

    def _add(self, rows: pl.DataFrame, causes: Longs, places: Longs | int, kinds: Kinds) -> None:
        """Rows caused by other rows, with their positions in the output of each cause."""
        if causes.size:
            self.parts.append(rows)
            self.causes.append(causes)
            self.places.append(np.broadcast_to(places, causes.shape))
            self.kinds.append(kinds.astype(np.int8))


def _as_of_padded(kinds: Kinds) -> Kinds:
    """If a side is padded, its rows are inserted and deleted, not updated."""
    return np.where(accumulates(kinds), INSERT, DELETE)
