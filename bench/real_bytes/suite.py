"""Queries beside real Flink, a line each: how many records a second, and how many CPU seconds.

Each engine runs a query in a process of its own, cold and warm; all must find the same rows.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import geometric_mean

from rich.console import Console
from rich.table import Table

from bench.contest import ROOT, add_rounds
from bench.engine import Outcome
from bench.processes import whole
from bench.real_bytes import nexmark_queries, operator_queries
from bench.real_bytes.files import written
from bench.real_bytes.measuring import measure, measure_together
from bench.real_bytes.query import Query
from bench.real_bytes.report import TIDEMARK, Measured, bars, kept, said
from bench.real_bytes.workload import FORMATS, MODES, Case
from bench.results import keep, picture

_ENGINES = ("flink", "tidemark", "local")


@dataclass(frozen=True)
class Suite:
    """Queries over the same records, and what is wanted of them together."""

    name: str
    title: str
    queries: Mapping[str, Query]
    records: str
    usual: int
    # Times Flink's rate, warm, as the geometric mean of all queries.
    wanted_mean: float
    formats: tuple[str, ...] = ("parquet",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(f"--{self.records}", dest="records", type=int, default=self.usual)
        for name, choices, usual in (
            ("queries", [*self.queries], [*self.queries]),
            ("formats", FORMATS, [*self.formats]),
            ("modes", MODES, ["batch"]),
            ("engines", _ENGINES, ["flink", "tidemark"]),
        ):
            parser.add_argument(f"--{name}", nargs="+", choices=choices, default=usual)
        add_rounds(parser)
        parser.add_argument(
            "--together",
            action="store_true",
            help="one process for all queries of an engine: only warm runs count",
        )
        parser.add_argument(
            "--unchecked", action="store_true", help="with --together: do not compare the rows"
        )
        cache = ROOT / ".cache" / self.name
        parser.add_argument("--cache", type=Path, default=cache, help="where the files are kept")

    def run(self, arguments: argparse.Namespace, console: Console) -> int:
        found: list[Measured] = []
        if arguments.together:
            found = self._together(arguments, console)
        for case in () if arguments.together else _cases(arguments):
            console.rule(str(case))
            with console.status("writing files"):
                data = written(arguments.cache, arguments.records, case)
            found.append(measure(case, data, arguments.engines, arguments.rounds, console))
            # After each case: all of them take long.
            keep(self.name, {self.records: arguments.records, "measured": kept(found)})
        console.print(table(self.title, found, arguments.records))
        mean = mean_ratio(found)
        for sentence in said(found):
            console.print(sentence)
        if mean is not None:
            wanted = f"wanted: {self.wanted_mean:g}"
            console.print(f"Geometric mean: {mean:.2f} times Flink's rate, warm ({wanted}).")
        picture(self.name, f"{self.title}, warm: times Flink's rate", bars(found), 1.0)
        reached = mean is None or mean >= self.wanted_mean
        return 0 if reached and all(one.good for one in found) else 1

    def _together(self, arguments: argparse.Namespace, console: Console) -> list[Measured]:
        found: list[Measured] = []
        for _, cases in groupby(_cases(arguments), lambda case: (case.format, case.mode)):
            some = list(cases)
            for case in some:
                data = written(arguments.cache, arguments.records, case)
            checked = not arguments.unchecked
            found += measure_together(
                some, data, arguments.engines, arguments.rounds, console, checked=checked
            )
        keep(self.name, {self.records: arguments.records, "measured": kept(found)})
        return found


def _cases(arguments: argparse.Namespace) -> Iterator[Case]:
    for format_ in arguments.formats:
        for mode in arguments.modes:
            for query in arguments.queries:
                yield Case(query, format_, 1, mode)


def mean_ratio(found: Sequence[Measured]) -> float | None:
    """The geometric mean of the warm rates relative to Flink's, of the queries that both ran."""
    ratios = [ratio.warm for one in found if (ratio := one.ratio(TIDEMARK)) is not None]
    return geometric_mean(ratios) if ratios else None


def table(title: str, found: Sequence[Measured], records: int) -> Table:
    """A line for each case: Flink's and Tidemark's rate, cold and warm, and CPU seconds, warm."""
    result = Table(title=f"{title}: {records:,} records, {os.cpu_count()} cores")
    result.add_column("case", no_wrap=True)
    for heading in (
        "Flink/s", "Tidemark/s", "x warm", "x cold", "Flink CPU s", "CPU s", "x CPU", "rows",
    ):  # fmt: skip
        result.add_column(heading, justify="right", no_wrap=True)
    for one in found:
        ours, flinks = one.outcomes.get(TIDEMARK), one.flink
        ratio = one.ratio(TIDEMARK)
        result.add_row(
            str(one.case),
            *(_rate(outcome, records) for outcome in (flinks, ours)),
            *(("", "") if ratio is None else (f"{ratio.warm:.2f}", f"{ratio.cold:.2f}")),
            *_processors(flinks, ours),
            "" if ours is None else f"{ours.rows:,}",
        )
    return result


def _rate(outcome: Outcome | None, records: int) -> str:
    return "" if outcome is None else f"{records / outcome.warm.seconds:,.0f}"


def _processors(flinks: Outcome | None, ours: Outcome | None) -> Iterator[str]:
    """CPU seconds of both, and how many of Flink's Tidemark needs one for."""
    spent = [whole(one.warm.cpu) if one is not None else 0.0 for one in (flinks, ours)]
    yield from (f"{seconds:.1f}" if seconds else "" for seconds in spent)
    yield f"{spent[0] / spent[1]:.2f}" if all(spent) else ""


NEXMARK = Suite(
    "nexmark",
    "Nexmark",
    nexmark_queries.QUERIES,
    "events",
    2_000_000,
    wanted_mean=3.0,
    formats=("parquet", "json"),
)
OPERATORS = Suite(
    "operators",
    "Operators over 100 rows of each key",
    operator_queries.QUERIES,
    "rows",
    10_000_000,
    wanted_mean=3.0,
)
