"""The queries by Polars alone, on all cores: what the same data allows at best.

python -m bench.real_bytes.polars_engine all-cores ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl

from bench.real_bytes.files import SINKS
from bench.real_bytes.playing import Start, play, play_all
from bench.real_bytes.workload import EVENTS, Job, Target, parsed, runs

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
    _, jobs, started = parsed()
    play_all(jobs, started, _play)


def _play(job: Job, start: Start) -> None:
    query = QUERIES[job.case.query]

    def table(name: str) -> pl.LazyFrame:
        return read(job, name)

    play(runs(job), start, lambda target: write(query(table), target))


def read(job: Job, name: str) -> pl.LazyFrame:
    files = sorted(job.folder_of(name).iterdir())
    return READERS[job.case.format_of(name)](files, _SCHEMAS[name])


def _json(files: list[Path], schema: pl.Schema) -> pl.LazyFrame:
    return _timed(pl.scan_ndjson(files, schema=schema))


def _csv(files: list[Path], schema: pl.Schema) -> pl.LazyFrame:
    return _timed(pl.scan_csv(files, schema=schema, has_header=False))


def _parquet(files: list[Path], _: pl.Schema) -> pl.LazyFrame:
    return pl.scan_parquet(files)


def _events(files: list[Path], schema: pl.Schema) -> pl.LazyFrame:
    """The rows after each change; there are no deletions."""
    event = pl.Schema({"after": pl.Struct(schema)})
    return _timed(pl.scan_ndjson(files, schema=event).select(pl.col("after").struct.unnest()))


def _timed(rows: pl.LazyFrame) -> pl.LazyFrame:
    return rows.with_columns(pl.col("ts").str.to_datetime(_FORMAT, time_unit="ms"))


READERS: Mapping[str, Callable[[list[Path], pl.Schema], pl.LazyFrame]] = {
    "json": _json,
    "csv": _csv,
    "parquet": _parquet,
    EVENTS: _events,
}


def write(rows: pl.LazyFrame, target: Target) -> None:
    """Write the rows, or only compute them."""
    if target.folder is None:
        rows.collect(engine="streaming")
        return
    target.folder.mkdir(parents=True)
    SINKS[target.format](rows, target.folder / "part-0")


# --- the queries -----------------------------------------------------------------------------


def scan(table: Tables) -> pl.LazyFrame:
    return table("orders").filter(pl.col("amount") > 500).select("id", "amount")


def copy(table: Tables) -> pl.LazyFrame:
    doubled = (pl.col("amount") * 2 + 1).alias("doubled")
    kept = table("orders").filter(pl.col("status") != "returned")
    return kept.select("id", "account", doubled, pl.col("status").str.to_uppercase(), "ts")


_SUMS = (pl.len().cast(pl.Int64).alias("n"), pl.col("amount").sum().alias("total"))
_START = pl.col("window_start")
_RESULT = ("account", "window_start", "window_end", "n", "total")


def tumbling(table: Tables) -> pl.LazyFrame:
    start = pl.col("ts").dt.truncate("10s").alias("window_start")
    counted = table("orders").group_by("account", start).agg(*_SUMS)
    return counted.with_columns(_START.dt.offset_by("10s").alias("window_end")).select(_RESULT)


def sliding(table: Tables) -> pl.LazyFrame:
    """Two seconds are counted first, for the five windows that they are in."""
    start = pl.col("ts").dt.truncate("2s").alias("window_start")
    slices = table("orders").group_by("account", start).agg(*_SUMS)
    windows = pl.concat(
        [slices.with_columns(_START.dt.offset_by(f"-{2 * place}s")) for place in range(5)]
    )
    counted = windows.group_by("account", "window_start").agg(pl.col("n", "total").sum())
    return counted.with_columns(_START.dt.offset_by("10s").alias("window_end")).select(_RESULT)


def session(table: Tables) -> pl.LazyFrame:
    apart = pl.col("ts").diff() > pl.duration(seconds=10)
    number = apart.fill_null(False).cum_sum().over("account").alias("number")
    ordered = table("orders").sort("account", "ts").with_columns(number)
    counted = ordered.group_by("account", "number").agg(
        *_SUMS,
        pl.col("ts").min().alias("window_start"),
        pl.col("ts").max().dt.offset_by("10s").alias("window_end"),
    )
    return counted.select(_RESULT)


_CONVERTED = (pl.col("amount") * pl.col("rate")).alias("converted")


def temporal_join(table: Tables) -> pl.LazyFrame:
    orders, rates = table("orders").sort("ts"), table("rates").sort("ts")
    joined = orders.join_asof(rates, on="ts", by="account", check_sortedness=False)
    return joined.filter(pl.col("rate").is_not_null()).select("id", _CONVERTED, "ts")


def interval_join(table: Tables) -> pl.LazyFrame:
    """A rate may fit orders of the same ten seconds and of the next ten."""
    tens = pl.col("ts").dt.truncate("10s").alias("tens")
    rates = table("rates").with_columns(tens).rename({"ts": "since"})
    next_tens = rates.with_columns(pl.col("tens").dt.offset_by("10s"))
    near = pl.concat([rates, next_tens])
    pairs = table("orders").with_columns(tens).join(near, on=["account", "tens"])
    fits = pl.col("since").is_between(pl.col("ts").dt.offset_by("-10s"), pl.col("ts"))
    return pairs.filter(fits).select("id", _CONVERTED, "ts", "since")


QUERIES: Mapping[str, Callable[[Tables], pl.LazyFrame]] = {
    "scan": scan,
    "copy": copy,
    "tumbling": tumbling,
    "sliding": sliding,
    "session": session,
    "temporal-join": temporal_join,
    "temporal-join-events": temporal_join,
    "interval-join": interval_join,
}

if __name__ == "__main__":
    main()
