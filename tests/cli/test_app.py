"""The command line itself: help, usage errors, exit codes, what it reads."""

from __future__ import annotations

import io
import json
import sys

import pytest

from tidemark.cli import main
from tidemark.cli.scripts import (
    UsageError,
    init_scripts,
    personal_init_script,
    read_script,
    read_settings,
)

COMMANDS = ["run", "check", "explain", "verify", "sql", "doctor"]


@pytest.fixture(autouse=True)
def _home_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("TIDEMARK_INIT", raising=False)


def test_the_version_is_the_package_s(capsys):
    import tidemark

    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"tidemark {tidemark.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command_has_examples(command, capsys):
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out
    assert "Examples:\n" in text
    assert f"\n    tidemark {command}" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run"], "nothing to run"),
        (["check"], "nothing to check"),
        (["run", "no-such-file.sql"], "file not found: no-such-file.sql"),
        (["run", "--set", "a", "-e", "SELECT 1"], "expected key=value"),
        (["run", "--output", "xml", "-e", "SELECT 1"], "xml"),
        (["run", "--max-rows", "-1", "-e", "SELECT 1"], "--max-rows"),
        (["fly"], "fly"),
        (["check", "--no-such-option"], "--no-such-option"),
    ],
)
def test_wrong_usage_is_exit_code_2(arguments, said, capsys):
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_an_error_in_the_sql_is_exit_code_1_and_no_traceback(capsys):
    assert main(["check", "-e", "SELECT FROM"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("<command line>:1:8  ")
    assert "Traceback" not in captured.err


def test_an_unknown_session_option_is_an_error_of_the_user_s(capsys):
    assert main(["check", "--set", "table.local-time-zon=UTC", "-e", "SELECT 1"]) == 1
    assert "table.local-time-zone" in capsys.readouterr().err


def test_a_surprise_is_one_line_and_a_traceback_in_a_file(monkeypatch, capsys, tmp_path):
    def surprise(*_):
        raise ZeroDivisionError("a bug\nof ours")

    monkeypatch.setattr("tidemark.cli.check.check", surprise)

    assert main(["check", "-e", "SELECT 1"]) == 1
    first, second = capsys.readouterr().err.splitlines()
    [saved] = (tmp_path / "state/tidemark/logs").glob("error-*.txt")
    assert first == "unexpected ZeroDivisionError: a bug"
    assert second == f"  the traceback is in {saved}; --debug shows it here"
    assert "in surprise" in saved.read_text()


def test_debug_shows_the_traceback(monkeypatch, capsys):
    def surprise(*_):
        raise ZeroDivisionError("a bug of ours")

    monkeypatch.setattr("tidemark.cli.check.check", surprise)

    assert main(["check", "--debug", "-e", "SELECT 1"]) == 1
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_a_reader_that_goes_away_is_not_an_error(monkeypatch, capsys):
    def closed(*_):
        raise BrokenPipeError

    monkeypatch.setattr("tidemark.cli.check.check", closed)
    monkeypatch.setattr("tidemark.cli.exit_codes._discard_output", lambda: None)

    assert main(["check", "-e", "SELECT 1"]) == 0
    assert capsys.readouterr().err == ""


def test_ctrl_c_is_exit_code_130(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("tidemark.cli.check.check", interrupted)

    assert main(["check", "-e", "SELECT 1"]) == 130


def test_a_file_and_inline_sql_run_in_order(tmp_path, capsys):
    script = tmp_path / "tables.sql"
    script.write_text("CREATE TABLE t (id INT) WITH ('connector' = 'datagen');")

    assert main(["check", str(script), "-e", "SELECT id FROM t", "-e", "SELECT 1"]) == 0
    assert capsys.readouterr().out == "ok: 3 statements, 0 jobs\n"


def test_explain_prints_one_plan_as_it_is(capsys):
    assert main(["explain", "-e", "SELECT 1 AS n"]) == 0
    assert capsys.readouterr().out.startswith("== Logical plan ==\n")


def test_explain_says_which_statement_each_plan_is_of(capsys):
    assert main(["explain", "-e", "SELECT 1;\nEXPLAIN SELECT 2;"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("--")] == [
        "-- <command line>:1:1",
        "-- <command line>:2:1",
    ]


def test_explain_as_json_is_one_value(capsys):
    assert main(["explain", "--format", "json", "-e", "SELECT 1; SELECT 2"]) == 0
    assert [plan["at"] for plan in json.loads(capsys.readouterr().out)] == [
        "<command line>:1:1",
        "<command line>:1:11",
    ]


def test_explain_as_a_picture_is_mermaid(capsys):
    assert main(["explain", "--format", "mermaid", "-e", "SELECT 1"]) == 0
    assert capsys.readouterr().out.startswith("flowchart ")


def test_a_minus_reads_standard_input(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"SELECT 1; SELECT 2")))

    assert main(["check", "-"]) == 0
    assert capsys.readouterr().out == "ok: 2 statements, 0 jobs\n"


def test_a_script_that_is_not_utf_8_says_where(tmp_path):
    script = tmp_path / "latin.sql"
    script.write_bytes("SELECT 1;\nSELECT 'é'".encode("latin-1"))

    with pytest.raises(UsageError) as caught:
        read_script(str(script))
    assert caught.value.notes == {"line": 2, "byte": "0xe9"}


def test_a_byte_order_mark_is_not_part_of_the_script(tmp_path):
    script = tmp_path / "windows.sql"
    script.write_bytes(b"\xef\xbb\xbfSELECT 1")

    assert read_script(str(script)).text == "SELECT 1"


def test_the_init_script_comes_from_the_option_or_the_environment(tmp_path):
    given, named = tmp_path / "given.sql", tmp_path / "named.sql"
    given.write_text("SELECT 1")
    named.write_text("SELECT 2")
    environment = {"TIDEMARK_INIT": str(named)}

    assert [s.text for s in init_scripts(str(given), environment)] == ["SELECT 1"]
    assert [s.text for s in init_scripts(None, environment)] == ["SELECT 2"]
    assert init_scripts("", environment) == []
    assert init_scripts(None, {}) == []


def test_the_personal_init_script_is_only_read_where_it_is(tmp_path):
    assert personal_init_script() == []
    (tmp_path / "config/tidemark").mkdir(parents=True)
    (tmp_path / "config/tidemark/init.sql").write_text("SELECT 1")
    assert [s.text for s in personal_init_script()] == ["SELECT 1"]


def test_settings_may_hold_an_equals_sign():
    assert read_settings(["a = b=c", "spark.x=1"]) == {"a": "b=c", "spark.x": "1"}


def test_metrics_are_served_at_a_port_that_is_printed(capfd):
    assert main(["run", "--local", "--metrics-port", "0", "-e", "SELECT 1 AS n"]) == 0

    assert "metrics at http://127.0.0.1:" in capfd.readouterr().err
