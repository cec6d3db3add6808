"""The rows of a temporal join that are handled in one step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from tidemark.kernels.arrivals import Advances
from tidemark.kernels.columns import AFTER_ALL, BEFORE_ALL, SEQUENCE, TIME
from tidemark.kernels.history import FLOOR, PURGED, Past
from tidemark.kernels.joined import JoinType, join_rows, user_columns
from tidemark.kernels.keys import Keys
from tidemark.kernels.sorting import stable_order_by
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, longs
from tidemark.kernels.temporal_join.clean_up import NO_TIMER, CleanUp, any_of, largest
from tidemark.kernels.temporal_join.firings import Firings, Requests, fire
from tidemark.kernels.temporal_join.versions import ENDS, VersionIndex


@dataclass(frozen=True, slots=True)
class DueRows:
    """The rows that are due in one step, their keys, and their versions."""

    advances: Advances
    keys: Keys
    past: Past
    left: pl.DataFrame
    left_key: Longs
    left_firing: Longs
    firings: Firings
    index: VersionIndex
    floors: Longs  # per firing: the time of the newest version that it kept behind the watermark

    @classmethod
    def of(
        cls,
        advances: Advances,
        keys: Keys,
        past: Past,
        waiting_left: tuple[pl.DataFrame, Longs],
        requesting: tuple[pl.DataFrame, Longs],
    ) -> DueRows:
        """From left rows and requests, each with the numbers of their keys."""
        left, left_key = waiting_left
        if past.purged.any():
            kept = longs(left, SEQUENCE) >= past.purged[left_key]
            left, left_key = left.filter(kept), left_key[kept]
        waiting = _requests(advances, left, left_key)
        asked = _requests(advances, *requesting)
        # If the key has fired since a version's arrival, the version's request has been handled.
        pending = asked.sequence >= past.fired[asked.key]
        firings = fire(waiting, asked.where(pending), advances)
        index = VersionIndex(past.key, longs(past.versions, TIME), len(keys))
        floors = _floors(firings, index, past, advances)
        return cls(advances, keys, past, left, waiting.key, waiting.firing, firings, index, floors)

    def joined(self, how: JoinType) -> pl.DataFrame:
        """The output, by firing and then in order of arrival."""
        order = stable_order_by(self.left_firing, longs(self.left, SEQUENCE))
        match = self._match()
        ends = self.past.versions[ENDS].to_numpy()
        if match.size and ends.size:
            match = np.where((match >= 0) & ~ends[match], match, -1)
        if how == "inner":
            order = order[match[order] >= 0]
        left = user_columns(self.left)[order]
        right = user_columns(self.past.versions).drop(ENDS)
        return join_rows(left, right, match[order], how)

    def _match(self) -> Longs:
        """Per left row the position of the version that is valid at its time, given the state
        when the row is handled.
        """
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

        def usable(version: Longs, row: Longs) -> npt.NDArray[np.bool_]:
            survived = version_time[version] >= floor[row]
            came_later = sequence[version] >= since[row]
            return (sequence[version] < arrived_before[row]) & (survived | came_later)

        return self.index.find(self.left_key, time, usable)

    def _cleaned(self, firing: Longs) -> tuple[Longs, Longs]:
        """The position of a firing in the sequence, and its floor; -1 if it removed nothing."""
        if not self.firings.pairs.size:
            return np.zeros_like(firing), np.full_like(firing, BEFORE_ALL)
        since = np.where(firing >= 0, self.advances.sequence[self.firings.moment[firing]], 0)
        return since, np.where(firing >= 0, self.floors[firing], BEFORE_ALL)

    def records(self) -> pl.DataFrame:
        """A record of each key's last firing, if it changed anything for the key."""
        last = self.firings.last()
        key = self.firings.key[last]
        fired = self.advances.sequence[self.firings.moment[last]]
        floor = np.maximum(self.floors[last], self.past.floor[key])
        # Versions that came since the record before: their requests are handled now.
        arrivals = np.zeros(len(self.keys) + 1, dtype=bool)
        fresh = longs(self.past.versions, SEQUENCE) >= self.past.fired[self.past.key]
        arrivals[self.past.key[fresh]] = True
        changed = arrivals[key] | (floor > self.past.floor[key])
        return self.keys.only(key[changed]).with_columns(
            pl.Series(SEQUENCE, fired[changed], pl.Int64),
            pl.Series(FLOOR, floor[changed], pl.Int64),
            pl.Series(PURGED, self.past.purged[key[changed]], pl.Int64),
        )

    def note_accesses(
        self,
        state: State,
        clean_up: CleanUp,
        left: pl.DataFrame,
        left_keys: tuple[str, ...],
        right: pl.DataFrame,
        now: int,
    ) -> State:
        """Renew the clean-up timers of all keys with new rows or with remaining state.

        A firing that leaves nothing removes the timer; a row after it sets a new one.
        """
        keys, fired = self.keys, self.firings
        left_key, right_key = keys.number(left, left_keys), keys.number(right, keys.names)
        timer, waiting = clean_up.timers(state, keys)
        emptying = self._leaves_nothing(waiting, left_key, longs(left, SEQUENCE))
        emptied = largest(len(keys), fired.key[emptying], fired.moment[emptying])
        last_row = largest(
            len(keys),
            np.concatenate([left_key, right_key]),
            np.concatenate([longs(left, SEQUENCE), longs(right, SEQUENCE)]),
        )
        set_again = last_row >= np.append(self.advances.sequence, 0)[emptied]
        fresh = np.where(set_again, now + clean_up.retention.longest, NO_TIMER)
        renewed = np.where(emptied >= 0, fresh, clean_up.retention.renewed(timer, now))
        accessed = any_of(len(keys), left_key, right_key, fired.key)
        still_waiting = waiting.copy()
        np.add.at(still_waiting, left_key, 1)
        np.subtract.at(still_waiting, self.left_key, 1)
        after = np.where(accessed, renewed, timer)
        return clean_up.note(state, keys, (timer, waiting), (after, still_waiting))

    def _leaves_nothing(
        self, waiting: Longs, left_key: Longs, left_sequence: Longs
    ) -> npt.NDArray[np.bool_]:
        """Per firing whether neither left rows nor versions of its key remain after it."""
        key, moment, width = self.firings.key, self.firings.moment, self.firings.width
        before = np.searchsorted(self.advances.sequence, left_sequence, side="right")
        arrived = np.sort(left_key * width + before)
        handled = np.sort(self.left_key * width + self.left_firing)
        remaining = waiting[key] + _up_to(arrived, key, moment, width)
        remaining -= _up_to(handled, key, moment, width)
        first_version = np.full(len(self.keys) + 1, AFTER_ALL, dtype=np.int64)
        np.minimum.at(first_version, self.past.key, longs(self.past.versions, SEQUENCE))
        no_version = first_version[key] >= self.advances.sequence[moment]
        return np.asarray((remaining == 0) & no_version, dtype=np.bool_)


def _up_to(pairs: Longs, key: Longs, moment: Longs, width: int) -> Longs:
    """How many of the sorted (key, moment) pairs have this key and are not after this moment."""
    first = np.searchsorted(pairs, key * width, side="left")
    return np.asarray(np.searchsorted(pairs, key * width + moment, side="right") - first)


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
