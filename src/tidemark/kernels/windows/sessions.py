"""Session windows: rows of a key that follow each other closely are together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.aggregates import Aggregates
from tidemark.kernels.columns import BEFORE_ALL, HASH, STAMP, TIME
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import KeyedTable, Longs, distinct, longs
from tidemark.kernels.windows.incoming import Incoming, Outcome, results
from tidemark.kernels.windows.key_numbers import by_key, key_numbers
from tidemark.kernels.windows.merging import DROPPED, Spans, merge
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START
from tidemark.kernels.windows.versions import VERSION, are_newest, newest

_FRESH: Final = "_tm_fresh"
_SESSION: Final = "_tm_session"


@dataclass(frozen=True, slots=True)
class SessionWindows:
    """Emits each session once, when the watermark reaches its last millisecond.

    A row opens `[time, time + gap)`, which merges with the open sessions of its key that it
    overlaps or touches. It is late if the resulting session is closed already.

    State is the open sessions of each key, rewritten whenever a row of the key arrives (the newest
    version counts), and a queue of when to check which key. A session that has grown since is
    simply not over when its old end comes.
    """

    keys: tuple[str, ...]
    gap: int
    aggregates: Aggregates
    compaction: Compaction

    def step(self, state: State, incoming: Incoming) -> Outcome:
        fresh = self._opened(incoming.rows)
        due, closing = state.queue("closing").take(
            incoming.ended, WINDOW_END, fresh.select(HASH, WINDOW_END).clear()
        )
        stored = self._stored(state, fresh, due)
        items = pl.concat([stored, fresh])
        session = self._found(items)
        sessions = self._merged(items, session)
        late = np.flatnonzero(session[stored.height :] == DROPPED)
        over = sessions.filter(pl.col(WINDOW_END) <= incoming.ended)
        table = state.keyed("sessions").without_before(incoming.ended)
        left = self._left_open(sessions, incoming)
        changed = left.filter(_FRESH).select(HASH, WINDOW_END)
        closing = closing.push(changed, WINDOW_END, self.compaction, pl.DataFrame.unique)
        return Outcome(
            {"sessions": self._written(table, left, incoming), "closing": closing},
            results(over, self.keys, self.aggregates),
            incoming.rows[late],
            next_event_time=None if closing.next is None else closing.next - 1,
            waiting=closing.height,
        )

    def _opened(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Each row as a session of its own."""
        opened = rows.with_columns(
            pl.col(TIME).alias(WINDOW_START), (pl.col(TIME) + self.gap).alias(WINDOW_END)
        )
        kept = [HASH, *self.keys, WINDOW_START, WINDOW_END, STAMP]
        return self.aggregates.lifted(opened, kept).with_columns(pl.lit(True).alias(_FRESH))

    def _stored(self, state: State, fresh: pl.DataFrame, due: pl.DataFrame) -> pl.DataFrame:
        """The open sessions of all relevant keys, with the columns of the new ones."""
        hashes = distinct(np.concatenate([longs(fresh, HASH), longs(due, HASH)]))
        like = (
            fresh.clear()
            .drop(STAMP, _FRESH)
            .with_columns(pl.lit(0, pl.Int64).alias(name) for name in (TIME, VERSION))
        )
        stored = state.keyed("sessions").probe(hashes, like)
        is_open = longs(stored, WINDOW_END) - 1 > state.watermark
        current = is_open & are_newest(key_numbers(stored, self.keys), longs(stored, VERSION))
        return (
            stored.filter(current)
            .with_columns(pl.lit(BEFORE_ALL, pl.Int64).alias(STAMP), pl.lit(False).alias(_FRESH))
            .select(fresh.columns)
        )

    def _found(self, items: pl.DataFrame) -> Longs:
        """Per item the number of its session, or DROPPED."""
        order, key = by_key(items, self.keys)
        names = (WINDOW_START, WINDOW_END, STAMP)
        session = np.empty_like(key)
        # In this order, rows that arrived in order of time need not be sorted any more.
        session[order] = merge(Spans(key, *(longs(items, name)[order] for name in names)))
        return session

    def _merged(self, items: pl.DataFrame, session: Longs) -> pl.DataFrame:
        """The merged items: sessions, in the order of their first items."""
        marked = items.with_columns(pl.Series(_SESSION, session))
        if (session == DROPPED).any():
            marked = marked.filter(pl.col(_SESSION) != DROPPED)
        return self.aggregates.merged(
            marked,
            [_SESSION],
            first=(HASH, *self.keys),
            least=(WINDOW_START,),
            greatest=(WINDOW_END, _FRESH),
        )

    def _left_open(self, sessions: pl.DataFrame, incoming: Incoming) -> pl.DataFrame:
        """The sessions to keep: all of the keys that had rows."""
        touched = pl.col(_FRESH).any().over(HASH, *self.keys)
        return sessions.filter(touched & (pl.col(WINDOW_END) > incoming.ended))

    def _written(self, table: KeyedTable, left: pl.DataFrame, incoming: Incoming) -> KeyedTable:
        records = left.select(
            *(HASH, *self.keys, WINDOW_START, WINDOW_END),
            *self.aggregates.names,
            (pl.col(WINDOW_END) - 1).alias(TIME),
            pl.lit(incoming.end, pl.Int64).alias(VERSION),
        )
        # Closed sessions are removed with their version: older versions of them are closed too.
        is_open = pl.col(WINDOW_END) > incoming.ended
        return table.append(
            records, self.compaction, lambda rows, _: newest(rows, self.keys).filter(is_open)
        )
