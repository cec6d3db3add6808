"""Windows as micro-batches on Spark, by its own windows in append mode.

The same stream is also handed to Python as rows, which is the upper bound for whatever is computed
there of rows that Spark has made. The clock starts with the first micro-batch: Spark is running by
then. The windows are counted as they are emitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import tidemark
from bench.engine import agreed, answer_runs, twice
from bench.progress import Progress, by_part, follow, seconds
from bench.windows_workload import DELAY_MS, Workload, parsed
from tidemark.spark.stateful.metrics import observations

if TYPE_CHECKING:
    import pyarrow as pa

# Half of the ten million rows come in each, and the last row with the second half.
BATCHES = 2
DELAY = f"{DELAY_MS // 1000} seconds"
_SUMS = "windows"
_DAY_MS = 86_400_000
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_STORES = {"native-rocksdb": "RocksDB", "native-heap": "HDFSBacked"}


def main() -> None:
    way, workload = parsed()
    with tidemark.connect() as session:
        if way == "to-python":
            to_python(session.spark, workload)
        else:
            by_spark(session.spark, workload, _STORES[way])


def by_spark(spark: Any, workload: Workload, store: str) -> None:
    package = "org.apache.spark.sql.execution.streaming.state"
    spark.conf.set(_PROVIDER, f"{package}.{store}StateStoreProvider")
    windows = native_windows(records(spark, workload), workload.kind.spark)
    found: list[tuple[int, int]] = []

    def job() -> tuple[float, dict[str, Any]]:
        progress = _observed(windows, workload)
        found.append(sums(progress))
        return seconds(progress), {"micro_batches_s": by_part(progress)}

    answer_runs(twice(job), *agreed(found))


def native_windows(rows: Any, window: str) -> Any:
    from pyspark.sql import functions as f

    groups = rows.withWatermark("ts", DELAY).groupBy("account", f.expr(window).alias("w"))
    aggregates = groups.agg(f.count(f.lit(1)).alias("n"), f.sum("amount").alias("total"))
    return aggregates.select("account", "w.start", "w.end", "n", "total")


def to_python(spark: Any, workload: Workload) -> None:
    from pyspark.sql import functions as f

    counted = records(spark, workload).mapInArrow(_rows, "n BIGINT")
    observed = counted.observe(_SUMS, f.sum("n").alias("rows"))
    found: list[int] = []

    def job() -> tuple[float, None]:
        query = observed.writeStream.format("noop").start()
        progress = follow(query, lambda batch: batch["batchId"] == BATCHES - 1)
        query.stop()
        found.append(sum(observations(batch)[_SUMS]["rows"] for batch in progress))
        return seconds(progress), None

    answer_runs(twice(job), agreed(found))


def _rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """How many rows there are."""
    import pyarrow as pa

    yield pa.RecordBatch.from_pydict({"n": [sum(batch.num_rows for batch in batches)]})


def _observed(windows: Any, workload: Workload) -> list[Progress]:
    """The micro-batches of a stream of windows that are summed up and discarded."""
    from pyspark.sql import functions as f

    observed = windows.observe(_SUMS, f.count(f.lit(1)).alias("rows"), f.sum("n").alias("counted"))
    query = observed.writeStream.format("noop").start()
    progress = follow(query, lambda batch: watermark_ms(batch) >= end_ms(workload))
    query.stop()
    return progress


def sums(progress: list[Progress]) -> tuple[int, int]:
    """The number of windows emitted, and the sum of their counts."""
    seen = [row for batch in progress if (row := observations(batch).get(_SUMS))]
    return sum(row["rows"] for row in seen), sum(row["counted"] or 0 for row in seen)


def watermark_ms(progress: Progress) -> int:
    """The watermark of a micro-batch; 0 before the first one."""
    text = progress.get("eventTime", {}).get("watermark")
    return int(datetime.fromisoformat(text).timestamp() * 1000) if text else 0


def end_ms(workload: Workload) -> int:
    """A moment after the last window and before the row that follows a day later."""
    return workload.last_ms + _DAY_MS // 2


def records(spark: Any, workload: Workload) -> Any:
    """The rows, and one more: a day later and for an account that has no other rows. It advances
    the watermark past all the others.
    """
    count = workload.rows
    source = spark.readStream.format("rate-micro-batch")
    source = source.option("rowsPerBatch", count // BATCHES + 1)
    numbers = source.load().where(f"value <= {count}").withColumnRenamed("value", "n")
    return numbers.selectExpr(
        f"IF(n < {count}, {workload.account('n')}, -1) AS account",
        f"{workload.amount('n')} AS amount",
        f"timestamp_millis({workload.milliseconds('n')} + IF(n < {count}, 0, {_DAY_MS})) AS ts",
    )


if __name__ == "__main__":
    main()
