"""`tidemark run` with Spark in a process of its own, stopped by a signal. Each start is slow."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ENDLESS = """
CREATE TABLE source (id INT, name STRING)
WITH ('connector' = 'datagen', 'rows-per-second' = '20', 'fields.name.length' = '4');
"""


def start(script: str, *options: str, folder: Path) -> subprocess.Popen[str]:
    file = folder / "script.sql"
    file.write_text(script)
    return subprocess.Popen(
        [sys.executable, "-m", "tidemark", "run", str(file), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_ctrl_c_ends_an_unbounded_query_and_its_lines_are_complete(tmp_path):
    script = ENDLESS + "SELECT id, name FROM source;"
    program = start(script, "--output", "jsonl", folder=tmp_path)
    first = [program.stdout.readline() for _ in range(5)]

    program.send_signal(signal.SIGINT)
    rest, said = program.stdout.read(), program.stderr.read()

    assert program.wait(timeout=PATIENCE_SECONDS) == 130
    for line in [*first, *rest.splitlines()]:
        assert set(json.loads(line)) == {"op", "row"}
    assert said.splitlines() == ["table `source` created", "SIGINT: stopping"]


def test_sigterm_stops_a_job_and_reports_how_far_it_got(tmp_path):
    sink = "CREATE TABLE sink (id INT, name STRING) WITH ('connector' = 'print');"
    program = start(ENDLESS + sink + "INSERT INTO sink SELECT * FROM source;", folder=tmp_path)
    first = [program.stdout.readline() for _ in range(5)]

    program.terminate()
    rest, said = program.stdout.read(), program.stderr.read()

    assert program.wait(timeout=PATIENCE_SECONDS) == 143
    assert all(line.startswith("+I[") for line in [*first, *rest.splitlines()])
    assert "SIGTERM: stopping\njob insert-into-sink stopped: " in said
    assert "Traceback" not in said
