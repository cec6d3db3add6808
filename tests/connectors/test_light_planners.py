"""Spark starts a process for each stream that is planned here: it loads little."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("sqlglot", "polars", "pyarrow", "numpy", "tidemark.catalog", "tidemark.plan")


@pytest.mark.parametrize(
    "module",
    [
        "tidemark.connectors.kafka.stream",
        "tidemark.connectors.planned_stream",
        "tidemark.spark.partition_watermarks",
    ],
)
def test_planners_do_not_import_what_only_the_driver_needs(module: str) -> None:
    script = f"import sys, {module}; print(*[name for name in {HEAVY} if name in sys.modules])"

    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert (ran.stdout.split(), ran.stderr) == ([], "")
