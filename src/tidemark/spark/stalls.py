"""Why nothing comes out: rows wait for a watermark, and some source holds it back."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from tidemark.spark.moments import is_end

if TYPE_CHECKING:
    from tidemark.spark.source_watermarks import SourceProgress


@dataclass(frozen=True, slots=True)
class Stall:
    """Nothing has come out for so many `seconds` although rows wait, most of them in this
    `operator`. The `source` with the smallest watermark holds it back; it is None at the
    end of all input.
    """

    seconds: float
    operator: str
    waiting: int
    source: SourceProgress | None


class Stillness:
    """How long nothing has come out of a query in which rows wait."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._rows_out: int | None = None
        self._since = clock()

    def stall(
        self, rows_out: int, waiting_rows: Mapping[str, int], sources: Sequence[SourceProgress]
    ) -> Stall | None:
        """Called now and then; None if no rows wait in any operator."""
        waiting = [(name, rows) for name, rows in waiting_rows.items() if rows]
        if rows_out != self._rows_out or not waiting:
            self._rows_out, self._since = rows_out, self._clock()
        if not waiting:
            return None
        seconds = self._clock() - self._since
        name, rows = max(waiting, key=itemgetter(1))
        return Stall(seconds, name, rows, slowest(sources))


def slowest(sources: Sequence[SourceProgress]) -> SourceProgress | None:
    """The source that has the smallest watermark, of those that have not ended."""
    running = [source for source in sources if not is_end(source.watermark)]
    return min(running, key=lambda source: source.watermark or "", default=None)
