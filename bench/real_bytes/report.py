"""What was measured, as tables and as it is kept, and whether it is as wanted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.table import Table

from bench.contest import Contestant, Ratio, agree
from bench.engine import Outcome, Run
from bench.processes import COMPILERS, DRIVER, JVM, WORKERS, whole
from bench.real_bytes.workload import Case

FLINKS = {
    "batch": Contestant("Flink, batch", "bench.flink.real_bytes", "batch"),
    "stream": Contestant("Flink, stream", "bench.flink.real_bytes", "streaming"),
}
TIDEMARK = Contestant("Tidemark", "bench.real_bytes.tidemark_engine", "spark")
LOCAL = Contestant("Tidemark --local", "bench.real_bytes.tidemark_engine", "local")
POLARS = Contestant("Polars alone", "bench.real_bytes.polars_engine", "all-cores")
# Tidemark again, with workers that measure their steps.
STEPS = Contestant("Tidemark, steps", "bench.real_bytes.tidemark_engine", "steps")
_PARTS = (JVM, COMPILERS, WORKERS, DRIVER)


@dataclass(frozen=True)
class Measured:
    """The outcomes of a case, and why engines have none."""

    case: Case
    outcomes: Mapping[Contestant, Outcome]
    failures: Mapping[Contestant, str] = field(default_factory=dict)
    # CPU seconds of Tidemark's workers by step, if they were asked for.
    steps: Mapping[str, float] = field(default_factory=dict)

    @property
    def flink(self) -> Outcome | None:
        return next((self.outcomes[one] for one in self.outcomes if one.is_flink), None)

    @property
    def tidemark(self) -> Ratio | None:
        """The rate of Tidemark on Spark relative to Flink's."""
        return next((self.ratio(one) for one in self.outcomes if one.what == TIDEMARK.what), None)

    def ratio(self, contestant: Contestant) -> Ratio | None:
        """An engine's rate relative to Flink's."""
        if self.flink is None or contestant not in self.outcomes:
            return None
        return Ratio.of(self.outcomes[contestant], self.flink)

    @property
    def agreeing(self) -> bool:
        return not self.outcomes or agree(self.outcomes.values())

    @property
    def missed(self) -> bool:
        """Whether Tidemark on Spark is slower than wanted."""
        ratio, wanted = self.tidemark, self.case.asked.wanted
        return ratio is not None and (ratio.warm < wanted.warm or ratio.cold < wanted.cold)

    @property
    def good(self) -> bool:
        return self.agreeing and not self.failures and not self.missed


def times(measured: Sequence[Measured], what: str = "files") -> Table:
    """Seconds of each engine, cold and warm, and its rate relative to Flink's."""
    table = Table(title=f"The same SQL over the same {what}, {os.cpu_count()} cores")
    table.add_column("engine", no_wrap=True)
    for heading in ("cold s", "CPU s", "x Flink", "warm s", "CPU s", "x Flink"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("rows", justify="right", no_wrap=True)
    for one in measured:
        table.add_section()
        wanted = one.case.asked.wanted
        cold, warm = f">= {wanted.cold:g}", f">= {wanted.warm:g}"
        table.add_row(str(one.case), "", "", cold, "", "", warm, style="bold")
        for contestant, outcome in one.outcomes.items():
            ratio = one.ratio(contestant)
            table.add_row(
                contestant.what,
                *_cells(outcome.cold, None if ratio is None else ratio.cold),
                *_cells(outcome.warm, None if ratio is None else ratio.warm),
                f"{outcome.rows:,}",
            )
        for contestant in one.failures:
            table.add_row(contestant.what, "failed")
    return table


def _cells(run: Run, ratio: float | None) -> list[str]:
    cpu = f"{whole(run.cpu):.1f}" if run.cpu else ""
    return [f"{run.seconds:.2f}", cpu, "" if ratio is None else f"{ratio:.2f}"]


def processors(measured: Iterable[Measured]) -> Table:
    """Where the CPU seconds of warm runs went."""
    table = Table(title="CPU seconds, warm; the compilers' are part of the JVM's")
    table.add_column("engine", no_wrap=True)
    for part in _PARTS:
        table.add_column(part, justify="right", no_wrap=True)
    for one in measured:
        table.add_section()
        table.add_row(str(one.case), style="bold")
        for contestant, outcome in one.outcomes.items():
            spent = outcome.warm.cpu
            cells = (f"{spent[part]:.1f}" if part in spent else "" for part in _PARTS)
            table.add_row(contestant.what, *cells)
    return table


def steps(measured: Iterable[Measured]) -> Table:
    """What Tidemark's workers did with their CPU seconds, the most costly steps first."""
    table = Table(title="CPU seconds of Tidemark's Python workers by step, warm")
    table.add_column("case", no_wrap=True)
    table.add_column("steps")
    for one in measured:
        costly = sorted(one.steps.items(), key=lambda step: -step[1])
        told = (f"{name} {seconds:.2f}" for name, seconds in costly if seconds)
        table.add_row(str(one.case), ", ".join(told))
    return table


def said(measured: Sequence[Measured]) -> list[str]:
    """What is not as wanted, a sentence each."""
    sentences = []
    for one in measured:
        for contestant, why in one.failures.items():
            sentences.append(f"{one.case}: {contestant.what} failed. {why}")
        if not one.agreeing:
            found = ", ".join(
                f"{contestant.what} {outcome.rows:,} ({outcome.checksum})"
                for contestant, outcome in one.outcomes.items()
            )
            sentences.append(f"{one.case}: the engines do NOT agree on the rows: {found}.")
        if one.missed:
            ratio, wanted = one.tidemark, one.case.asked.wanted
            assert ratio is not None
            sentences.append(
                f"{one.case}: {ratio.warm:.2f} times Flink's rate warm (wanted: {wanted.warm:g}) "
                f"and {ratio.cold:.2f} times cold (wanted: {wanted.cold:g})."
            )
    return sentences


def kept(measured: Iterable[Measured]) -> list[dict[str, Any]]:
    """The outcomes as they are saved."""
    return [
        {
            "case": asdict(one.case),
            "wanted": asdict(one.case.asked.wanted),
            "agreeing": one.agreeing,
            "steps": dict(one.steps),
            "failures": {contestant.what: why for contestant, why in one.failures.items()},
            "engines": [
                {
                    "what": contestant.what,
                    "ratio": None if (ratio := one.ratio(contestant)) is None else asdict(ratio),
                    **asdict(outcome),
                }
                for contestant, outcome in one.outcomes.items()
            ],
        }
        for one in measured
    ]


def bars(measured: Iterable[Measured]) -> dict[str, float]:
    """Tidemark's warm rates relative to Flink's, for a chart."""
    ratios = ((one, one.tidemark) for one in measured)
    return {str(one.case): ratio.warm for one, ratio in ratios if ratio is not None}
