"""Startup times: import, `tidemark check`, and `tidemark run` of a script with one row, compared
with PySpark doing the same by hand.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.results import keep, picture
from bench.timing import Times, alternate

IMPORT_LIMIT_S = 0.3
CHECK_LIMIT_S = 2.0
RUN_LIMIT_RATIO = 1.5


@dataclass(frozen=True)
class Measured:
    """One line of the table: what was measured, against what, and whether it is good enough."""

    what: str
    times: Times
    limit: float
    rival: Times | None = None

    @property
    def value(self) -> float:
        """Seconds, or a ratio if there is a rival."""
        return self.times.median / self.rival.median if self.rival else self.times.median

    @property
    def good(self) -> bool:
        return self.value <= self.limit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=5, help="runs that count (default 5)")


def run(arguments: argparse.Namespace, console: Console) -> int:
    runs = arguments.runs
    with console.status("measuring whole processes, one at a time"):
        measured = list(measure(runs))
    console.print(_table(measured, runs))
    load = os.getloadavg()[0]
    if load > (os.cpu_count() or 1):
        console.print(
            f"The machine was busy (load {load:.0f}): believe the ratios, not the seconds."
        )
    _keep(measured)
    return 0 if all(line.good for line in measured) else 1


def measure(runs: int) -> Iterator[Measured]:
    """All measurements, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        yield _import(runs)
        yield _check(Path(folder), runs)
        yield from _run(Path(folder), runs)


def _import(runs: int) -> Measured:
    """What `import tidemark` adds to an interpreter that starts and exits."""
    times = alternate({"import": ["-c", "import tidemark"], "nothing": ["-c", "pass"]}, runs)
    pairs = zip(times["import"].seconds, times["nothing"].seconds, strict=True)
    added = Times(tuple(max(0.0, mine - empty) for mine, empty in pairs))
    return Measured("import tidemark", added, IMPORT_LIMIT_S)


def _check(folder: Path, runs: int) -> Measured:
    script = folder / "long.sql"
    script.write_text(long_script(lines=200))
    times = alternate({"check": ["-m", "tidemark", "check", str(script)]}, runs)
    return Measured("tidemark check, 200 lines", times["check"], CHECK_LIMIT_S)


def _run(folder: Path, runs: int) -> Iterator[Measured]:
    data = folder / "rows"
    data.mkdir()
    (data / "one.json").write_text('{"id": 1, "name": "one"}\n')
    scripts = {
        "values": "SELECT * FROM (VALUES (1, 'one')) AS t (id, name);",
        "file": "CREATE TABLE t (id INT, name STRING) WITH ('connector' = 'filesystem', "
        f"'path' = '{data}', 'format' = 'json');\nSELECT * FROM t;",
    }
    for source, text in scripts.items():
        script = folder / f"{source}.sql"
        script.write_text(text)
        rivals = {
            "tidemark": ["-m", "tidemark", "run", str(script)],
            "pyspark": ["-m", "bench.bare_spark", source, str(data)],
        }
        times = alternate(rivals, runs)
        what = f"tidemark run, one row of {source.upper()}, beside bare PySpark"
        yield Measured(what, times["tidemark"], RUN_LIMIT_RATIO, times["pyspark"])


def _table(measured: list[Measured], runs: int) -> Table:
    table = Table(title=f"Start-up: median (least - most) of {runs} runs, seconds")
    for heading in ("what", "Tidemark", "rival", "ratio", "limit", ""):
        text = heading in ("what", "")
        table.add_column(heading, justify="left" if text else "right", no_wrap=not text)
    for line in measured:
        rival = str(line.rival) if line.rival else ""
        ratio = f"{line.value:.2f}" if line.rival else ""
        verdict = "good" if line.good else "TOO SLOW"
        table.add_row(line.what, str(line.times), rival, ratio, str(line.limit), verdict)
    return table


def _keep(measured: list[Measured]) -> None:
    lines = [
        {
            "what": line.what,
            "seconds": line.times.seconds,
            "rival_seconds": line.rival.seconds if line.rival else None,
            "value": round(line.value, 3),
            "limit": line.limit,
        }
        for line in measured
    ]
    keep("startup", {"measured": lines})
    shares = {line.what: line.value / line.limit for line in measured}
    picture("startup", "Start-up: shares of what is allowed", shares, 1.0)


def long_script(lines: int) -> str:
    """A realistic script of at least `lines` lines: tables, views, inserts."""
    parts: list[str] = []
    while sum(part.count("\n") for part in parts) < lines:
        parts.append(_BLOCK.replace("#", str(len(parts))))
    return "".join(parts)


_BLOCK = """\
CREATE TABLE orders_# (
  id BIGINT,
  customer ROW<name STRING, city STRING>,
  amount DECIMAL(10, 2),
  tags ARRAY<STRING>,
  ts TIMESTAMP(3),
  doubled AS amount * 2,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'datagen',
  'rows-per-second' = '10'
);
CREATE VIEW cities_# AS
SELECT id, UPPER(customer.city) AS city, COALESCE(amount, 0) AS amount,
       CASE WHEN amount > 100 THEN 'large' WHEN amount > 10 THEN 'medium' ELSE 'small' END AS size,
       DATE_FORMAT(ts, 'yyyy-MM-dd') AS day_, TIMESTAMPDIFF(DAY, ts, LOCALTIMESTAMP) AS age
FROM orders_#
WHERE customer.city LIKE 'A%' AND id IN (1, 2, 3);
CREATE TABLE sink_# (id BIGINT, city STRING, amount DECIMAL(10, 2)) WITH ('connector' = 'print');
INSERT INTO sink_#
SELECT id, city, CAST(amount AS DECIMAL(10, 2))
FROM (SELECT * FROM cities_# WHERE size <> 'small') AS bigger
WHERE CHAR_LENGTH(city) > 3;
"""
