"""Spark's daemon for Python workers, which has loaded what each worker needs before they begin.

Workers are forked from it, and would otherwise spend most of a second each on the same imports.
Only what starts no thread may be loaded here, because a fork takes no threads along: not Polars.
"""

from __future__ import annotations

import gc
import importlib

_NEEDED_BY_WORKERS = ("numpy", "pandas", "pyarrow", "pyarrow.compute", "pyspark.worker")


def load() -> None:
    for module in _NEEDED_BY_WORKERS:
        importlib.import_module(module)
    # Garbage collections would write to these pages, and each worker would get its own of them.
    gc.freeze()


def main() -> None:
    from pyspark.daemon import manager

    load()
    manager()


if __name__ == "__main__":
    main()
