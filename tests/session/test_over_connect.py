"""The same session over Spark Connect, which public PySpark alone makes possible."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.connect_port import connect_port
from tests.waiting import PATIENCE_SECONDS


# Spark gives a stream's Python worker on the server ten seconds to start.
@pytest.mark.undisturbed
@pytest.mark.spark
@pytest.mark.slow
def test_queries_functions_streams_and_jobs_run_over_spark_connect(tmp_path):
    environment = {**os.environ, "SPARK_REMOTE": "local[2]"}

    with connect_port():
        done = subprocess.run(
            [sys.executable, "-m", "tests.session.over_connect", tmp_path],
            cwd=Path(__file__).parents[2],
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )

    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"check"')]
    assert done.returncode == 0, shortened(done.stderr)
    assert {line["check"]: line["value"] for line in said} == {
        "client": "pyspark.sql.connect.session",
        "query": [{"w": -2147483648, "s": "ab"}],
        "function": [{"s": "TIDE!"}],
        "changes": [0, 2, 4],
        # Four rows, and a marker at the end of each table.
        "rows": [6, 2],
        "temporal-join-1": [[2, 2], 2, [0, 0], 0, True, True],
        "watermark": "9999-12-31T23:59:59.999Z",
        "early": [{"s": 6}],
        "over": [1, 2, 3],
        "late": ['{"v":3,"late_by":7000}'],
        "joined": ['{"id":1,"rate":110}', '{"id":2,"rate":120}'],
    }


def shortened(stderr: str) -> str:
    """What Python printed, without the warnings before it and Java's stack traces within it."""
    lines = [line for line in stderr.splitlines() if not line.startswith("\tat ")]
    first = next((i for i, line in enumerate(lines) if line.startswith("Traceback")), 0)
    return "\n".join(lines[first : first + 200])
