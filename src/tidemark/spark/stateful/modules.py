"""Excludes what a Spark worker has loaded from Python's garbage collection."""

from __future__ import annotations

import gc
from functools import cache


@cache
def freeze_loaded_objects() -> None:
    """Exclude everything that exists so far from all later garbage collections in this process.

    Spark's workers collect garbage after each task, before they take the next one. Scanning all of
    Polars, PyArrow and pandas again takes longer than a small micro-batch's rows.
    """
    gc.freeze()
