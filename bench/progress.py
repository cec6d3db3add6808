"""What a stream's progress reports: how long its micro-batches took, and what they did."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from tidemark.spark.stateful.metrics import Totals, reports_of

Progress = dict[str, Any]
# The parts of a micro-batch as Spark's driver names them, and the rest.
_PARTS = {
    "planning": ("queryPlanning",),
    "addBatch": ("addBatch",),
    "commit": ("walCommit", "commitOffsets"),
    "offsets": ("latestOffset", "getBatch"),
}


def follow(query: Any, last: Callable[[Progress], bool]) -> list[Progress]:
    """The reports of a query's micro-batches, up to number `last`."""
    seen: list[Progress] = []
    while query.isActive:
        known = seen[-1]["batchId"] if seen else -1
        for progress in finished(query):
            if progress["batchId"] > known:
                seen.append(progress)
                if last(progress):
                    return seen
        time.sleep(0.1)
    raise SystemExit(f"the stream ended early: {query.exception()}")


def finished(query: Any) -> list[Progress]:
    """The latest reports of a query's micro-batches."""
    reports = [json.loads(report.json) for report in query.recentProgress]
    # Spark reports an idle stream too, under the number of its next micro-batch.
    return [report for report in reports if "addBatch" in report["durationMs"]]


def stop_at_rest(query: Any) -> None:
    """Stop once the stream is idle: an interrupted micro-batch takes its Python workers with it."""
    while query.isActive and query.status["message"] != "Waiting for data to arrive":
        time.sleep(0.05)
    query.stop()


def seconds(progress: list[Progress]) -> float:
    """From the start of the first micro-batch to the end of the last."""
    first, last = (datetime.fromisoformat(progress[n]["timestamp"]) for n in (0, -1))
    return float((last - first).total_seconds() + batch_ms(progress[-1]) / 1000)


def batch_ms(progress: Progress) -> int:
    return int(progress["durationMs"]["triggerExecution"])


def by_part(progress: list[Progress]) -> dict[str, float]:
    """Seconds of Spark's driver over all micro-batches."""
    spent = {
        part: sum(batch["durationMs"].get(name, 0) for batch in progress for name in names) / 1000
        for part, names in _PARTS.items()
    }
    rest = sum(map(batch_ms, progress)) / 1000 - sum(spent.values())
    return {part: round(value, 2) for part, value in {**spent, "the rest": rest}.items()}


def by_work(progress: list[Progress], operator: str) -> dict[str, float]:
    """Seconds that an operator was busy, on all cores, by kind of work."""
    spent: dict[str, float] = {}
    for report in _reports(progress, operator):
        for work, milliseconds in report["spent_ms"].items():
            spent[work] = spent.get(work, 0.0) + milliseconds / 1000
    return {work: round(value, 2) for work, value in spent.items()}


def totals(progress: list[Progress], operator: str) -> Totals:
    result = Totals()
    result.add(list(_reports(progress, operator)))
    return result


def details(progress: list[Progress], operator: str) -> dict[str, Any]:
    """Where the time went in the driver and in the operator, and the operator's state."""
    metrics = totals(progress, operator).read()
    return {
        "micro_batches_s": by_part(progress),
        "operator_s": by_work(progress, operator),
        "round_trips": metrics.round_trips,
        "late": metrics.late,
        "state_rows": metrics.state_rows,
        "state_mb": round(metrics.state_bytes / 1e6, 1),
        "batches": [batch["durationMs"] for batch in progress],
    }


def _reports(progress: list[Progress], operator: str) -> Iterator[dict[str, Any]]:
    for batch in progress:
        yield from reports_of(batch).get(operator, [])
