"""The engines of the backfill, over the same files.

python -m bench.backfill_engines tidemark|spark|polars FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import polars as pl

import tidemark
from bench.temporal_join_references import answer_sums, polars_sums, spark_session, spark_sums
from bench.temporal_join_tidemark import register, summed


def main(way: str, folder: str) -> None:
    {"tidemark": by_tidemark, "spark": by_spark, "polars": by_polars}[way](Path(folder))


def by_tidemark(folder: Path) -> None:
    with tidemark.connect() as session:
        session.sql("SET 'execution.runtime-mode' = 'batch'")
        register(
            session,
            _read(session.spark, folder, "orders"),
            _read(session.spark, folder, "versions"),
        )
        answer_sums(lambda: summed(session))


def by_spark(folder: Path) -> None:
    spark = spark_session()
    for name in ("orders", "versions"):
        _read(spark, folder, name).createTempView(name)
    answer_sums(lambda: spark_sums(spark))
    spark.stop()


def by_polars(folder: Path) -> None:
    orders, versions = (
        pl.scan_parquet(folder / f"{name}.parquet").set_sorted(time)
        for name, time in (("orders", "order_time"), ("versions", "valid_from"))
    )
    answer_sums(lambda: polars_sums(orders, versions))


def _read(spark: Any, folder: Path, name: str) -> Any:
    return spark.read.parquet(str(folder / f"{name}.parquet"))


if __name__ == "__main__":
    main(*sys.argv[1:])
