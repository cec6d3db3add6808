"""Which rows there are, by number: those of a batch, and those that come in a stream.

Spark keeps account of ranges of rows; whoever needs the rows makes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tidemark.connectors.base import Part, ReadRequest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The rows of each range in a stream. One that resumes must have the same ranges.
RANGE: Final = 100_000
# About how many bytes a task of a batch makes, unless there were too many tasks.
_SHARE: Final = 64 << 20
_MOST_TASKS: Final = 10_000


def ranges(count: int, row_bytes: int, made_ms: int) -> Sequence[Part]:
    """Those of a batch, one for each task."""
    size = _size(count, row_bytes)
    return [Part("", start, min(start + size, count), made_ms) for start in range(0, count, size)]


def of_batch(request: ReadRequest, count: int, row_bytes: int, made_ms: int) -> DataFrame:
    """The same as rows of Spark with the columns of a `Part`."""
    size = _size(count, row_bytes)
    number = -(-count // size)
    numbers = request.spark.range(0, number, 1, max(number, 1))
    return _ranges_of_same_size(numbers, "id", size, count, f"{made_ms}L")


def _size(count: int, row_bytes: int) -> int:
    return max(1, _SHARE // row_bytes, -(-count // _MOST_TASKS))


def at_once(request: ReadRequest, count: int, size: int = RANGE) -> DataFrame:
    """All rows in the first batch, which with the trigger of bounded jobs is also the last."""
    number = -(-count // size)
    source = request.spark.readStream.format("rate-micro-batch")
    source = source.option("rowsPerBatch", max(number, 1))
    if number <= 1:
        source = source.option("numPartitions", 1)
    # A job that resumes may get more of them, which have no rows.
    numbers = source.option("startTimestamp", request.start.at_ms).load()
    return _ranges_of_same_size(numbers, "value", size, count, "unix_millis(timestamp)")


def one_by_one(request: ReadRequest, count: int) -> DataFrame:
    """Those of a batch with one number each."""
    numbers = request.spark.range(0, count, 1, count)
    return _ranges_of_same_size(numbers, "id", 1, count, "0L")


def in_seconds(request: ReadRequest, rate: int) -> DataFrame:
    """As many ranges of the same size in each second as make its rows."""
    number = -(-rate // RANGE)
    source = request.spark.readStream.format("rate").option("rowsPerSecond", number)
    if number == 1:
        source = source.option("numPartitions", 1)
    second = f"value div {number} * {rate}L"
    first, end = (f"{rate}L * (value % {number} + {more}) div {number}" for more in (0, 1))
    return _parts(
        source.load(), f"{second} + {first}", f"{second} + {end}", "unix_millis(timestamp)"
    )


def _ranges_of_same_size(
    numbers: DataFrame, number: str, size: int, count: int, made_ms: str
) -> DataFrame:
    """The last one may be smaller, and those after it are empty."""
    start = f"{number} * {size}L"
    return _parts(numbers, start, f"{start} + least({size}L, {count}L - {start})", made_ms)


def _parts(frame: DataFrame, start: str, end: str, made_ms: str) -> DataFrame:
    """The columns of `Part`."""
    return frame.selectExpr(
        "'' AS file", f"{start} AS start", f"{end} AS end", f"{made_ms} AS made_ms"
    )
