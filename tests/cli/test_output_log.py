"""Spark's own output stays off the screen: a program with a talkative child, run for real."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from tidemark.spark.logs import LOG4J, quiet_spark_config

PROGRAM = """
import subprocess, sys, warnings
from pathlib import Path
from tidemark.cli.output_log import spark_output_to_log
from tidemark.cli.terminal import Terminal
from tidemark.errors import JobError

terminal = Terminal()
noise = {noise!r}
try:
    with spark_output_to_log(terminal, Path({folder!r})):
        subprocess.run([sys.executable, "-c", noise])
        warnings.warn("of a library")
        terminal.write("result\\n")
        print("printed")
        print("said", file=sys.stderr)
        if {fails!r}:
            raise JobError("it broke")
except JobError as error:
    terminal.say(error.render())
terminal.write("after\\n")
"""
NOISE = "import sys; print('child out'); print('child err', file=sys.stderr)"


def run(folder: Path, noise: str = NOISE, fails: bool = False) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(noise=noise, folder=str(folder), fails=fails)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


def test_children_print_into_the_log_and_we_where_we_always_did(tmp_path):
    done = run(tmp_path)

    assert done.stdout == "result\nprinted\nafter\n"
    assert done.stderr == "said\n"
    [log] = tmp_path.glob("spark-*.log")
    text = log.read_text()
    assert "child out" in text
    assert "child err" in text
    assert "of a library" in text


def test_a_log_without_news_is_not_kept(tmp_path):
    noise = "print('WARNING: Using incubator modules: jdk.incubator.vector')"
    program = PROGRAM.replace('        warnings.warn("of a library")\n', "")
    text = program.format(noise=noise, folder=str(tmp_path), fails=False)

    subprocess.run([sys.executable, "-c", text], check=True, capture_output=True)

    assert list(tmp_path.iterdir()) == []


def test_an_error_of_a_job_names_the_log(tmp_path):
    done = run(tmp_path, fails=True)

    [log] = tmp_path.glob("spark-*.log")
    assert done.stderr == f"said\nit broke\n  Spark's log: {log}\n"


def test_only_the_latest_logs_are_kept(tmp_path):
    for number in range(20):
        (tmp_path / f"spark-{number}.log").write_text("old")

    run(tmp_path)

    assert len(list(tmp_path.glob("spark-*.log"))) == 11


def test_spark_finds_its_log_settings():
    assert LOG4J.is_file()
    assert LOG4J.as_uri() in quiet_spark_config()["spark.driver.extraJavaOptions"]


@pytest.mark.spark
def test_pyspark_raises_errors_without_printing_them_first(spark, caplog):
    from pyspark.errors import AnalysisException

    with caplog.at_level(logging.DEBUG), pytest.raises(AnalysisException):
        spark.sql("SELECT * FROM nowhere").collect()
    assert [r for r in caplog.records if not r.name.startswith("py4j")] == []
