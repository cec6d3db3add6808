"""The queries by Polars alone, on all cores: what the same data allows at best.

python -m bench.real_bytes.polars_engine all-cores ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl

from bench.real_bytes.files import with_times_as_strings
from bench.real_bytes.playing import play
from bench.real_bytes.workload import Job, Target, parsed

Tables = Callable[[str], pl.LazyFrame]

_SCHEMAS = {
    "orders": pl.Schema(
        {
            "id": pl.Int64(),
            "account": pl.Int64(),
            "amount": pl.Int64(),
            "status": pl.String(),
            "ts": pl.String(),
        }
    ),
    "rates": pl.Schema({"account": pl.Int64(), "rate": pl.Int64(), "ts": pl.String()}),
}
_FORMAT = "%Y-%m-%d %H:%M:%S%.f"


def main() -> None:
    _, job, started = parsed()
    query = QUERIES[job.case.query]

    def table(name: str) -> pl.LazyFrame:
        return read(job, name)

    play(job, started, lambda target: write(query(table), target))


def read(job: Job, name: str) -> pl.LazyFrame:
    files = sorted((job.data / name).iterdir())
    return READERS[job.case.format](files, _SCHEMAS[name])


def _json(files: list[Path], schema: pl.Schema) -> pl.LazyFrame:
    return _timed(pl.scan_ndjson(files, schema=schema))


def _timed(rows: pl.LazyFrame) -> pl.LazyFrame:
    return rows.with_columns(pl.col("ts").str.to_datetime(_FORMAT, time_unit="ms"))


READERS: Mapping[str, Callable[[list[Path], pl.Schema], pl.LazyFrame]] = {"json": _json}


def write(rows: pl.LazyFrame, target: Target) -> None:
    """Write the rows, or only compute them."""
    if target.folder is None:
        rows.collect(engine="streaming")
        return
    target.folder.mkdir(parents=True)
    with_times_as_strings(rows).sink_ndjson(target.folder / "part-0.json")


# --- the queries -----------------------------------------------------------------------------


def scan(table: Tables) -> pl.LazyFrame:
    return table("orders").filter(pl.col("amount") > 500).select("id", "amount")


def copy(table: Tables) -> pl.LazyFrame:
    doubled = (pl.col("amount") * 2 + 1).alias("doubled")
    kept = table("orders").filter(pl.col("status") != "returned")
    return kept.select("id", "account", doubled, pl.col("status").str.to_uppercase(), "ts")


def tumbling(table: Tables) -> pl.LazyFrame:
    start = pl.col("ts").dt.truncate("10s").alias("window_start")
    return (
        table("orders")
        .group_by("account", start)
        .agg(pl.len().cast(pl.Int64).alias("n"), pl.col("amount").sum().alias("total"))
        .select(
            "account",
            "window_start",
            pl.col("window_start").dt.offset_by("10s").alias("window_end"),
            "n",
            "total",
        )
    )


def temporal_join(table: Tables) -> pl.LazyFrame:
    joined = (
        table("orders")
        .sort("ts")
        .join_asof(table("rates").sort("ts"), on="ts", by="account", check_sortedness=False)
    )
    converted = (pl.col("amount") * pl.col("rate")).alias("converted")
    return joined.filter(pl.col("rate").is_not_null()).select("id", converted, "ts")


QUERIES: Mapping[str, Callable[[Tables], pl.LazyFrame]] = {
    "scan": scan,
    "copy": copy,
    "tumbling": tumbling,
    "temporal-join": temporal_join,
}

if __name__ == "__main__":
    main()
