"""The temporal join as a batch over Parquet files: Tidemark, Spark's own ASOF JOIN, and Polars.

The files are written once. Every engine reads them in a process of its own, twice, and adds up
the versions that it finds; all must agree.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl
from rich.console import Console

from bench.contest import Contestant, Ratio, agree, bars, contest, contest_table, lines
from bench.results import keep, picture
from bench.temporal_join_references import polars_rows
from bench.temporal_join_workload import Workload, sizes

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


def run(arguments: argparse.Namespace, console: Console) -> int:
    workload = sizes(arguments)
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
    if not agree(outcomes.values()):
        console.print("The engines do NOT agree on the rows of the join.")
        return 1
    return 0


def write_files(folder: Path, workload: Workload) -> None:
    orders, versions = polars_rows(workload)
    for name, rows, time in (
        ("orders", orders, "order_time"),
        ("versions", versions, "valid_from"),
    ):
        instant = pl.from_epoch(time, time_unit="ms").dt.replace_time_zone("UTC")
        rows.with_columns(instant).sink_parquet(folder / f"{name}.parquet")
