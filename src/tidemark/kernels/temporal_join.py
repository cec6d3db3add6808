"""The event-time temporal join: each left row with the version that was valid at its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import polars as pl

from tidemark.kernels.arrivals import Advances, Arrivals, arrange
from tidemark.kernels.columns import (
    ACCUMULATE,
    AFTER_ALL,
    BEFORE_ALL,
    HASH,
    KIND,
    SEQUENCE,
    TIME,
)
from tidemark.kernels.firings import Firings, Requests, fire
from tidemark.kernels.history import (
    FLOOR,
    PURGED,
    Past,
    living_versions,
    newest_records,
    recall,
)
from tidemark.kernels.joined import JoinType, join_rows, of_the_user
from tidemark.kernels.keys import Keys
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, TimeQueue, earliest, longs
from tidemark.kernels.versions import VersionIndex

_ENDS = "_tm_ends"  # a version that says: from here on nothing is valid


@dataclass(frozen=True, slots=True)
class TemporalJoin:
    """Give each left row the right version that was valid at its event time.

    A version holds from its own time until the key's next one. Left rows wait for the
    watermark, because the version that explains them may still arrive; then they come out in
    arrival order, with their own row kind. Once a key has fired, of its versions behind the
    watermark only the newest is remembered, which is what rows that come too late can find.

    `condition` is tested on the joined columns, null counting as false; a row that fails it
    finds nothing, older versions are not tried. `update_before` says what a `-U` row of the
    right side does: nothing, or end the version of its time as a `-D` does.
    """

    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    how: JoinType = "inner"
    condition: pl.Expr | None = field(default=None, compare=False)
    update_before: Literal["ignored", "ends version"] = "ignored"
    compaction: Compaction = Compaction()

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        arrivals = arrange(state, inputs, watermark)
        left, right = arrivals.frames[0], self._versions(arrivals.frames[1])
        due, state = self._take_due(state, arrivals.advances, arrivals.watermark, left, right)
        output = due.joined(self)
        state = self._remember(state, due, right)
        state = replace(state, watermark=arrivals.watermark, sequence=arrivals.end)
        return Step(state, output, _metrics(state, arrivals, output), _next_firing(state))

    def _versions(self, right: pl.DataFrame) -> pl.DataFrame:
        """Right rows as versions. Null keys never match, so they need not be kept."""
        kind = pl.col(KIND) if KIND in right.columns else pl.lit("+I")
        if self.update_before == "ignored":
            right = right.filter(kind != "-U")
        return (
            right.drop_nulls(self.right_keys)
            .with_columns((~kind.is_in(ACCUMULATE)).alias(_ENDS))
            .drop(KIND, strict=False)
        )

    def _take_due(
        self,
        state: State,
        advances: Advances,
        watermark: int,
        left: pl.DataFrame,
        right: pl.DataFrame,
    ) -> tuple[_Due, State]:
        """All rows that are handled in this step; the rest of the new ones starts to wait."""
        until = watermark if len(advances) else BEFORE_ALL
        requests = right.select(HASH, *self.right_keys, TIME, SEQUENCE)
        due_left, waiting = self._exchange(state.queue("waiting"), left, advances, until)
        due_requests, pending = self._exchange(state.queue("requests"), requests, advances, until)
        keys = Keys.of(
            self.right_keys,
            due_left.rename(dict(zip(self.left_keys, self.right_keys, strict=True))),
            due_requests,
        )
        # What arrived after the last firing of this step matters to the next step only.
        visible = advances.sequence[-1] if len(advances) else 0
        past = recall(state, keys, right.filter(pl.col(SEQUENCE) < visible))
        due = _Due.of(advances, keys, past, due_left, due_requests, self.left_keys)
        return due, state.with_tables(waiting=waiting, requests=pending)

    def _exchange(
        self, queue: TimeQueue, rows: pl.DataFrame, advances: Advances, until: int
    ) -> tuple[pl.DataFrame, TimeQueue]:
        """Put new rows into a queue and take those that are due, without storing them first."""
        taken, rest = queue.take(until, TIME, rows.clear())
        due = advances.firing(longs(rows, SEQUENCE), longs(rows, TIME)) < len(advances)
        return (
            pl.concat([taken, rows.filter(due)]),
            rest.push(rows.filter(~due), TIME, self.compaction),
        )

    def _remember(self, state: State, due: _Due, right: pl.DataFrame) -> State:
        firings = state.keyed("firings").append(
            due.records(),
            self.compaction,
            lambda rows, _: newest_records(rows, self.right_keys),
        )
        versions = state.keyed("versions").append(
            right,
            self.compaction,
            lambda rows, _: living_versions(firings, self.right_keys, rows),
        )
        return state.with_tables(firings=firings, versions=versions)


@dataclass(frozen=True, slots=True)
class _Due:
    """The rows that are due in one step, their keys, and what is known of these."""

    advances: Advances
    keys: Keys
    past: Past
    left: pl.DataFrame
    left_key: Longs
    left_firing: Longs
    firings: Firings
    index: VersionIndex
    floors: Longs  # per firing: the time of the newest version it left behind the watermark

    @classmethod
    def of(
        cls,
        advances: Advances,
        keys: Keys,
        past: Past,
        left: pl.DataFrame,
        requests: pl.DataFrame,
        left_keys: tuple[str, ...],
    ) -> _Due:
        waiting = _requests(advances, left, keys.number(left, left_keys))
        asked = _requests(advances, requests, keys.number(requests, keys.names))
        # A firing since a version's arrival has answered its request already.
        pending = asked.sequence >= past.fired[asked.key]
        firings = fire(waiting, asked.where(pending), advances)
        index = VersionIndex(past.key, longs(past.versions, TIME))
        floors = _floors(firings, index, past, advances)
        return cls(advances, keys, past, left, waiting.key, waiting.firing, firings, index, floors)

    def joined(self, join: TemporalJoin) -> pl.DataFrame:
        """The output, firing by firing and within each in arrival order."""
        order = np.lexsort((longs(self.left, SEQUENCE), self.left_firing))
        match = self._match()[order]
        ends = self.past.versions[_ENDS].to_numpy()
        if match.size and ends.size:
            match = np.where((match >= 0) & ~ends[match], match, -1)
        left = of_the_user(self.left)[order]
        right = of_the_user(self.past.versions).drop(_ENDS)
        return join_rows(left, right, match, join.how, join.condition)

    def _match(self) -> Longs:
        """Per left row the position of the version that is valid at its time, as the state
        stands when the row is handled."""
        time = longs(self.left, TIME)
        if len(self.advances) <= 1:
            return self.index.find(self.left_key, time)
        arrived_before = self.advances.sequence[self.left_firing]
        previous = self.firings.before(self.left_key, self.left_firing)
        since, floor = self._cleaned(previous)
        sequence, version_time = (
            longs(self.past.versions, SEQUENCE),
            longs(self.past.versions, TIME),
        )

        def usable(version: Longs, row: Longs) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
            survived = version_time[version] >= floor[row]
            came_later = sequence[version] >= since[row]
            return (sequence[version] < arrived_before[row]) & (survived | came_later)

        return self.index.find(self.left_key, time, usable)

    def _cleaned(self, firing: Longs) -> tuple[Longs, Longs]:
        """Where in the sequence a firing stands, and its floor; -1 cleaned nothing up."""
        if not self.firings.pairs.size:
            return np.zeros_like(firing), np.full_like(firing, BEFORE_ALL)
        since = np.where(firing >= 0, self.advances.sequence[self.firings.moment[firing]], 0)
        return since, np.where(firing >= 0, self.floors[firing], BEFORE_ALL)

    def records(self) -> pl.DataFrame:
        """A record of each key's last firing, where it changed what is known of the key."""
        last = self.firings.last()
        key = self.firings.key[last]
        fired = self.advances.sequence[self.firings.moment[last]]
        floor = np.maximum(self.floors[last], self.past.floor[key])
        # Versions that came since the record before: their requests are answered now.
        arrivals = np.zeros(len(self.keys) + 1, dtype=bool)
        fresh = longs(self.past.versions, SEQUENCE) >= self.past.fired[self.past.key]
        arrivals[self.past.key[fresh]] = True
        changed = arrivals[key] | (floor > self.past.floor[key])
        return self.keys.only(key[changed]).with_columns(
            pl.Series(SEQUENCE, fired[changed], pl.Int64),
            pl.Series(FLOOR, floor[changed], pl.Int64),
            pl.Series(PURGED, self.past.purged[key[changed]], pl.Int64),
        )


def _requests(advances: Advances, rows: pl.DataFrame, key: Longs) -> Requests:
    sequence = longs(rows, SEQUENCE)
    return Requests(key, sequence, advances.firing(sequence, longs(rows, TIME)))


def _floors(firings: Firings, index: VersionIndex, past: Past, advances: Advances) -> Longs:
    """Per firing the time of the newest version at or before its watermark."""
    moment = firings.moment
    sequence = longs(past.versions, SEQUENCE)
    before = advances.sequence[moment]
    found = index.find(
        firings.key,
        advances.watermark[moment],
        lambda version, firing: sequence[version] < before[firing],
    )
    times = np.append(longs(past.versions, TIME), BEFORE_ALL)
    return times[found]


def _next_firing(state: State) -> int | None:
    time = earliest(state.queue("waiting").next, state.queue("requests").next)
    if time is None or state.watermark == AFTER_ALL:
        return None
    return max(time, state.watermark + 1)


def _metrics(state: State, arrivals: Arrivals, output: pl.DataFrame) -> Metrics:
    return Metrics(
        rows_in=arrivals.rows_in,
        late=arrivals.late,
        rows_out=output.height,
        waiting=state.queue("waiting").height,
        state_rows=state.height,
        state_bytes=state.size,
        segments=sum(1 for _ in state.segments()),
        watermark=state.watermark,
    )
