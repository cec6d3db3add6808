"""Windows of fixed length: a pane of each key is aggregated once, and windows merge panes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.aggregates import Aggregates
from tidemark.kernels.columns import AFTER_ALL, HASH, STAMP, TIME
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, TimeQueue, longs, up_to_each
from tidemark.kernels.windows.incoming import Incoming, Outcome, results
from tidemark.kernels.windows.key_numbers import key_numbers
from tidemark.kernels.windows.pane_runs import windows_of_runs
from tidemark.kernels.windows.panes import LAST, PANE, Panes
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START

_WINDOW: Final = "_tm_window"
_PLACE: Final = "_tm_place"
_SINCE: Final = "_tm_since"
_OPEN: Final = "_tm_open"  # Int64; the first of its windows that a row can still be in


@dataclass(frozen=True, slots=True)
class PanedWindows:
    """Emits each window once, when the watermark reaches its last millisecond.

    State is a queue of partial panes by the end of their last window. A step adds its own and only
    reads those of windows that fire; parts of one pane are merged when segments are. `combined`
    rows are partial panes already.
    """

    keys: tuple[str, ...]
    panes: Panes
    aggregates: Aggregates
    compaction: Compaction
    combined: bool = False

    def step(self, state: State, incoming: Incoming) -> Outcome:
        placed = incoming.rows if self.combined else self.panes.of_rows(incoming.rows)
        too_late = self.panes.closed()
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
        """Partial panes instead of rows: one for all rows that are in the same windows."""
        placed = self.panes.of_rows(rows)
        by, also = [*self.keys, PANE], [HASH, TIME]
        (also if self.panes.derived else by).append(LAST)
        if STAMP in rows.columns:
            placed = placed.with_columns(self._first_open())
            by.append(_OPEN)
            also.append(STAMP)
        lifted = self.aggregates.lifted(placed, [*also, *by])
        merged = self.aggregates.merged(lifted, by, also)
        return merged.drop(_OPEN, strict=False)

    def _first_open(self) -> pl.Expr:
        return self.panes.end_after(pl.col(STAMP)).alias(_OPEN)

    def _partial(self, rows: pl.DataFrame, before: int) -> pl.DataFrame:
        """The rows of a step as partial panes.

        A row that arrives after some windows of its pane have closed in this very step must not get
        into them: it makes a part of its own, with the first window it counts for. If there are no
        such rows, no part has it.
        """
        by, also = [*self.keys, PANE], [HASH, LAST]
        if self.panes.overlap:
            closed_now = (pl.col(STAMP) > before) & (self.panes.first - 1 <= pl.col(STAMP))
            if rows.select(closed_now.any()).item():
                rows = rows.with_columns(self._first_open())
                by.append(_OPEN)
        if not self.panes.derived:
            by.append(LAST)
            also.remove(LAST)
        if self.combined:
            # A pane may have several parts, from several places, but few.
            return rows.select(*by, *also, *self.aggregates.names)
        return self.aggregates.merged(self.aggregates.lifted(rows, [*by, *also]), by, also)

    def _exchange(
        self, queue: TimeQueue, fresh: pl.DataFrame, incoming: Incoming
    ) -> tuple[pl.DataFrame, TimeQueue]:
        """The partial panes of windows that fire now, and the queue of those that are needed
        later; some are both.
        """
        stored = [HASH, *self.keys, PANE, LAST, *self.aggregates.names]
        ended, like = incoming.ended, fresh.select(stored).clear()
        over, rest = queue.take(ended, LAST, like)
        found = [over]
        if self.panes.overlap:
            found.append(
                rest.upto(min(ended, AFTER_ALL - self.panes.span) + self.panes.span, LAST, like)
            )
        known = pl.concat(found)
        if _OPEN in fresh.columns:
            known = known.with_columns(self.panes.first.alias(_OPEN))
        firing = pl.concat([known, fresh.select(known.columns)]).filter(self.panes.first <= ended)
        waits = fresh.filter(pl.col(LAST) > ended).select(stored)
        if self.combined:
            waits = self._settled(waits)
        return firing, rest.push(waits, LAST, self.compaction, self._settled)

    def _settled(self, parts: pl.DataFrame) -> pl.DataFrame:
        by = [*self.keys, PANE, LAST]
        return self.aggregates.merged(parts, by, [HASH]).select(parts.columns)

    def _windows(self, parts: pl.DataFrame, incoming: Incoming) -> pl.DataFrame:
        """The windows that close in this step, with everything that is in them."""
        if not self.panes.overlap:
            windows = parts.rename({LAST: WINDOW_END, PANE: WINDOW_START})
            return self.aggregates.merged(windows, [*self.keys, WINDOW_START, WINDOW_END])
        found = self._as_runs(parts, incoming)
        return self._spread(parts, incoming) if found is None else found

    def _as_runs(self, parts: pl.DataFrame, incoming: Incoming) -> pl.DataFrame | None:
        """The windows as runs of panes; None if some pane is only in some of its windows, or
        accumulators are more than numbers.
        """
        if _OPEN in parts.columns or self.aggregates.depends_on_order:
            return None
        before, ended = incoming.before, incoming.ended
        return windows_of_runs(parts, self.keys, self.panes, self.aggregates, before, ended)

    def _spread(self, parts: pl.DataFrame, incoming: Incoming) -> pl.DataFrame:
        """The windows of panes that are repeated for each window they are in."""
        if self.aggregates.depends_on_order:
            parts = parts.sort(PANE, maintain_order=True)
        place, end = self._closing_ends(parts, incoming)
        # One number for key and window is found much faster than the columns are.
        number = (end - end.min(initial=AFTER_ALL)) // self.panes.every
        width = int(number.max(initial=0)) + 1
        # With the pane, for a query may read the windows and none of their aggregates.
        spread = parts.select(PANE, *self.aggregates.names)[place].with_columns(
            pl.Series(_WINDOW, key_numbers(parts, self.keys)[place] * width + number),
            pl.Series(_PLACE, place),
            pl.Series(WINDOW_END, end),
        )
        windows = self.aggregates.merged(spread, [_WINDOW], [_PLACE, WINDOW_END])
        windows = windows.hstack(parts.select(HASH, *self.keys)[longs(windows, _PLACE)])
        return windows.with_columns(self.panes.window_start.alias(WINDOW_START))

    def _closing_ends(self, parts: pl.DataFrame, incoming: Incoming) -> tuple[Longs, Longs]:
        """The ends of the closing windows each part is in, and the part's position for each."""
        since = self.panes.end_after(incoming.before)
        if _OPEN in parts.columns:
            since = pl.max_horizontal(_OPEN, since)
        until = pl.min_horizontal(LAST, pl.lit(incoming.ended, pl.Int64))
        ends = parts.select(since.alias(_SINCE), ((until - since) // self.panes.every).alias(LAST))
        first, counts = longs(ends, _SINCE), np.maximum(longs(ends, LAST) + 1, 0)
        place = np.repeat(np.arange(parts.height), counts)
        return place, first[place] + up_to_each(counts) * self.panes.every

    def _next(self, queue: TimeQueue, incoming: Incoming) -> int | None:
        earliest = queue.next
        return None if earliest is None else self.panes.next_end(earliest, incoming.ended) - 1
