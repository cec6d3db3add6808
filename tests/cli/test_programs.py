"""`tidemark run program.py`, in processes of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAD = """
import sys
from pyflink.table import EnvironmentSettings, TableEnvironment

t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
"""


@pytest.fixture
def run(tmp_path):
    def start(program: str, *options: str, engine: str = "--local"):
        file = tmp_path / "job.py"
        file.write_text(HEAD + program)
        return subprocess.run(
            [sys.executable, "-m", "tidemark", "run", engine, str(file), *options],
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )

    return start


def test_jobs_run_on_after_the_end_of_the_program(run):
    ended = run(
        """
print(sys.argv[1:], __name__)
t_env.execute_sql("CREATE TABLE sink (n INT) WITH ('connector' = 'print')")
t_env.execute_sql("INSERT INTO sink VALUES (1), (2)")
""",
        "--",
        "--date",
        "today",
    )

    assert ended.returncode == 0
    assert ended.stdout.splitlines() == ["['--date', 'today'] __main__", "+I[1]", "+I[2]"]
    assert "job insert-into-sink finished: 2 rows in, 2 out" in ended.stderr


@pytest.mark.spark
@pytest.mark.slow
def test_a_program_runs_on_spark_with_its_functions_in_workers(run):
    ended = run(
        """
from pyflink.table import DataTypes
from pyflink.table.udf import udf

@udf(result_type=DataTypes.BIGINT())
def doubled(n):
    return 2 * n

rows = t_env.from_elements([(1,), (2,)], ["n"])
t_env.execute_sql("CREATE TABLE sink (n BIGINT) WITH ('connector' = 'print')")
rows.select(doubled(rows.n).alias("n")).execute_insert("sink")
""",
        engine="--no-progress",
    )

    assert ended.returncode == 0, ended.stderr
    assert sorted(ended.stdout.splitlines()) == ["+I[2]", "+I[4]"]
    assert "job insert-into-sink finished: 2 rows in, 2 out" in ended.stderr


def test_jobs_that_the_program_has_waited_for_are_its_own_business(run):
    ended = run("""
t_env.execute_sql("CREATE TABLE sink (n INT) WITH ('connector' = 'print')")
t_env.execute_sql("INSERT INTO sink VALUES (1), (2)").wait()
""")

    assert ended.stdout.splitlines() == ["+I[1]", "+I[2]"]
    assert ended.stderr == ""


def test_a_job_that_fails_after_the_end_of_the_program_fails_the_command(run):
    ended = run("""
t_env.execute_sql("CREATE TABLE sink (n INT) WITH ('connector' = 'print')")
t_env.execute_sql("INSERT INTO sink SELECT CAST(s AS INT) FROM (VALUES ('x')) AS t (s)")
""")

    assert ended.returncode == 1
    assert "cannot cast 'x' to INT" in ended.stderr


def test_an_error_in_sql_says_where_the_program_has_called_it(run):
    ended = run('\nt_env.execute_sql("SELECT nothing FROM (VALUES (1)) AS t (n)").print()\n')

    assert ended.returncode == 1
    assert "<sql>:1:8  column `nothing` not found" in ended.stderr
    assert "job.py:7\n" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_an_error_of_the_program_is_shown_as_by_python_without_what_started_it(run):
    ended = run("\ndef broken():\n    return {}['key']\n\nbroken()\n")

    assert ended.returncode == 1
    lines = ended.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1].endswith('job.py", line 10, in <module>')
    assert lines[-1] == "KeyError: 'key'"


@pytest.mark.parametrize(("code", "expected"), [("0", 0), ("'wrong date'", 1), ("3", 3)])
def test_the_program_decides_on_the_exit_code(run, code, expected):
    ended = run(f"\nsys.exit({code})\n")

    assert ended.returncode == expected
    assert ("wrong date" in ended.stderr) == ("wrong" in code)


@pytest.mark.parametrize("option", ["-e SELECT", "--output jsonl", "--max-rows 3"])
def test_options_for_scripts_are_rejected(run, option):
    ended = run("", *option.split())

    assert ended.returncode == 2
    assert f"{option.split()[0]} is for scripts of SQL" in ended.stderr


def test_what_has_no_effect_is_said_once(run):
    ended = run("""
for _ in range(2):
    t_env.get_config().set("pipeline.jars", "file:///connector.jar")
""")

    note = "'pipeline.jars' configures Flink's runtime and has no effect here\n"
    assert ended.stderr == note


def test_an_init_script_prepares_each_environment(run, tmp_path):
    (tmp_path / "init.sql").write_text(
        "CREATE DATABASE shop; USE shop; CREATE TEMPORARY VIEW v AS SELECT 5 AS five;"
    )
    ended = run(
        """
print([list(row) for row in t_env.execute_sql("SELECT five FROM v").collect()])
""",
        "--init",
        "init.sql",
    )

    assert (ended.stdout, ended.stderr, ended.returncode) == ("[[5]]\n", "", 0)


def test_programs_cannot_be_checked(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-m", "tidemark", "check", "job.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )

    assert ended.returncode == 2
    assert "job.py is a program, not SQL\n  hint: `tidemark run` runs programs" in ended.stderr


def test_only_programs_have_arguments(run, tmp_path):
    (tmp_path / "script.sql").write_text("SELECT 1")
    ended = run("", "unexpected", engine=str(tmp_path / "script.sql"))

    assert ended.returncode == 2
    assert "unexpected argument" in ended.stderr
