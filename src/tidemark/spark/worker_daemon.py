"""Spark's daemon for Python workers, which loads what each worker needs before forking it.

Otherwise each worker would spend most of a second on the same imports. Only libraries that start no
threads can be loaded here, because a fork does not copy threads: so not Polars.
"""

from __future__ import annotations

import gc
import importlib

_NEEDED_BY_WORKERS = (
    "numpy",
    "pandas",
    "pyarrow",
    "pyarrow.compute",
    "pyspark.worker",
    "pyspark.sql.streaming.python_streaming_source_runner",
    "pyspark.sql.streaming.transform_with_state_driver_worker",
    "tidemark.session.columns_in_workers",
    "tidemark.spark.stateful.host",
)


def load() -> None:
    for module in _NEEDED_BY_WORKERS:
        importlib.import_module(module)
    # Garbage collection would write to these pages, and each worker would get its own copies.
    gc.freeze()


def main() -> None:
    from pyspark.daemon import manager

    load()
    manager()


if __name__ == "__main__":
    main()
