"""`connect(spark)` leaves the user's session as it was, classic or over Spark Connect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.connect_port import connect_port
from tests.waiting import PATIENCE_SECONDS


def _activated() -> dict[str, str]:
    """Spark's workers run the `python3` that is first on the path, unless one is set."""
    here = str(Path(sys.executable).parent)
    return {"PATH": os.pathsep.join((here, os.environ["PATH"])), "PYSPARK_PYTHON": "python3"}


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    "mode",
    ["classic", pytest.param("connect", marks=[pytest.mark.undisturbed, pytest.mark.thorough])],
)
def test_a_session_of_the_users_stays_as_it_is(mode, tmp_path):
    """The classic master is named by spark-defaults."""
    (tmp_path / "spark-defaults.conf").write_text("spark.master  local[2]\n")
    where = {"SPARK_REMOTE": "local[2]"} if mode == "connect" else {"SPARK_CONF_DIR": str(tmp_path)}

    with connect_port():
        done = subprocess.run(
            [sys.executable, Path(__file__).with_name("users_session.py")],
            env={**os.environ, **_activated(), **where},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )

    assert done.returncode == 0, done.stderr[-3000:]
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"check"')]
    assert {line["check"]: line["value"] for line in said} == {
        "computes as Flink": [{"wrapped": -2147483648}],
        "counts": [1, 2],
        "functions": [{"s": "A!"}],
        "streams": [0, 2, 4],
        "partitions": "2",
        "zone": [{"t": "1970-01-01 09:00:00.000"}],
        "settings are as before": True,
        "views are as before": [3, ["mine"]],
        "overflow fails as before": True,
        "chosen partitions": "7",
        "found": "7",
        **({} if mode == "connect" else {"found in a thread": "7", "goes on after that": 2}),
    }
