"""The window join as micro-batches on Spark, by Tidemark: into a sink that takes columns, or as a
DataFrame whose rows Spark discards.

The clock starts with the first micro-batch: Spark is running by then, its Python workers are not.
Half of the rows of each side come in each of two micro-batches; the second also has a last row that
closes the windows of all others.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tidemark
from bench.engine import agreed, answer_runs, twice
from bench.interval_join_workload import Workload, parsed, sink
from bench.numbers_stream import numbers
from bench.progress import Progress, by_work, follow, seconds, stop_at_rest, totals
from bench.window_join_workload import JOIN, closing_ms
from tidemark.spark.stateful.metrics import Totals, reports_of

OPERATOR = "window-join-1"


def main() -> None:
    way, workload = parsed()
    start = {"sink": _insert, "dataframe": _stream}[way]
    with TemporaryDirectory() as folder, tidemark.connect() as session:
        for name, key in (("l", workload.left_key), ("r", workload.right_key)):
            stream = records(session.spark, Path(folder) / name, workload, key("n"))
            session.register(name, stream, watermark="ts")
        session.sql(sink(digits=6))
        rows: list[int] = []

        def job() -> tuple[float, dict[str, Any]]:
            progress = _joined(start(session), workload)
            metrics = totals(progress, OPERATOR).read()
            rows.append(metrics.rows_out)
            details = {
                "late": metrics.late,
                "state_rows": metrics.state_rows,
                "busy_s": by_work(progress, OPERATOR),
                "batches": [batch["durationMs"] for batch in progress],
            }
            return seconds(progress), details

        answer_runs(twice(job), agreed(rows))


def _insert(session: tidemark.Session) -> Any:
    session.sql(f"INSERT INTO sink {JOIN}")
    [stream] = session.spark.streams.active
    return stream


def _stream(session: tidemark.Session) -> Any:
    return session.sql(JOIN).to_dataframe().writeStream.format("noop").start()


def _joined(stream: Any, workload: Workload) -> list[Progress]:
    """The micro-batches up to the one that closed the last windows."""
    seen = Totals()

    def done(batch: Progress) -> bool:
        seen.add(reports_of(batch).get(OPERATOR, []))
        return (seen.read().watermark or 0) >= closing_ms(workload)

    progress = follow(stream, done)
    stop_at_rest(stream)
    return progress


def records(spark: Any, folder: Path, workload: Workload, key: str) -> Any:
    """A stream of one side's rows, and a row without a match that comes after the end of all
    windows.
    """
    rows = numbers(spark, folder, (workload.rows // 2, workload.rows + 1))
    last = f"n = {workload.rows}"
    moment = f"IF({last}, {closing_ms(workload)}, {workload.milliseconds('n')})"
    account = f"IF({last}, -1, {key}) AS account"
    return rows.selectExpr("n", account, f"timestamp_millis({moment}) AS ts")


if __name__ == "__main__":
    main()
