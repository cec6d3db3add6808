"""Streams of numbers that end: the input of each micro-batch is in files, as ranges.

A source that continues could be in the middle of a micro-batch when the job is stopped, and that
batch's Python workers would end with it: the next run would not be warm.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

# How many numbers are expanded from one row.
_RANGE = 10_000


def numbers(spark: Any, folder: Path, ends: Sequence[int]) -> Any:
    """A stream of the numbers `n` from 0 on, up to the next of the `ends` in each micro-batch;
    neighbors come from different tasks.
    """
    tasks = os.cpu_count() or 1
    folder.mkdir()
    for batch, (start, end) in enumerate(zip((0, *ends), ends, strict=False)):
        for task in range(tasks):
            firsts = list(range(start + task, end, _RANGE * tasks))
            lasts = [min(first + (_RANGE - 1) * tasks, end - 1) for first in firsts]
            path = folder / f"{batch}-{task}.parquet"
            parquet.write_table(pa.table({"first": firsts, "last": lasts}), path)
            # Oldest first.
            os.utime(path, (batch, batch))
    files = spark.readStream.schema("first BIGINT, last BIGINT").option("maxFilesPerTrigger", tasks)
    return files.parquet(str(folder)).selectExpr(f"explode(sequence(first, last, {tasks}L)) AS n")
