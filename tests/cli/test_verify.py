"""`tidemark verify`: what it prints and how it ends. What it compares is tested with Spark."""

from __future__ import annotations

import pytest

from tidemark.cli import main
from tidemark.session import verify
from tidemark.session.verify import ModeResult, Verification


@pytest.fixture
def outcomes(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    found: list[Verification] = []
    monkeypatch.setattr(verify, "verify", lambda session, text, name: iter(found))
    return found


def test_equal_rows_are_exit_code_0(outcomes, capsys):
    outcomes.append(Verification("SELECT 1", ModeResult(1, "ab"), ModeResult(1, "ab")))

    assert main(["verify", "--debug", "-e", "SELECT 1"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "equal  SELECT 1",
        "  stream          1 rows  ab",
        "  batch           1 rows  ab",
    ]


def test_other_rows_are_exit_code_1(outcomes, capsys):
    outcomes.append(Verification("SELECT 1", ModeResult(1, "ab"), ModeResult(2, "cd")))

    assert main(["verify", "--debug", "-e", "SELECT 1"]) == 1
    assert capsys.readouterr().out.startswith("DIFFERENT  SELECT 1")


def test_a_script_without_queries_says_so(outcomes, capsys):
    assert main(["verify", "--debug", "-e", "SET 'pipeline.name' = 'x'"]) == 0
    assert "nothing to verify" in capsys.readouterr().err
