"""`tidemark run --local`."""

from pathlib import Path

import pytest

from tidemark.cli.app import invoke

ROOT = Path(__file__).resolve().parents[2]


def test_example_runs_over_its_files(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(ROOT)
    assert invoke(["run", "--local", "examples/enriched.sql", "-o", "csv"]) == 0
    assert capfd.readouterr().out.splitlines()[1:] == [
        "1,EUR,110.00,2024-05-01 09:00:00.000",
        "2,EUR,120.00,2024-05-01 09:00:05.000",
        "3,YEN,,",
    ]


def test_part_that_needs_spark_is_an_error_with_a_hint(capfd: pytest.CaptureFixture[str]):
    script = "CREATE TABLE t (a INT) WITH ('connector' = 'datagen'); SELECT a FROM t"
    assert invoke(["run", "--local", "-e", script]) == 1
    said = capfd.readouterr().err
    assert "an unbounded job needs Spark" in said
    assert "run it without --local" in said


def test_local_job_has_no_checkpoint(capfd: pytest.CaptureFixture[str]):
    assert invoke(["run", "--local", "--checkpoint", "here", "-e", "SELECT 1"]) == 2
    assert "--local and --checkpoint exclude each other" in capfd.readouterr().err
