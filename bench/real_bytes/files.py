"""The files that every engine reads: made once, from the number of rows, and kept.

Accounts take turns as in the measurement of windows: each has orders for five seconds, about one a
second in all, and none for ten. Orders are up to a second out of order, rates are not.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from bench.real_bytes import nexmark_files
from bench.real_bytes.operator_files import accounts_of, payments_of
from bench.real_bytes.workload import EVENTS, SPAN_S, Case, folder_name
from bench.temporal_join_workload import ORDER_FACTOR, PRIME, START_MS
from bench.windows_workload import TURN_MS, TURNS

ORDERS_PER_RATE = 10
_STATUSES = ("new", "paid", "sent", "returned")
_JITTER_MS = 1000
# Consecutive rates are of different accounts, and those of an account equally far from each other.
_RATE_FACTOR = 7919


def accounts(orders: int) -> int:
    """An account has an order a second."""
    return max(orders // SPAN_S // TURNS, 1) * TURNS


def orders_of(orders: int) -> pl.DataFrame:
    n = pl.col("id")
    ms = n * (SPAN_S * 1000) // orders
    turn = ms // TURN_MS % TURNS
    place = n * ORDER_FACTOR % PRIME % (accounts(orders) // TURNS)
    jitter = n * ORDER_FACTOR % PRIME % _JITTER_MS
    return pl.DataFrame({"id": pl.int_range(orders, dtype=pl.Int64, eager=True)}).select(
        n,
        (place * TURNS + turn).alias("account"),
        (n * ORDER_FACTOR % PRIME % 1000).alias("amount"),
        (n % len(_STATUSES))
        .replace_strict(dict(enumerate(_STATUSES)), return_dtype=pl.String)
        .alias("status"),
        _time(ms + jitter),
    )


def rates_of(orders: int) -> pl.DataFrame:
    rates = max(orders // ORDERS_PER_RATE, 1)
    n = pl.col("n")
    return pl.DataFrame({"n": pl.int_range(rates, dtype=pl.Int64, eager=True)}).select(
        (n * _RATE_FACTOR % accounts(orders)).alias("account"),
        (n % 10_000 + 1).alias("rate"),
        _time(n * (SPAN_S * 1000) // rates),
    )


def _time(ms: pl.Expr) -> pl.Expr:
    return (ms + START_MS).cast(pl.Datetime("ms")).alias("ts")


def events_of(orders: int) -> pl.DataFrame:
    """The same rates as Debezium reports the changes of a table with one row for each account."""
    rates = with_times_as_strings(rates_of(orders).lazy()).collect()
    before = rates.select(pl.all().shift(1).over("account"))
    first = before["account"].is_null()
    return pl.DataFrame(
        {
            "before": before.to_struct().to_frame().select(pl.when(~first).then(pl.first())),
            "after": rates.to_struct(),
            "op": first.replace_strict({True: "c", False: "u"}, return_dtype=pl.String),
        }
    )


def with_times_as_strings(rows: pl.LazyFrame) -> pl.LazyFrame:
    """As Flink writes times to JSON and CSV: a fraction of a second without zeros at its end."""
    schema = rows.collect_schema()
    return rows.with_columns(
        _written_time(pl.col(name), type_).alias(name) for name, type_ in schema.items()
    )


def _written_time(value: pl.Expr, type_: object) -> pl.Expr:
    """A value, or each field of a row, as a string if it is a time."""
    if isinstance(type_, pl.Datetime):
        text = value.dt.strftime("%Y-%m-%d %H:%M:%S%.3f")
        return text.str.strip_chars_end("0").str.strip_chars_end(".")
    if not isinstance(type_, pl.Struct):
        return value
    fields = (
        _written_time(value.struct.field(f.name), f.dtype).alias(f.name) for f in type_.fields
    )
    return pl.when(value.is_not_null()).then(pl.struct(*fields))


def written(cache: Path, rows: int, case: Case) -> Path:
    """The folder with the tables of a case, which are written if they are not there yet."""
    for table in case.tables:
        format_ = case.format_of(table)
        folder = cache / str(rows) / folder_name(table, format_, case.files)
        if not folder.exists():
            made = events_of if format_ == EVENTS else TABLES[table]
            _write(made(rows), folder, format_, case.files)
    return cache / str(rows)


def _write(rows: pl.DataFrame, folder: Path, format_: str, files: int) -> None:
    """The rows in so many files one after the other."""
    making = folder.with_name(f"{folder.name}.{os.getpid()}")
    making.mkdir(parents=True)
    for number in range(files):
        first, end = (rows.height * place // files for place in (number, number + 1))
        SINKS[format_](rows[first:end].lazy(), making / f"part-{number:02}.{format_}")
    try:
        making.rename(folder)
    except OSError:  # another process was quicker
        shutil.rmtree(making)


def _sink_json(rows: pl.LazyFrame, file: Path) -> None:
    with_times_as_strings(rows).sink_ndjson(file)


def _sink_csv(rows: pl.LazyFrame, file: Path) -> None:
    """As Flink does, which puts values with a space into quotes."""
    quoted = pl.format('"{}"', pl.col("ts"))
    with_times_as_strings(rows).with_columns(quoted.alias("ts")).sink_csv(
        file, include_header=False, quote_style="never"
    )


def _sink_parquet(rows: pl.LazyFrame, file: Path) -> None:
    rows.sink_parquet(file, compression="snappy", row_group_size=1 << 20)


TABLES: Mapping[str, Callable[[int], pl.DataFrame]] = {
    "orders": orders_of,
    "rates": rates_of,
    "payments": payments_of,
    "accounts": accounts_of,
    "nexmark": nexmark_files.events_of,
    "person": partial(nexmark_files.rows_of, "person"),
    "auction": partial(nexmark_files.rows_of, "auction"),
    "bid": partial(nexmark_files.rows_of, "bid"),
}
SINKS: Mapping[str, Callable[[pl.LazyFrame, Path], None]] = {
    "json": _sink_json,
    "csv": _sink_csv,
    "parquet": _sink_parquet,
    EVENTS: _sink_json,
}


def digest(folder: Path, certain: Sequence[str] | None = None) -> tuple[int, int]:
    """The number of lines in all files of a folder, and the sum of their hashes: the same for the
    same lines in any order. Of JSON, only some fields may be asked for; without any, nothing is
    compared."""
    rows, total = 0, 0
    if certain is not None and not certain:
        return rows, total
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.stat().st_size and not file.name.startswith((".", "_")):
            lines = pl.read_csv(
                file, has_header=False, separator="\x01", quote_char=None, new_columns=["line"]
            )
            if certain is not None:
                lines = _fields(lines, certain)
            rows += lines.height
            total += sum_of_hashes(lines["line"])
    return rows, total


def sum_of_hashes(lines: pl.Series) -> int:
    """The same for the same lines in any order."""
    return int((lines.hash() % (1 << 32)).sum())


def _fields(lines: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    fields = [pl.col("line").str.json_path_match(f"$.{name}") for name in names]
    return lines.select(pl.concat_str(fields, separator="\x01", ignore_nulls=True).alias("line"))
