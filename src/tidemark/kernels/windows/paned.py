"""Windows of fixed length: a pane of each key is aggregated once, and windows merge panes."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from tidemark.kernels.aggregates import Aggregates
from tidemark.kernels.columns import AFTER_ALL, HASH, STAMP, TIME
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import TimeQueue
from tidemark.kernels.windows.incoming import Incoming, Outcome, results
from tidemark.kernels.windows.panes import LAST, PANE, Panes
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START

_OPEN = "_tm_open"  # the first of its windows that a row can still be in


@dataclass(frozen=True, slots=True)
class PanedWindows:
    """Tells each window once, when the watermark reaches its last millisecond.

    State is a queue of partial panes by the end of their last window. A step adds its own and
    reads none but those of windows that fire; parts of one pane merge when segments do.
    `combined` rows are partial panes already.
    """

    keys: tuple[str, ...]
    panes: Panes
    aggregates: Aggregates
    compaction: Compaction
    combined: bool = False

    def step(self, state: State, incoming: Incoming) -> Outcome:
        placed = incoming.rows if self.combined else self.panes.of_rows(incoming.rows)
        too_late = pl.col(LAST) - 1 <= pl.col(STAMP)
        late, in_time = placed.filter(too_late), placed.filter(~too_late)
        fresh = self._partial(in_time, incoming.before)
        firing, queue = self._exchange(state.queue("panes"), fresh, incoming)
        output = results(self._windows(firing, incoming), self.keys, self.aggregates)
        return Outcome(
            {"panes": queue},
            output,
            late.drop(PANE, LAST),
            next_event_time=self._next(queue, incoming),
            waiting=queue.height,
        )

    def combine(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Partial panes instead of rows: of rows that are in the same windows, one is made."""
        placed = self.panes.of_rows(rows)
        also = [pl.col(name).first() for name in (HASH, TIME, STAMP) if name in rows.columns]
        by = [*self.keys, PANE, LAST]
        if STAMP in rows.columns:
            placed = placed.with_columns(self._first_open())
            by.append(_OPEN)
        kept = [HASH, TIME, *by, *([STAMP] if STAMP in rows.columns else [])]
        merged = self.aggregates.merged(self.aggregates.lifted(placed, kept), by, *also)
        return merged.drop(_OPEN, strict=False)

    def _first_open(self) -> pl.Expr:
        return self.panes.end_after(pl.col(STAMP)).alias(_OPEN)

    def _partial(self, rows: pl.DataFrame, before: int) -> pl.DataFrame:
        """The rows of a step as partial panes.

        A row that comes after some windows of its pane have closed in this very step must not
        get into them: it makes a part of its own, which says where it begins to count.
        """
        by = [*self.keys, PANE, LAST]
        if self.panes.overlap:
            closed_now = (pl.col(STAMP) > before) & (self.panes.first - 1 <= pl.col(STAMP))
            split = rows.select(closed_now.any()).item()
            begins = self._first_open() if split else self.panes.first.alias(_OPEN)
            rows = rows.with_columns(begins)
            by.append(_OPEN)
        if self.combined:
            return rows.select(HASH, *by, *self.aggregates.names)
        lifted = self.aggregates.lifted(rows, [HASH, *by])
        return self.aggregates.merged(lifted, by, pl.col(HASH).first())

    def _exchange(
        self, queue: TimeQueue, fresh: pl.DataFrame, incoming: Incoming
    ) -> tuple[pl.DataFrame, TimeQueue]:
        """The partial panes of windows that fire now, and the queue of those that are needed
        later; some are both."""
        stored = [HASH, *self.keys, PANE, LAST, *self.aggregates.names]
        ended, like = incoming.ended, fresh.select(stored).clear()
        over, rest = queue.take(ended, LAST, like)
        found = [over]
        if self.panes.overlap:
            found.append(
                rest.upto(min(ended, AFTER_ALL - self.panes.span) + self.panes.span, LAST, like)
            )
        known = pl.concat(found)
        if self.panes.overlap:
            known = known.with_columns(self.panes.first.alias(_OPEN))
        firing = pl.concat([known, fresh.select(known.columns)]).filter(self.panes.first <= ended)
        waits = fresh.filter(pl.col(LAST) > ended).select(stored)
        return firing, rest.push(waits, LAST, self.compaction, self._settled)

    def _settled(self, parts: pl.DataFrame) -> pl.DataFrame:
        by = [*self.keys, PANE, LAST]
        return self.aggregates.merged(parts, by, pl.col(HASH).first()).select(parts.columns)

    def _windows(self, parts: pl.DataFrame, incoming: Incoming) -> pl.DataFrame:
        """The windows that close in this step, with all that is in them."""
        if self.panes.overlap:
            parts = self._in_each_window(parts, incoming)
        else:
            parts = parts.rename({LAST: WINDOW_END, PANE: WINDOW_START})
        return self.aggregates.merged(parts, [*self.keys, WINDOW_START, WINDOW_END])

    def _in_each_window(self, parts: pl.DataFrame, incoming: Incoming) -> pl.DataFrame:
        if self.aggregates.depends_on_order:
            parts = parts.sort(PANE, maintain_order=True)
        since = pl.max_horizontal(_OPEN, self.panes.end_after(incoming.before))
        until = pl.min_horizontal(LAST, pl.lit(incoming.ended, pl.Int64))
        ends = pl.int_ranges(since, until + 1, self.panes.every, dtype=pl.Int64)
        return (
            parts.with_columns(ends.alias(WINDOW_END))
            .explode(WINDOW_END, empty_as_null=False)
            .with_columns(self.panes.window_start.alias(WINDOW_START))
        )

    def _next(self, queue: TimeQueue, incoming: Incoming) -> int | None:
        earliest = queue.next
        return None if earliest is None else self.panes.next_end(earliest, incoming.ended) - 1
