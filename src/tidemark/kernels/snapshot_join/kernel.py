"""The join of `LATERAL SNAPSHOT`: each left row with the right rows that are there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.arrivals import Arrivals, arrange
from tidemark.kernels.columns import AFTER_ALL, BEFORE_ALL, HASH, KIND, SEQUENCE, TIME
from tidemark.kernels.joined import JoinType
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.ranges import Pairs
from tidemark.kernels.regular_join.changes import LEFT, Changes
from tidemark.kernels.regular_join.lifetimes import JoinInput, Present
from tidemark.kernels.regular_join.matching import Matching, plain
from tidemark.kernels.regular_join.sides import StoredSide
from tidemark.kernels.segments import Compaction
from tidemark.kernels.snapshot_join.expiry import Expiry
from tidemark.kernels.snapshot_join.order import NEVER, Moments, Ordered
from tidemark.kernels.snapshot_join.phase import Phase
from tidemark.kernels.state import State
from tidemark.kernels.tables import earliest
from tidemark.kernels.temporal_join.clean_up import CleanUp, Retention

# All arriving left rows, if the right side has been loaded before.
_LOADED: Final = BEFORE_ALL


@dataclass(frozen=True, slots=True)
class SnapshotJoinKernel:
    """Join each left row with the current right rows of its key, once these have been loaded.

    They have been loaded when the watermark reaches `load_until`; if that is the time `at_start` of
    the job, it stays the same when the job is started again. With `idle_ms`, they have also been
    loaded if neither right rows nor a watermark have come for so long after the first ones. Left
    rows wait until then, and are emitted in order of arrival; later ones are emitted at once.

    The watermark is that of the right side. A change of it becomes visible when the watermark
    reaches its time, in the order of these times. Before the first watermark, changes become
    visible when they arrive. Retracting a row that is not there has no effect.
    """

    left_keys: tuple[str, ...]
    right: JoinInput
    load_until: int
    at_start: bool = False
    how: JoinType = "inner"
    idle_ms: int | None = None
    condition: pl.Expr | None = field(default=None, compare=False)
    nulls_equal: tuple[bool, ...] | None = None
    wanted: tuple[str, ...] = ()
    retention: Retention | None = None
    compaction: Compaction = field(default_factory=Compaction)
    pairs_at_once: int | None = None

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        arrivals = arrange(state, inputs, watermark)
        left, changes = arrivals.frames
        phase = Phase.of(state, self.load_until, at_start=self.at_start)
        if self.retention:
            state = self._expired(state, left, changes, phase, processing_time)
        moments, phase = self._moments(state, arrivals, phase, processing_time)
        joined, state = self._due_left(state, left, moments)
        visible, state = self._due_changes(state, changes, moments)
        ordered = Ordered.of(joined, visible, state.sequence)
        pieces, state = self._joined(state, ordered, processing_time)
        output, more = next(pieces), pieces if self.pairs_at_once else None
        # The numbers of this step, which may be of rows that came before it, are used up.
        end = max(arrivals.end, state.sequence + ordered.height)
        state = replace(state, watermark=arrivals.watermark, sequence=end)
        state = phase.noted_in(state, self.compaction)
        waiting = state.queue("held").height + state.queue("changes").height
        rows_in = arrivals.rows_in
        metrics = Metrics.of(state, rows_in, (0,) * len(rows_in), output.height, waiting)
        return Step(state, output, metrics, self._next(state, phase), more=more)

    def limited(self, pairs: int | None) -> SnapshotJoinKernel:
        return replace(self, pairs_at_once=pairs)

    # --- what is handled now -----------------------------------------------------------------

    def _moments(
        self, state: State, arrivals: Arrivals, phase: Phase, now: int
    ) -> tuple[Moments, Phase]:
        """The moments of the step, and the phase after it."""
        comes = len(arrivals.advances) > 0 or arrivals.frames[1].height > 0
        loaded = None
        if phase.loaded:
            loaded = _LOADED
        elif state.watermark >= phase.until or (not comes and phase.is_idle(self.idle_ms, now)):
            loaded = 2 * state.sequence
        moments = Moments.of(arrivals.advances, state.watermark, loaded, phase.until)
        if comes and not phase.loaded:
            phase = phase.active(now)
        if moments.loaded < NEVER and not phase.loaded:
            phase = phase.ended(now)
        return moments, phase

    def _due_left(
        self, state: State, left: pl.DataFrame, moments: Moments
    ) -> tuple[tuple[pl.DataFrame, np.ndarray], State]:
        """The left rows to join now, with their moments; others start to wait."""
        held = state.queue("held")
        if moments.loaded == NEVER:
            held = held.push(left, SEQUENCE, self.compaction)
            rows = left.clear()
        else:
            waited, held = held.take(AFTER_ALL, SEQUENCE, left.clear())
            rows = pl.concat([waited, left])
        return (rows, moments.of_left(rows)), state.with_tables(held=held)

    def _due_changes(
        self, state: State, changes: pl.DataFrame, moments: Moments
    ) -> tuple[tuple[pl.DataFrame, np.ndarray], State]:
        """The changes that become visible now, with their moments; others start to wait."""
        changes = changes.filter(self._matchable())
        waited, queue = state.queue("changes").take(self._reach(moments), TIME, changes.clear())
        rows = pl.concat([waited, changes])
        moment = moments.of_changes(rows)
        due = moment < NEVER
        queue = queue.push(rows.filter(~due), TIME, self.compaction)
        return (rows.filter(due), moment[due]), state.with_tables(changes=queue)

    def _reach(self, moments: Moments) -> int:
        """The time up to which changes that have waited may be visible now."""
        if moments.before == BEFORE_ALL and moments.loaded < NEVER:
            return AFTER_ALL
        advances = moments.advances
        return int(advances.watermark[-1]) if len(advances) else BEFORE_ALL

    def _matchable(self) -> pl.Expr:
        """Whether the keys have no NULLs that equal nothing."""
        nulls = self.nulls_equal or (False,) * len(self.right.keys)
        strict = [key for key, equal in zip(self.right.keys, nulls, strict=True) if not equal]
        return pl.all_horizontal(pl.lit(True), *(pl.col(key).is_not_null() for key in strict))

    def _next(self, state: State, phase: Phase) -> int | None:
        """Changes need no call: they are made visible by the next one, whatever that is for."""
        waits = not phase.loaded and state.queue("held").height > 0
        return earliest(phase.until) if waits and state.watermark < AFTER_ALL else None

    # --- joining -----------------------------------------------------------------------------

    def _side(self) -> StoredSide:
        # What expires is marked like what is retracted.
        input_ = replace(self.right, retracts=True) if self.retention else self.right
        return StoredSide("right", input_, False, None, self.compaction)

    def _joined(
        self, state: State, ordered: Ordered, now: int
    ) -> tuple[Iterator[pl.DataFrame], State]:
        rows, changes = ordered.left.drop(TIME), ordered.changes.drop(TIME)
        side = self._side()
        right = side.present(state, changes, rows, now)
        left = Present.of(JoinInput(self.left_keys), rows.clear(), rows)
        untouched = np.zeros(right.lives.height, dtype=bool)
        return self._pieces(left, right), side.write(state, right, None, untouched, now)

    def _pieces(self, left: Present, right: Present) -> Iterator[pl.DataFrame]:
        """The output; if there are very many pairs, these come first, some at a time."""
        nulls_equal = self.nulls_equal or (False,) * len(self.left_keys)
        matching = Matching((self.left_keys, self.right.keys), nulls_equal, self.condition)
        stretches = left.searching().stretches(right.lives)
        at_once = self.pairs_at_once is None or stretches.total <= self.pairs_at_once
        changes = self._changes(left, right)
        met = np.zeros(left.events.height, dtype=bool)
        for positions in stretches.pieces(self.pairs_at_once):
            pairs = Pairs(right.lives, *positions)
            pairs = pairs.where(right.died[pairs.theirs] > left.places[pairs.mine])
            found = matching.met(LEFT, left.events, pairs)
            met[found.mine] = True
            piece = changes if at_once else self._changes(left, right)
            piece.paired(LEFT, left, found)
            if piece is not changes:
                yield piece.frame().drop(KIND)
        changes.themselves(LEFT, left.events, left.kinds, met)
        yield changes.frame().drop(KIND)

    def _changes(self, left: Present, right: Present) -> Changes:
        return Changes((self._shown(left.events), self._shown(right.lives)), self.how)

    def _shown(self, rows: pl.DataFrame) -> pl.DataFrame:
        """An empty frame with the columns of a side that are emitted."""
        empty = plain(rows).clear()
        return empty.select(n for n in empty.columns if not self.wanted or n in self.wanted)

    # --- idle keys ---------------------------------------------------------------------------

    def _expired(
        self, state: State, left: pl.DataFrame, changes: pl.DataFrame, phase: Phase, now: int
    ) -> State:
        """The state without idle keys, and after the access to those of arriving rows."""
        assert self.retention is not None
        clean_up = CleanUp(self.retention, self.right.keys, self.compaction)
        expiry = Expiry(clean_up, self._side())
        state = expiry.expired(state, changes, phase, now)
        names = dict(zip(self.left_keys, self.right.keys, strict=True))
        arriving = left.select(HASH, *self.left_keys).rename(names)
        return expiry.accessed(state, arriving, changes, now)
