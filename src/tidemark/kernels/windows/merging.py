"""Which spans of time become one session, when each comes at its own watermark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.tables import Longs, distinct

DROPPED: Final = -1


@dataclass(frozen=True, slots=True)
class Spans:
    """Spans `[start, end)` of numbered keys in order of arrival, each with the watermark before
    it. Spans that are there already come first, under the smallest watermark there is."""

    key: Longs
    start: Longs
    end: Longs
    stamp: Longs

    def only(self, chosen: Longs) -> Spans:
        return Spans(self.key[chosen], self.start[chosen], self.end[chosen], self.stamp[chosen])


def merge(spans: Spans) -> Longs:
    """Per span the number of its session; DROPPED if it was late.

    Where every span meets its neighbour while both are open, sessions are simply the runs of
    spans that touch. Runs in which one was late, or came when its neighbour was over, are
    gone through span by span: there the order of arrival decides.
    """
    if not spans.key.size:
        return spans.key
    order, reach = _by_start(spans)
    key, start = spans.key[order], spans.start[order]
    end, stamp = spans.end[order], spans.stamp[order]
    follows = np.append(False, (key[1:] == key[:-1]) & (start[1:] <= reach[:-1]))
    run = np.cumsum(~follows) - 1
    before = np.append(start[0], reach[:-1])
    doubtful = (end - 1 <= stamp) | (follows & (before - 1 <= stamp))
    session = np.empty_like(run)
    session[order] = run
    if doubtful.any():
        in_doubt = np.zeros(int(run[-1]) + 1, dtype=bool)
        in_doubt[run[doubtful]] = True
        chosen = np.flatnonzero(in_doubt[session])
        chosen = chosen[np.argsort(session[chosen], kind="stable")]
        found = _one_by_one(session[chosen], spans.only(chosen))
        # The runs' own numbers end before those of the sessions found in them.
        session[chosen] = np.where(found == DROPPED, DROPPED, found + run[-1] + 1)
    return session


def _by_start(spans: Spans) -> tuple[Longs, Longs]:
    """The order by key and start, and along it how far spans of the key reach so far."""
    low = int(spans.start.min())
    width = int(spans.end.max()) - low + 1
    start, end, values = spans.start - low, spans.end - low, None
    if (int(spans.key.max()) + 1) * width >= 2**62:
        values = distinct(np.concatenate([start, end]))
        start, end = np.searchsorted(values, start), np.searchsorted(values, end)
        width = len(values)
    order = _argsort(spans.key * width + start)
    offset = spans.key[order] * width
    # Keys grow along the order, so the running maximum never comes from a smaller one.
    reach = np.maximum.accumulate(offset + end[order]) - offset
    return order, (reach if values is None else values[reach]) + low


def _argsort(values: Longs) -> Longs:
    """Not stable, and several times faster than numpy's."""
    return pl.Series(values).arg_sort().to_numpy().astype(np.int64)


def _one_by_one(run: Longs, spans: Spans) -> Longs:
    """The sessions of spans in doubt, which come run by run, in order of arrival.

    Only such rows are ever looked at alone: those near or behind the end of a session that
    their own watermark has passed.
    """
    merged_into = np.arange(len(run))
    session = np.arange(len(run))
    columns = (run.tolist(), spans.start.tolist(), spans.end.tolist(), spans.stamp.tolist())
    open_: list[tuple[int, int, int]] = []
    current = DROPPED
    for name, (run_, start, end, stamp) in enumerate(zip(*columns, strict=True)):
        open_ = [o for o in open_ if o[1] - 1 > stamp] if run_ == current else []
        current = run_
        met = [o for o in open_ if o[0] <= end and start <= o[1]]
        low, high = min([start, *(m[0] for m in met)]), max([end, *(m[1] for m in met)])
        if high - 1 <= stamp:
            session[name] = DROPPED
            continue
        merged_into[[m[2] for m in met]] = name
        open_ = [o for o in open_ if o not in met]
        open_.append((low, high, name))
    # A session is merged into a later one only, so from the back every name is final.
    for name in range(len(run) - 1, -1, -1):
        merged_into[name] = merged_into[merged_into[name]]
    return np.where(session == DROPPED, DROPPED, merged_into)
