"""The streams of the interval join, in tumbling windows, and the query over them.

Only the standard library is imported here, so that the interpreter with Flink can load it too.
"""

from __future__ import annotations

from bench.interval_join_workload import Workload
from bench.temporal_join_workload import START_MS

# A row with so many matches within ten seconds of it has half as many in its window.
WINDOW_S = 10


def _windows(table: str) -> str:
    return f"TABLE(TUMBLE(TABLE {table}, DESCRIPTOR(ts), INTERVAL '{WINDOW_S}' SECOND))"


# The query that is measured.
JOIN = f"""\
SELECT l.n AS left_row, l.account, l.ts, r.n AS right_row
FROM {_windows("l")} AS l JOIN {_windows("r")} AS r ON l.account = r.account
AND l.window_start = r.window_start AND l.window_end = r.window_end"""


def closing_ms(workload: Workload) -> int:
    """A time after the end of all windows that have rows."""
    return START_MS + workload.span_ms + 2 * WINDOW_S * 1000
