"""When Flink forgets partitions of a range of time, and which rows are late because of that.

A row of time t makes sure that there is a timer at t + p + 1 or later, p being the range; otherwise
it sets one at t + 1.5 p + 1. The timer that was set last clears the partition when the watermark
reaches it. Those before it stay, and when they fire they count like rows that were emitted: no row
at or before their time is accepted any more.

A partition's life is the time until it is cleared. Only rows behind the watermark notice any of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final, Self

import numpy as np

from tidemark.kernels.arrivals import Advances
from tidemark.kernels.columns import BEFORE_ALL
from tidemark.kernels.over.partitions import RowPartitions, changes
from tidemark.kernels.over.successors import Following, reached_from
from tidemark.kernels.ranges import Flags
from tidemark.kernels.sorting import largest_so_far, stable_order, stable_order_by
from tidemark.kernels.tables import Longs

# What happens to a partition at one moment, in this order.
_FIRED, _CLEARED, _ASKED = 0, 1, 2
# The moment of what has happened before a step.
_BEFORE: Final = -1
# No row has a time before it.
_NEVER: Final = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True)
class Timers:
    """Timers and the numbers of the partitions that they are of."""

    partition: Longs
    time: Longs


@dataclass(frozen=True, slots=True)
class KnownLives:
    """What is known of each partition before a step: the timer that will clear it (BEFORE_ALL if
    it does not live), the latest time that has fired in its life, and its earlier timers."""

    clearing: Longs
    fired: Longs
    earlier: Timers

    @property
    def lives(self) -> Flags:
        return np.asarray(self.clearing != BEFORE_ALL)

    def __len__(self) -> int:
        return self.clearing.size

    def also(self, others: Flags, newest: Longs, range_ms: int) -> KnownLives:
        """The same and other partitions that live, of which only the newest times are known."""
        clearing = np.where(others, newest + range_ms * 3 // 2 + 1, self.clearing)
        return KnownLives(clearing, np.where(others, newest, self.fired), self.earlier)


@dataclass(frozen=True, slots=True)
class PartitionRows:
    """Rows in order of arrival."""

    partition: Longs
    sequence: Longs
    time: Longs

    def only(self, which: Flags) -> Self:
        return type(self)(self.partition[which], self.sequence[which], self.time[which])


@dataclass(frozen=True, slots=True)
class Happened:
    """Rows and timers that fired: in which life of a partition, when, and their times."""

    partition: Longs
    life: Longs
    moment: Longs
    time: Longs

    def __len__(self) -> int:
        return self.time.size

    @classmethod
    def all_of(cls, parts: Sequence[Self]) -> Self:
        return cls(
            *(
                np.concatenate([getattr(part, field.name) for part in parts])
                for field in fields(cls)
            )
        )


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """The partitions during a step. `waited` are rows of earlier steps that it emits."""

    range_ms: int
    known: KnownLives
    advances: Advances
    waited: PartitionRows

    def late(self, rows: PartitionRows, stamps: Longs) -> Flags:
        """Which rows are late; `stamps` are the watermarks before them.

        Whether a row is late depends on those before it. So all are decided by what was decided
        the last time, until nothing changes.
        """
        behind = rows.time <= stamps
        accepted = ~behind
        undecided = np.isin(rows.partition, rows.partition[behind])
        while undecided.any():
            some = rows.only(undecided)
            course = Course.of(self, some.only(accepted[undecided]))
            fired = course.fired_before(some)
            now = ~behind[undecided] | (some.time > fired)
            changed = now != accepted[undecided]
            accepted[undecided] = now
            undecided &= np.isin(rows.partition, some.partition[changed])
        return ~accepted


@dataclass(frozen=True, slots=True)
class Course:
    """The lives of partitions during a step, with the rows that were accepted.

    Of each partition there are an event for what is known of it and one for each row, in order of
    arrival; `sets` marks the events whose timers were set, `begins` those of them with which a
    life begins.
    """

    during: Lifetimes
    accepted: PartitionRows
    order: Longs
    partition: Longs
    sequence: Longs
    timer: Longs
    fires: Longs  # the moment at which a timer fires that was set with the event
    sets: Flags
    begins: Flags

    @classmethod
    def of(cls, during: Lifetimes, accepted: PartitionRows) -> Self:
        known, advances, range_ms = during.known, during.advances, during.range_ms
        partition = np.append(np.arange(len(known)), accepted.partition)
        order = stable_order(partition)
        partition = partition[order]
        sequence = np.append(np.full(len(known), -1), accepted.sequence)[order]
        time = np.append(np.full(len(known), _NEVER), accepted.time)[order]
        timer = np.append(known.clearing, accepted.time + range_ms * 3 // 2 + 1)[order]
        fires = advances.firing(sequence, timer)
        head = changes(partition)
        lives = timer != BEFORE_ALL
        fires[~lives] = len(advances)
        # The first row whose own time asks for a later timer, or that finds none.
        enough = np.where(lives, timer - range_ms - 1, _NEVER)
        moments = np.append(advances.sequence, np.iinfo(np.int64).max)
        ends = RowPartitions.of(head, head).end
        later = Following.of(time, ends)
        after = Following.of(sequence, ends)

        def following(at: Longs) -> Longs:
            return np.minimum(later(at, enough[at]), after(at, moments[fires[at]] - 1))

        sets = reached_from(np.flatnonzero(head), following, ends)
        begins = cls._begins(sets, head, lives, moments[fires], sequence)
        return cls(during, accepted, order, partition, sequence, timer, fires, sets, begins)

    @staticmethod
    def _begins(sets: Flags, head: Flags, lives: Flags, fired: Longs, sequence: Longs) -> Flags:
        """Whether the timer before had fired when the event's one was set, or there was none."""
        setting = np.flatnonzero(sets)
        before = setting[:-1]
        begins = np.zeros(sets.size, dtype=np.bool_)
        begins[setting[1:]] = ~lives[before] | (sequence[setting[1:]] >= fired[before])
        return begins & ~head

    @property
    def lives(self) -> Longs:
        """The number of the life of each accepted row in its partition: 0 is the known one."""
        found = np.empty(self.order.size, dtype=np.int64)
        found[self.order] = self._life
        return found[len(self.during.known) :]

    def known_after(self) -> tuple[KnownLives, Longs]:
        """What is known of each partition after the step, and the number of the life in which it
        is then."""
        advances, earlier = self.during.advances, self.during.known.earlier
        setting = np.flatnonzero(self.sets)
        last = setting[np.append(changes(self.partition[setting])[1:], True)[: setting.size]]
        living = (self.timer[last] != BEFORE_ALL) & (self.fires[last] == len(advances))
        clearing = np.where(living, self.timer[last], BEFORE_ALL)
        life, happened = self._life[last], self._happened
        counts = happened.life == life[happened.partition]
        fired = np.full(last.size, BEFORE_ALL)
        np.maximum.at(fired, happened.partition[counts], happened.time[counts])
        replaced = self._replaced
        waits = replaced[self.fires[replaced] == len(advances)]
        still = self._firing_of(earlier) == len(advances)
        timers = Timers(
            np.append(earlier.partition[still], self.partition[waits]),
            np.append(earlier.time[still], self.timer[waits]),
        )
        return KnownLives(clearing, fired, timers), life

    def fired_before(self, rows: PartitionRows) -> Longs:
        """Per row the latest time that has fired in the life of its partition when it arrives."""
        happened, asked = self._happened, rows.partition.size
        clears = np.setdiff1d(np.flatnonzero(self.sets), self._replaced)
        clears = clears[self.fires[clears] < len(self.during.advances)]
        moments = 2 * self.during.advances.sequence
        cleared = moments[self.fires[clears]]
        partition = np.concatenate([happened.partition, self.partition[clears], rows.partition])
        # A row that arrives at the moment of a firing comes after it.
        moment = np.concatenate([happened.moment, cleared, 2 * rows.sequence + 1])
        what = np.repeat([_FIRED, _CLEARED, _ASKED], [len(happened), clears.size, asked])
        time = np.append(happened.time, np.full(clears.size + asked, BEFORE_ALL))
        order = stable_order_by(partition, moment, what)
        life = np.cumsum(changes(partition[order]) | (what[order] == _CLEARED))
        found = np.empty(order.size, dtype=np.int64)
        found[order] = largest_so_far(time[order], life)
        return found[order.size - asked :]

    # --- what happens in the step -----------------------------------------------------------------

    @property
    def _life(self) -> Longs:
        """The number of each event's life in its partition."""
        numbers = np.cumsum(self.begins)
        head = np.flatnonzero(changes(self.partition))
        return np.asarray(numbers - numbers[head][self.partition])

    @property
    def _replaced(self) -> Longs:
        """The events whose timers another one followed in the same life."""
        setting = np.flatnonzero(self.sets)
        after = setting[1:]
        same = (self.partition[after] == self.partition[setting[:-1]]) & ~self.begins[after]
        return np.asarray(setting[:-1][same])

    def _firing_of(self, timers: Timers) -> Longs:
        """When timers fire that were set before the step."""
        return self.during.advances.firing(np.full(timers.time.size, -1), timers.time)

    @property
    def _happened(self) -> Happened:
        """All that fires, and before the step has fired, without clearing its partition."""
        known, waited, rows = self.during.known, self.during.waited, self.accepted
        firing, replaced = self.during.advances.firing, self._replaced
        parts = (
            (known.earlier.partition, None, self._firing_of(known.earlier), known.earlier.time),
            (waited.partition, None, firing(waited.sequence, waited.time), waited.time),
            (rows.partition, self.lives, firing(rows.sequence, rows.time), rows.time),
            (
                self.partition[replaced],
                self._life[replaced],
                self.fires[replaced],
                self.timer[replaced],
            ),
        )
        moments = 2 * self.during.advances.sequence
        found = [
            Happened(
                np.arange(len(known)),
                np.zeros(len(known), np.int64),
                np.full(len(known), _BEFORE),
                known.fired,
            )
        ]
        for partition, life, moment, time in parts:
            fires = moment < len(moments)
            number = np.zeros(partition.size, np.int64) if life is None else life
            found.append(
                Happened(partition[fires], number[fires], moments[moment[fires]], time[fires])
            )
        return Happened.all_of(found)
