"""Metrics of operators: a report next to the packed output, which is read from a query's progress.

Each key group reports after each step. Spark collects the reports of a micro-batch as an observed
metric, which is part of a query's progress, over Spark Connect too. Metrics of state cover only the
key groups that had something to do; `Totals` keeps those of the others.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from tidemark.checkpoints.state_sizes import Group
from tidemark.kernels.columns import BEFORE_ALL
from tidemark.kernels.protocol import Metrics, Step
from tidemark.runtime.payloads import IN_ROWS, Payloads
from tidemark.spark.stateful.late_columns import LATE, OUTLET
from tidemark.spark.stateful.packing import PACKED, PAYLOAD, FramesRepacked
from tidemark.spark.stateful.passing import Passed

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from pyspark.sql import DataFrame, Observation

REPORT = "report"
OUTPUT_DDL = f"{PAYLOAD} BINARY, {REPORT} STRING, {LATE} BINARY, {OUTLET} INT"
_PREFIX = "tidemark:"
_APART = "#"
_REPORTS = "reports"
# Rows of one packed value: few enough that wide rows stay far below two gigabytes.
ROWS_PER_PAYLOAD = 100_000


class Stopwatch:
    """The milliseconds that each part of a step took: a lap is the time since the last one."""

    def __init__(self) -> None:
        self.spent_ms: dict[str, float] = {}
        self._since = time.perf_counter()

    def lap(self, what: str) -> None:
        now = time.perf_counter()
        self.spent_ms[what] = round(self.spent_ms.get(what, 0.0) + (now - self._since) * 1000, 1)
        self._since = now

    def resume(self) -> None:
        """Do not count the time since the last lap."""
        self._since = time.perf_counter()


def packed_output(
    bucket: int,
    step: Step,
    round_trips: int = 0,
    watch: Stopwatch | None = None,
    way: Payloads = IN_ROWS,
    passed: Sequence[Passed] = (),
) -> Iterator[pd.DataFrame]:
    """A step's output rows, packed, the late rows that it hands out, and its report. Late rows that
    operators below have handed out are `passed` on.
    """
    import pandas as pd

    watch = watch or Stopwatch()
    payloads = [*wrapped_output(step.output, way)]
    late = [*wrapped_late_rows(step, way), *passed]
    length = max(len(payloads), len(late), 1)
    watch.lap("encode")
    columns: dict[str, list[Any]] = {
        PAYLOAD: payloads,
        REPORT: [report(bucket, step.metrics, watch, round_trips)],
        LATE: [payload for _, payload in late],
        OUTLET: [number for number, _ in late],
    }
    padded = {name: [*values, *[None] * (length - len(values))] for name, values in columns.items()}
    # Numbers next to NULLs would become fractions.
    yield pd.DataFrame(padded, dtype=object)


def repacked_output(
    bucket: int,
    step: Step,
    round_trips: int,
    watch: Stopwatch,
    repack: FramesRepacked,
    watermark: int = BEFORE_ALL,
) -> Iterator[pd.DataFrame]:
    """A step's output rows, packed for the operator above, the watermark that follows them, and the
    report of the step."""
    import pandas as pd

    batches = [*repack(iter(step.output.iter_slices(ROWS_PER_PAYLOAD)), bucket, watermark)]
    rows = [row for batch in batches for row in zip(*batch.to_pydict().values(), strict=True)]
    watch.lap("encode")
    said = report(bucket, step.metrics, watch, round_trips)
    padded = [*((*row, None) for row in rows), (*(None for _ in PACKED), said)]
    # Numbers next to NULLs would become fractions.
    yield pd.DataFrame(padded, columns=[*PACKED.names, REPORT], dtype=object)


def wrapped_output(rows: pl.DataFrame, way: Payloads) -> Iterator[bytes]:
    """The output rows of a step, packed."""
    for part in rows.iter_slices(ROWS_PER_PAYLOAD):
        if part.height:
            yield way.wrapped(part)


def wrapped_late_rows(step: Step, way: Payloads) -> Iterator[Passed]:
    """The late rows of a step, packed, each time with the number of their outlet."""
    for number, rows in step.handed_out.items():
        for payload in wrapped_output(rows, way):
            yield number, payload


def report(bucket: int, metrics: Metrics, watch: Stopwatch, round_trips: int = 0) -> str:
    said = {
        "bucket": bucket,
        **asdict(metrics),
        "round_trips": round_trips,
        "busy_ms": round(sum(watch.spent_ms.values()), 1),
        "spent_ms": watch.spent_ms,
    }
    return json.dumps(said)


def observed(packed: DataFrame, operator: str, observation: Observation | None = None) -> DataFrame:
    """The packed output, with its reports gathered under the operator's name; in a batch, which
    has no progress to read them from, by an `observation`."""
    from pyspark.sql import functions as f

    # Several of these frames may be in one query, whose metrics must have different names.
    where = observation or f"{_PREFIX}{operator}{_APART}{uuid.uuid4().hex[:8]}"
    return packed.observe(where, f.collect_list(REPORT).alias(_REPORTS))


def of_observation(observation: Observation) -> list[dict[str, Any]]:
    """The reports of an operator in a batch that has ended; none if the operator did not run."""
    try:
        found = observation.get
    except Exception:
        # Spark fails if it has optimized the operator away.
        return []
    return [json.loads(report) for report in found.get(_REPORTS) or ()]


@dataclass(frozen=True, slots=True)
class OperatorMetrics:
    """An operator's metrics over all its key groups.

    Rows, round trips and time are of one micro-batch, or summed up in totals; the rest
    describes the state as it is. `watermark` is None before the first one.
    """

    rows_in: tuple[int, ...] = ()
    late: tuple[int, ...] = ()
    rows_out: int = 0
    waiting: int = 0
    state_rows: int = 0
    state_bytes: int = 0
    segments: int = 0
    watermark: int | None = None
    round_trips: int = 0
    busy_ms: float = 0.0


def reports_of(progress: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The reports of each operator in a query's progress (as JSON): one per active key group."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, row in observations(progress).items():
        if name.startswith(_PREFIX):
            operator, *_ = name.removeprefix(_PREFIX).split(_APART)
            reports = found.setdefault(operator, [])
            reports.extend(json.loads(report) for report in row[_REPORTS] or ())
    return found


def observations(progress: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The observed metrics in a query's progress (as JSON), by name and column."""
    rows = progress.get("observedMetrics") or {}
    return {name: _with_names(row) for name, row in rows.items()}


def _with_names(row: dict[str, Any]) -> dict[str, Any]:
    """Spark Connect separates values and columns."""
    if row.keys() != {"values", "schema"}:
        return row
    names = [column["name"] for column in row["schema"]["fields"]]
    return dict(zip(names, row["values"], strict=True))


@dataclass(slots=True)
class Totals:
    """Adds up the reports of one operator."""

    _latest: dict[int, dict[str, Any]] = field(default_factory=dict)
    _rows_in: list[int] = field(default_factory=list)
    _late: list[int] = field(default_factory=list)
    _rows_out: int = 0
    _round_trips: int = 0
    _busy_ms: float = 0.0

    def add(self, reports: list[dict[str, Any]]) -> None:
        for report in reports:
            self._latest[report["bucket"]] = report
            self._rows_in = _plus(self._rows_in, report["rows_in"])
            self._late = _plus(self._late, report["late"])
            self._rows_out += report["rows_out"]
            self._round_trips += report["round_trips"]
            self._busy_ms += report["busy_ms"]

    def kept(self) -> dict[str, Group]:
        """The state of each key group that has reported, by its label in Spark."""
        return {
            str(label): Group(report["state_rows"], report["state_bytes"], report["waiting"])
            for label, report in self._latest.items()
        }

    def read(self) -> OperatorMetrics:
        latest = self._latest.values()
        watermark = max((report["watermark"] for report in latest), default=BEFORE_ALL)
        state = {
            name: sum(report[name] for report in latest)
            for name in ("waiting", "state_rows", "state_bytes", "segments")
        }
        return OperatorMetrics(
            rows_in=tuple(self._rows_in),
            late=tuple(self._late),
            rows_out=self._rows_out,
            watermark=None if watermark == BEFORE_ALL else watermark,
            round_trips=self._round_trips,
            busy_ms=round(self._busy_ms, 1),
            **state,
        )


def _plus(sums: list[int], more: list[int]) -> list[int]:
    if len(sums) < len(more):
        sums = sums + [0] * (len(more) - len(sums))
    return [a + b for a, b in zip(sums, more, strict=True)]
