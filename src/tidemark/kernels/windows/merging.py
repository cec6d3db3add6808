"""Which spans of time form a session, if each has its own watermark.

Three facts make this a matter of whole columns. New spans have the same length, no stored one is
shorter, and the watermark never decreases; so

1.  A span that reaches beyond its watermark is never late. It joins what it touches through spans
    that by themselves reach beyond its watermark too: whether two of these, m and the later
    starting n, have met is seen from both alone (m ends after n starts, and after n's watermark),
    and sessions are runs along the time axis.
2.  A span that ends behind its watermark makes no session longer, so it never matters to those. It
    can join only the session that lies over its watermark, by touching that session's start.
3.  What of that session lies behind the watermark will not become more connected than it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from tidemark.kernels.columns import AFTER_ALL
from tidemark.kernels.sorting import stable_order
from tidemark.kernels.tables import Longs, distinct

DROPPED: Final = -1
# The maximum length of chains of late rows for passes over whole columns; see `_one_by_one`.
_PASSES: Final = 8

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Spans:
    """Spans `[start, end)` of numbered keys, those of a key in order of arrival, each with the
    watermark before it, which never decreases along a key.

    Stored spans come first, with the smallest possible watermark. All others have the same length,
    and no stored span is shorter.
    """

    key: Longs
    start: Longs
    end: Longs
    stamp: Longs

    def only(self, chosen: Longs) -> Spans:
        return Spans(self.key[chosen], self.start[chosen], self.end[chosen], self.stamp[chosen])


def merge(spans: Spans) -> Longs:
    """Per span the number of its session; DROPPED if it was late."""
    session = np.full(spans.key.size, DROPPED, dtype=np.int64)
    if not session.size:
        return session
    line = _Line.of(spans)
    behind = spans.end - 1 <= spans.stamp
    if not behind.any():
        sessions = _Sessions.of(spans, line)
        session[sessions.order] = sessions.number
        return session
    ahead, late = np.flatnonzero(~behind), np.flatnonzero(behind)
    if ahead.size:
        sessions = _Sessions.of(spans.only(ahead), line)
        session[ahead[sessions.order]] = sessions.number
        session[late] = _joined(spans, late, replace(sessions, order=ahead[sessions.order]), line)
    return session


@dataclass(frozen=True, slots=True)
class _Line:
    """The time axes of all keys one after the other, as one line of integers."""

    low: int
    width: int
    times: Longs | None

    @classmethod
    def of(cls, spans: Spans) -> _Line:
        low, high = int(spans.start.min()), int(spans.end.max())
        if (int(spans.key.max()) + 2) * (high - low + 1) < 2**62:
            return cls(low, high - low + 1, None)
        # Too long to be counted in milliseconds: count the times that occur.
        times = distinct(np.concatenate([spans.start, spans.end]))
        return cls(low, len(times), times)

    def at(self, key: Longs, time: Longs) -> Longs:
        """Positions that compare like times with those of starts and ends; a time after all of
        them is between the key and the next.
        """
        if self.times is not None:
            return np.asarray(key * self.width + np.searchsorted(self.times, time))
        return np.asarray(key * self.width + np.minimum(time, self.low + self.width) - self.low)


@dataclass(frozen=True, slots=True)
class _Sessions:
    """The sessions of spans that reach beyond their watermarks, in order of their starts;
    `order` is the order of these spans, `reach` the maximum end so far.
    """

    order: Longs
    start: Longs
    reach: Longs
    follows: Flags
    number: Longs

    @classmethod
    def of(cls, spans: Spans, line: _Line) -> _Sessions:
        start, reach = line.at(spans.key, spans.start), line.at(spans.key, spans.end)
        # The first end with which a span touches the one before, below its own end.
        needed = start
        if (spans.stamp + 1 >= spans.start).any():
            needed = line.at(spans.key, np.maximum(spans.start, spans.stamp + 2))
        order = np.arange(start.size)
        if (start[1:] < start[:-1]).any():
            order = stable_order(start)
            needed, reach, start = needed[order], reach[order], start[order]
        # Keys ascend along the line, so running extremes never come from another one.
        reach = np.maximum.accumulate(reach)
        needed = np.minimum.accumulate(needed[::-1])[::-1]
        follows = np.append(False, reach[:-1] >= needed[1:])
        return cls(order, start, reach, follows, np.cumsum(~follows) - 1)

    @property
    def first(self) -> Longs:
        """Per session its start."""
        return self.start[~self.follows]


def _joined(spans: Spans, late: Longs, sessions: _Sessions, line: _Line) -> Longs:
    """The sessions that spans behind their watermarks join, or DROPPED."""
    key = spans.key[late]
    watermark = np.minimum(spans.stamp[late], spans.end.max())
    over = np.searchsorted(sessions.reach, line.at(key, watermark + 2))
    # Only those whose key has a session beyond the watermark at some time matter.
    there = np.flatnonzero(over < len(sessions.order))
    there = there[spans.key[sessions.order[over[there]]] == key[there]]
    over, late, key = over[there], late[there], key[there]
    start, end = line.at(key, spans.start[late]), line.at(key, spans.end[late])
    session = sessions.number[over]
    # Either the part of the session behind the watermark reaches down to the span ...
    meets = sessions.follows[over] & (sessions.first[session] <= end)
    # ... or something that spans the watermark does, and arrived before.
    upto = np.searchsorted(sessions.start, end, side="right")
    asked = np.flatnonzero(~meets & (over < upto))
    meets[asked] = _least(sessions.order, over[asked], upto[asked]) < late[asked]
    meets |= _through_others(session, start, end, meets)
    found = np.full(len(watermark), DROPPED, dtype=np.int64)
    found[there] = np.where(meets, session, DROPPED)
    return found


def _least(values: Longs, first: Longs, end: Longs) -> Longs:
    """The smallest value of each range of positions, none of them empty."""
    least = np.empty(len(first), dtype=np.int64)
    level = np.frexp((end - first).astype(np.float64))[1] - 1
    for power in range(int(level.max(initial=-1)) + 1):
        # Here each value is the smallest of 2**power, from its position on.
        mine = level == power
        least[mine] = np.minimum(values[first[mine]], values[end[mine] - 2**power])
        values = np.minimum(values[: -(2**power)], values[2**power :])
    return least


def _through_others(session: Longs, start: Longs, end: Longs, meets: Flags) -> Flags:
    """Which spans join a session thanks to others, which arrived before and made it start
    earlier; given in order of arrival, with those that touch it directly.
    """
    joins = meets.copy()
    chosen = np.flatnonzero(_any_of(session, meets))
    # The last session first: along the rows, the smallest start so far is then the session's own.
    chosen = chosen[stable_order(-session[chosen])]
    ordered, base = np.sort(start[chosen]), session[chosen] * (chosen.size + 1)
    rank = base + np.searchsorted(ordered, start[chosen])
    touched = base + np.searchsorted(ordered, end[chosen], side="right")
    nothing = base + chosen.size
    for _ in range(_PASSES):
        if not chosen.size:
            return joins
        lowest = np.minimum.accumulate(np.where(joins[chosen], rank, nothing))
        more = ~joins[chosen] & (lowest < touched)
        joins[chosen[more]] = True
        left = _any_of(session[chosen], more)
        chosen, rank, touched, nothing = (a[left] for a in (chosen, rank, touched, nothing))
    joins[chosen] = _one_by_one(session[chosen], start[chosen], end[chosen], joins[chosen])
    return joins


def _any_of(session: Longs, flags: Flags) -> Flags:
    """Whether a flag is set for any span of the same session."""
    found = np.zeros(int(session.max(initial=-1)) + 1, dtype=np.bool_)
    found[session[flags]] = True
    return found[session]


def _one_by_one(session: Longs, start: Longs, end: Longs, meets: Flags) -> Flags:
    """The result of an unlimited number of passes, in one scan over the rows.

    Each pass goes one link further along chains of late rows of which each is accepted because of
    the one before it (as when a day is read backward). For a long chain, passes over whole columns
    would find little, so the rows of those sessions, and no others, are scanned one by one.
    """
    joins = meets.copy()
    current, lowest = DROPPED, AFTER_ALL
    rows = zip(session.tolist(), start.tolist(), end.tolist(), meets.tolist(), strict=True)
    for place, (session_, start_, end_, met) in enumerate(rows):
        if session_ != current:
            current, lowest = session_, AFTER_ALL
        if met or lowest <= end_:
            joins[place] = True
            lowest = min(lowest, start_)
    return joins
