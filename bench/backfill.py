"""Batches: the temporal join over Parquet files, beside others, and operators over more rows.

The files are written once. Tidemark, Spark's own ASOF JOIN and Polars each read them in a process
of their own, twice, and add up the versions that they find; all must agree. Then Tidemark's
operators show what becomes of time and memory when rows grow, or when half of them have one key.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl
from rich.console import Console

from bench import backfill_growth
from bench.backfill_growth import MOST_GROWTH, MOST_MB, MOST_SKEW
from bench.contest import Contestant, Ratio, agree, bars, contest, contest_table, lines
from bench.results import keep, picture
from bench.temporal_join_references import polars_rows
from bench.temporal_join_workload import Workload, add_sizes, sizes

CONTESTANTS = (
    Contestant("Spark ASOF JOIN", "bench.backfill_engines", "spark"),
    Contestant("Tidemark, batch", "bench.backfill_engines", "tidemark"),
    Contestant("Polars join_asof, all cores", "bench.backfill_engines", "polars"),
)
SPARK, TIDEMARK = CONTESTANTS[:2]


@dataclass(frozen=True)
class Files:
    """A folder with the rows of both tables."""

    folder: Path

    def arguments(self) -> list[str]:
        return [str(self.folder)]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_sizes(parser)
    backfill_growth.add_arguments(parser)
    parser.add_argument(
        "--alone", action="store_true", help="only what becomes of Tidemark when rows grow"
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    agreeing = arguments.alone or _beside_others(sizes(arguments), console)
    return 0 if _growing(arguments, console) and agreeing else 1


def _growing(arguments: argparse.Namespace, console: Console) -> bool:
    operators = backfill_growth.grown(arguments, console)
    console.print(backfill_growth.growth_table(operators))
    keep("backfill-growth", {"operators": backfill_growth.kept(operators)})
    missed = [operator.operator for operator in operators if not operator.is_as_wanted]
    if missed:
        console.print(
            f"Not as wanted: {', '.join(missed)}. The limits are {MOST_GROWTH} times the time per "
            f"row, {MOST_SKEW:g} times the time with a skewed key, and {MOST_MB:,.0f} MB."
        )
    return not missed


def _beside_others(workload: Workload, console: Console) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        with console.status("writing files"):
            write_files(Path(folder), workload)
        outcomes = contest(CONTESTANTS, Files(Path(folder)), console)
    title = f"Temporal join of Parquet files: {workload}"
    console.print(contest_table(title, outcomes, SPARK, workload.records))
    ratio = Ratio.of(outcomes[TIDEMARK], outcomes[SPARK])
    console.print(
        f"Tidemark has {ratio.warm:.2f} times the rate of Spark's ASOF JOIN warm "
        f"and {ratio.cold:.2f} times cold."
    )
    measured = lines(outcomes, SPARK, workload.records)
    keep("backfill", {"workload": asdict(workload), "ratio": asdict(ratio), "measured": measured})
    picture("backfill", "Backfill: times the rate of Spark's ASOF JOIN", bars(outcomes, SPARK))
    agreeing = agree(outcomes.values())
    if not agreeing:
        console.print("The engines do NOT agree on the rows of the join.")
    return agreeing


def write_files(folder: Path, workload: Workload) -> None:
    orders, versions = polars_rows(workload)
    for name, rows, time in (
        ("orders", orders, "order_time"),
        ("versions", versions, "valid_from"),
    ):
        instant = pl.from_epoch(time, time_unit="ms").dt.replace_time_zone("UTC")
        rows.with_columns(instant).sink_parquet(folder / f"{name}.parquet")
