"""Starting a streaming query with settings that are its own.

Spark copies the settings of the session when a query starts, so they are set only for that moment.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ONE_START: Final = threading.Lock()
_EMPTY_BATCHES: Final = "spark.sql.streaming.noDataMicroBatches.enabled"
_LOOK_EVERY: Final = "spark.sql.streaming.pollingDelay"
# By default, Spark looks for news a hundred times a second. That takes a sixth of a core, and as
# many requests to brokers and file systems. This adds little to the time of a micro-batch.
_USUALLY_MS: Final = 50
_AT_MOST_OFTEN_MS: Final = 10
# By default, Spark writes Java for the expressions of each micro-batch anew, to find that it has
# compiled it already. That pays where it computes rows; for a few packed ones it takes longer than
# computing them.
_WITHOUT_CODE: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@contextmanager
def starting(
    spark: SparkSession,
    *,
    empty_batches: bool,
    look_every: int | None = None,
    packed: bool = False,
) -> Iterator[None]:
    """For starting a query: without `empty_batches`, it ends when it has read all rows, although a
    micro-batch without rows would emit what its last watermark lets go. The next phase does that,
    unless the last micro-batch with rows has emitted everything.

    When there is nothing new, the query looks again after `look_every` milliseconds. If Spark only
    sees `packed` columns, it computes them without code of its own.
    """
    wait = _USUALLY_MS if look_every is None else max(look_every, _AT_MOST_OFTEN_MS)
    preferred = {_LOOK_EVERY: f"{wait}ms", **(_WITHOUT_CODE if packed else {})}
    wanted = {key: v for key, v in preferred.items() if spark.conf.get(key, None) is None}
    if not empty_batches:
        wanted[_EMPTY_BATCHES] = "false"
    with _ONE_START, _set(spark, wanted):
        yield


@contextmanager
def _set(spark: SparkSession, wanted: dict[str, str]) -> Iterator[None]:
    before = {key: spark.conf.get(key, None) for key in wanted}
    for key, value in wanted.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, value)
