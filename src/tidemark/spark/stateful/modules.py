"""Keeps Python's garbage collector away from what a worker of Spark has loaded."""

from __future__ import annotations

import gc
from functools import cache


@cache
def spare_modules() -> None:
    """What is there by now is left out of all garbage collections to come, in this process.

    Spark's workers collect garbage after each task, before they take the next one. Looking
    through all of Polars, PyArrow and pandas again takes longer than a small micro-batch's rows.
    """
    gc.freeze()
