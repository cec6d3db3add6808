"""How Java runs in the tests.

Each test asks for other plans, whose code runs once or twice. Java's best compiler would take a third of
all the time to make it fast, and be ready when it is not needed any more; its quick one is not. It
would keep no more than 48 MB of code, and throw out and compile again what thousands of plans need.

Some forty processes of all tests start Spark. `python -m tests.java` lets Java archive the classes
that these load.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tidemark.spark import class_archive, machine
from tidemark.spark.defaults import spark_home

# Java writes the archive after the command has ended.
_MOST_SECONDS = 60
_QUICK = "-XX:+UseParallelGC -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m"


@cache
def quick() -> str:
    """Options for each Java that a test starts. A test writes no archive, but uses the one there is."""
    archived = _archived()
    return f"{_QUICK} {archived}" if "SharedArchiveFile" in archived else _QUICK


def _archived() -> str:
    java = machine.java()
    return class_archive.java_options(java, spark_home()) if java else ""


def on_driver() -> Mapping[str, str]:
    """For Spark's driver; executors have an option of their own."""
    return {"spark.driver.defaultJavaOptions": quick()}


def on_executors() -> Mapping[str, str]:
    return {"spark.executor.defaultJavaOptions": quick()}


def everywhere() -> None:
    """Let each driver run so that a test starts in another process, as a user would start it."""
    os.environ.setdefault("SPARK_SUBMIT_OPTS", quick())


# What most tests load: a stream and a batch over files, a stateful operator and its state.
_SCRIPT = """
CREATE TABLE orders (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '{folder}/orders', 'format' = 'json');
CREATE TABLE counts (minute_start TIMESTAMP(3), n BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{folder}/counts', 'format' = 'json');
CREATE VIEW counted AS SELECT window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
INSERT INTO counts SELECT * FROM counted;
SET 'execution.runtime-mode' = 'batch';
SELECT * FROM counted;
"""


def _archive() -> None:
    """Run something that a test could run, in a process of its own; its Java writes the archive."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "orders").mkdir()
        (folder / "orders" / "1.json").write_text('{"id": 1, "ts": "2024-01-01 00:00:00"}\n')
        script = folder / "script.sql"
        script.write_text(_SCRIPT.format(folder=folder))
        run = [sys.executable, "-m", "tidemark", "run", script, "--checkpoint", folder / "state"]
        java = {"SPARK_SUBMIT_OPTS": _QUICK}
        subprocess.run(run, env=os.environ | java, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    if "ArchiveClassesAtExit" not in _archived():
        return
    _archive()
    deadline = time.monotonic() + _MOST_SECONDS
    while "ArchiveClassesAtExit" in _archived() and time.monotonic() < deadline:
        time.sleep(0.1)


if __name__ == "__main__":
    main()
