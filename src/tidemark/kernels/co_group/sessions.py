"""Sessions of two inputs together: rows of both sides bridge the gaps of a key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.co_group.kernel import SIDES, Arriving, ClosedWindows
from tidemark.kernels.columns import ARRIVAL, BEFORE_ALL, HASH, SEQUENCE, STAMP, TIME
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import KeyedTable, Longs, TimeQueue, distinct, longs
from tidemark.kernels.windows.key_numbers import key_numbers
from tidemark.kernels.windows.merging import DROPPED, Spans, merge
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START
from tidemark.kernels.windows.versions import VERSION, are_newest, newest

_FRESH: Final = "_tm_fresh"
_TOUCHED: Final = "_tm_touched"
_SESSION: Final = "_tm_session"
# Int64; the part of a session that a row was assigned to: the position of its first row.
_PART: Final = "_tm_part"
_KEY: Final = "_tm_key_{}"


@dataclass(frozen=True, slots=True)
class SharedSessions:
    """A row opens `[time, time + gap)`, which merges with the open sessions of its key, from either
    side, that it overlaps or touches. It is late if the resulting session is closed.

    Rows are kept by key, each with the part of a session that it was assigned to. The sessions of a
    key are rewritten whenever one of its rows arrives (the newest version counts), with a record
    for each part: parts become one session when a row bridges them, and rows stay where they are.
    """

    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    gap: int

    def step(self, state: State, arriving: Arriving, compaction: Compaction) -> ClosedWindows:
        fresh = self._opened(arriving)
        due, closing = state.queue("closing").take(
            arriving.closed, WINDOW_END, fresh.select(HASH, WINDOW_START, WINDOW_END).clear()
        )
        items = self._with_stored(state, fresh, due)
        over = items.filter(pl.col(WINDOW_END) <= arriving.closed)
        left_open = items.filter(pl.col(WINDOW_END) > arriving.closed)
        sessions = self._written(state.keyed("sessions"), left_open, arriving, compaction)
        changed = left_open.filter(_FRESH).select(HASH, WINDOW_START, WINDOW_END)
        closing = closing.push(changed, WINDOW_END, compaction, pl.DataFrame.unique)
        tables, rows, late = {}, [], []
        for side, came in zip(SIDES, arriving.frames, strict=True):
            placed = _plain(came).join(
                items.filter(_FRESH).select(SEQUENCE, _PART, WINDOW_START, WINDOW_END),
                on=SEQUENCE,
                how="inner",
                maintain_order="left",
            )
            late.append(came.join(placed, on=SEQUENCE, how="anti", maintain_order="left"))
            closed = placed.filter(pl.col(WINDOW_END) <= arriving.closed)
            kept = placed.filter(pl.col(WINDOW_END) > arriving.closed).drop(
                WINDOW_START, WINDOW_END, SEQUENCE
            )
            rows.append(_of_parts(state.keyed(side), over, kept.clear(), closed))
            table = _without_closed(state.keyed(side), closing, over)
            tables[side] = table.append(kept, compaction, self._open_parts(sessions, arriving))
        end = closing.next
        return ClosedWindows(
            {**tables, "sessions": sessions, "closing": closing},
            (rows[0], rows[1]),
            (late[0], late[1]),
            (late[0].height, late[1].height),
            None if end is None else end - 1,
        )

    @property
    def _keys(self) -> tuple[str, ...]:
        """The names of the keys where rows of both sides are combined."""
        return tuple(_KEY.format(place) for place in range(len(self.left_keys)))

    def _opened(self, arriving: Arriving) -> pl.DataFrame:
        """Each row of either side as a session of its own, in order of arrival."""
        sides = [
            rows.select(
                HASH,
                *(pl.col(key).alias(name) for key, name in zip(keys, self._keys, strict=True)),
                pl.col(TIME).alias(WINDOW_START),
                (pl.col(TIME) + self.gap).alias(WINDOW_END),
                SEQUENCE,
                pl.col(SEQUENCE).alias(_PART),
                STAMP,
            )
            for rows, keys in zip(arriving.frames, (self.left_keys, self.right_keys), strict=True)
        ]
        return pl.concat(sides).sort(SEQUENCE)

    def _with_stored(self, state: State, fresh: pl.DataFrame, due: pl.DataFrame) -> pl.DataFrame:
        """The parts of the open sessions of all relevant keys, and the new rows, each with the
        bounds of its current session. Late rows are left out; new rows of an existing session
        go into its first part.
        """
        hashes = distinct(np.concatenate([longs(fresh, HASH), longs(due, HASH)]))
        stored = self._probed(state, hashes, fresh)
        items = pl.concat([stored, fresh.with_columns(pl.lit(True).alias(_FRESH))], how="diagonal")
        key = key_numbers(items, self._keys)
        spans = Spans(key, *(longs(items, name) for name in (WINDOW_START, WINDOW_END, STAMP)))
        found = items.with_columns(pl.Series(_SESSION, merge(spans), pl.Int64))
        of_session = found.filter(pl.col(_SESSION) != DROPPED)
        return of_session.with_columns(
            pl.col(WINDOW_START).min().over(_SESSION),
            pl.col(WINDOW_END).max().over(_SESSION),
            pl.when(_FRESH)
            .then(pl.col(_PART).first().over(_SESSION))
            .otherwise(_PART)
            .alias(_PART),
            # All sessions of the keys that had rows are rewritten.
            pl.col(_FRESH).any().over(HASH, *self._keys).alias(_TOUCHED),
        )

    def _probed(self, state: State, hashes: Longs, fresh: pl.DataFrame) -> pl.DataFrame:
        """The newest records of keys, if their sessions are open."""
        like = fresh.select(HASH, *self._keys, WINDOW_START, WINDOW_END, _PART).clear()
        like = like.with_columns(pl.lit(0, pl.Int64).alias(name) for name in (TIME, VERSION))
        stored = state.keyed("sessions").probe(hashes, like)
        is_open = longs(stored, WINDOW_END) - 1 > state.watermark
        current = are_newest(key_numbers(stored, self._keys), longs(stored, VERSION))
        return stored.filter(pl.Series(is_open & current)).select(
            *like.columns[:-2],
            pl.lit(BEFORE_ALL, pl.Int64).alias(STAMP),
            pl.lit(False).alias(_FRESH),
        )

    def _written(
        self, table: KeyedTable, left: pl.DataFrame, arriving: Arriving, compaction: Compaction
    ) -> KeyedTable:
        parts = left.filter(_TOUCHED).unique([HASH, *self._keys, _PART], maintain_order=True)
        records = parts.select(
            *(HASH, *self._keys, WINDOW_START, WINDOW_END, _PART),
            (pl.col(WINDOW_END) - 1).alias(TIME),
            pl.lit(arriving.end, pl.Int64).alias(VERSION),
        )
        # Closed sessions are removed with their version: older versions of them are closed too.
        is_open = pl.col(WINDOW_END) > arriving.closed
        return table.without_before(arriving.closed).append(
            records, compaction, lambda rows, _: newest(rows, self._keys).filter(is_open)
        )

    def _open_parts(
        self, sessions: KeyedTable, arriving: Arriving
    ) -> Callable[[pl.DataFrame, bool], pl.DataFrame]:
        """Which merged rows are still needed: those in parts of open sessions."""

        def kept(rows: pl.DataFrame, _: bool) -> pl.DataFrame:
            found = [segment.rows().select(_PART, WINDOW_END) for segment in sessions.segments]
            still = pl.concat(found).filter(pl.col(WINDOW_END) > arriving.closed)
            return rows.join(still, on=_PART, how="semi", maintain_order="left")

        return kept


def _plain(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.drop(ARRIVAL, STAMP)


def _of_parts(
    table: KeyedTable, over: pl.DataFrame, like: pl.DataFrame, closed: pl.DataFrame
) -> pl.DataFrame:
    """The rows of closed sessions: those that were kept, then new ones."""
    stored = over.filter(~pl.col(_FRESH))
    parts = stored.select(_PART, WINDOW_START, WINDOW_END)
    kept = table.probe(distinct(longs(stored, HASH)), like)
    rows = kept.join(parts, on=_PART, how="inner", maintain_order="left")
    return pl.concat([rows, closed.select(rows.columns)]).drop(TIME, _PART)


def _without_closed(table: KeyedTable, closing: TimeQueue, over: pl.DataFrame) -> KeyedTable:
    """The rows without those that are older than any open session."""
    return table if over.is_empty() else table.without_before(closing.smallest(WINDOW_START))
