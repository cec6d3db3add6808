"""The Python that Spark's workers run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from tidemark.spark import forks
from tidemark.spark.interpreter import bytes_kept, quick_to_start, worker_settings


def test_workers_import_pyspark_from_where_it_is_installed(monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.delenv("SPARK_HOME", raising=False)
    path = "/spark/python/lib/pyspark.zip:/spark/python/lib/py4j-0.10.9.9-src.zip:/of/the user"

    with quick_to_start():
        worker = os.environ["PYSPARK_PYTHON"]
    asked = [worker, "-c", "import os, sys; print(os.environ['PYTHONPATH']); print(sys.executable)"]
    environment = {**os.environ, "PYTHONPATH": path}
    said = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True)

    assert said.stdout.splitlines() == ["/of/the user", sys.executable]
    assert os.environ["PYSPARK_PYTHON"] == sys.executable


def test_workers_keep_their_memory_by_default(monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.delenv("_RJEM_MALLOC_CONF", raising=False)
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.arena_max=2")

    with quick_to_start():
        worker = os.environ["PYSPARK_PYTHON"]
    code = "import os; print(os.environ['GLIBC_TUNABLES']); print(os.environ['_RJEM_MALLOC_CONF'])"
    said = subprocess.run([worker, "-c", code], capture_output=True, text=True, check=True)

    of_user, of_polars = said.stdout.splitlines()
    assert of_user == "glibc.malloc.arena_max=2"
    assert "dirty_decay_ms:30000" in of_polars
    assert "_RJEM_MALLOC_CONF" not in os.environ


STREAM_WORKER = "pyspark.sql.streaming.transform_with_state_driver_worker"


@pytest.mark.parametrize(
    ("module", "level", "printed"),
    [(STREAM_WORKER, "", ""), (STREAM_WORKER, "info", "said\n"), ("pyspark.daemon", "", "said\n")],
)
def test_what_spark_prints_about_each_stream_is_not_shown(monkeypatch, module, level, printed):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setenv("TIDEMARK_SPARK_LOG", level)

    with quick_to_start():
        worker = os.environ["PYSPARK_PYTHON"]
    code = "import sys; print('said'); print('wrong', file=sys.stderr)"
    said = subprocess.run([worker, "-c", code, module], capture_output=True, text=True, check=True)

    assert (said.stdout, said.stderr) == (printed, "wrong\n")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere workers load what they need")
def test_workers_are_forked_from_a_process_without_threads(monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.delenv("SPARK_HOME", raising=False)
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "JE_ARROW_MALLOC_CONF"):
        monkeypatch.delenv(name, raising=False)

    daemon = worker_settings()["spark.python.daemon.module"]
    with quick_to_start():
        worker = os.environ["PYSPARK_PYTHON"]
    code = f"import os, {daemon} as d; d.load(); print(len(os.listdir('/proc/self/task')))"
    said = subprocess.run([worker, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout == "1\n"


@pytest.mark.parametrize(
    ("memory", "cores", "kept"), [(0, 1, 64), (16, 16, 64), (24, 2, 768), (512, 4, 1024)]
)
def test_a_worker_keeps_no_more_memory_than_is_available(monkeypatch, memory, cores, kept):
    monkeypatch.setattr("tidemark.spark.machine.memory", lambda: memory << 30)
    monkeypatch.setattr("tidemark.spark.machine.cores", lambda: cores)

    assert bytes_kept() == kept << 20


@pytest.mark.parametrize(("name", "value"), [("PYSPARK_PYTHON", "/other"), ("SPARK_HOME", "/own")])
def test_what_the_user_has_chosen_stays(monkeypatch, name, value):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv(name, value)
    chosen = os.environ["PYSPARK_PYTHON"]

    with quick_to_start():
        assert os.environ["PYSPARK_PYTHON"] == chosen
    assert worker_settings() == {}


@pytest.mark.skipif(sys.platform != "linux", reason="nothing is forked elsewhere")
def test_the_workers_of_a_spark_on_this_machine_are_forks(spark):
    def daemons(batches):
        for batch in batches:
            command = Path(f"/proc/{os.getppid()}/cmdline").read_text().split("\0")
            yield pa.RecordBatch.from_pydict({"said": [command[2]] * batch.num_rows})

    said = spark.range(1).mapInArrow(daemons, "said string").collect()

    assert [row.said for row in said] == [forks.__name__]
