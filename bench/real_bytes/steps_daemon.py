"""Tidemark's daemon for Spark's Python workers, with the steps of their work measured.

Spark starts it where `spark.python.daemon.module` names it.
"""

from __future__ import annotations

import pyspark.worker

from bench.real_bytes.steps import worker_main
from tidemark.spark.worker_daemon import main

if __name__ == "__main__":
    pyspark.worker.main = worker_main(pyspark.worker.main)
    main()
