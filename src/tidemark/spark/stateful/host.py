"""The one stateful processor of all kernels.

Spark also creates one on its driver, in a separate Python, whenever a query starts, only to get the
state variables. So what rows need, the key group and its libraries, is not loaded before rows
arrive: that takes longer than the answer.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

    from tidemark.runtime.bucket import Bucket
    from tidemark.spark.stateful.hosted import Hosted
    from tidemark.spark.stateful.packing import FramesRepacked
    from tidemark.storage import Location


class Host(StatefulProcessor):  # type: ignore[misc]  # pyspark is untyped here
    """Runs a kernel over whole key groups. What it emits may be packed for the operator above.
    Large segments of its state are in the folder `segments`, if there is one.

    Spark calls it once per key group that has rows, and then for each key group whose timer the
    watermark has reached.
    """

    def __init__(
        self,
        bucket: Bucket,
        repack: FramesRepacked | None = None,
        segments: Location | None = None,
    ) -> None:
        self._pickled = cloudpickle.dumps((bucket, repack, segments))

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._manifest = handle.getValueState("manifest", "manifest STRING")
        self._segments = handle.getMapState("segments", "id STRING, piece INT", "rows BINARY")

    @cached_property
    def _hosted(self) -> Hosted:
        from tidemark.spark.stateful.cache import of_this_worker
        from tidemark.spark.stateful.hosted import Hosted
        from tidemark.spark.stateful.large_segments import LargeSegments
        from tidemark.spark.stateful.store import StateStore

        bucket, repack, segments = pickle.loads(self._pickled)
        files = None if segments is None else LargeSegments(segments)
        store = StateStore(self._manifest, self._segments, of_this_worker(), files)
        return Hosted(bucket, repack, self._handle, store)

    def handleInputRows(  # noqa: N802  (Spark's name)
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        yield from self._hosted.rows(key, rows, timerValues)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        yield from self._hosted.step(key, [], timerValues)

    def close(self) -> None:
        pass
