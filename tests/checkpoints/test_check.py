"""What a script would keep of a checkpoint, from Python and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tidemark
from tests.cli.fakes import plain_terminal
from tidemark.checkpoints.contract import write
from tidemark.cli.app import invoke
from tidemark.cli.checkpoint import check_command, copy_command, show_command
from tidemark.cli.choices import CheckFormat
from tidemark.cli.exit_codes import Failed
from tidemark.storage import Location

from .contracts import TABLES, contract
from .folders import QUERY, checkpoint

DECLARED = TABLES.replace("{delay}", "").replace("{options}", "")
SINK = "CREATE TABLE snk (v INT, other INT) WITH ('connector' = 'blackhole');"


def outcomes(folder: Path, query: str) -> list[tuple[str, str | None, str]]:
    script = f"{DECLARED} SET 'pipeline.name' = 'job'; {query}"
    found = tidemark.Checkpoint(folder).check(script)
    return [(outcome.job, outcome.operator, outcome.outcome) for outcome in found]


def test_the_script_that_made_a_checkpoint_keeps_it(tmp_path: Path) -> None:
    assert outcomes(checkpoint(tmp_path), QUERY) == [("job", "regular-join-1", "kept")]


def test_an_operator_that_differs_is_refused(tmp_path: Path) -> None:
    left = QUERY.replace("JOIN", "LEFT JOIN")

    assert outcomes(checkpoint(tmp_path), left) == [("job", "regular-join-1", "refused")]


def test_jobs_of_other_names_are_lost_and_rebuilt(tmp_path: Path) -> None:
    assert outcomes(checkpoint(tmp_path), f"SET 'pipeline.name' = 'other'; {QUERY}") == [
        ("other", "regular-join-1", "rebuilt"),
        ("job", "regular-join-1", "lost"),
    ]


def test_inserts_are_jobs_by_the_names_of_their_tables(tmp_path: Path) -> None:
    checkpoint(tmp_path)
    (tmp_path / "job").rename(tmp_path / "insert-into-snk")
    found = tidemark.Checkpoint(tmp_path).check(f"{DECLARED} {SINK} INSERT INTO snk {QUERY}")

    assert [(outcome.job, outcome.outcome) for outcome in found] == [("insert-into-snk", "kept")]


def test_the_time_zone_of_the_checkpoint_is_assumed_unless_one_is_given(tmp_path: Path) -> None:
    zoned = TABLES.replace("TIMESTAMP(3)", "TIMESTAMP_LTZ(3)")
    query = (
        "SELECT k, COUNT(*) FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' DAY))"
        " GROUP BY k, window_start, window_end"
    )
    write(Location.of(tmp_path / "query"), contract(query, tables=zoned, zone="Asia/Tokyo"))
    script = zoned.replace("{delay}", "").replace("{options}", "") + query

    def outcome(options: dict[str, str]) -> str:
        [found] = tidemark.Checkpoint(tmp_path).check(script, options=options)
        return found.outcome

    assert outcome({}) == "kept"
    assert outcome({"table.local-time-zone": "UTC"}) == "refused"


# --- on the command line -----------------------------------------------------------------------


def test_show_describes_the_contents_of_a_checkpoint(tmp_path: Path) -> None:
    terminal = plain_terminal()
    show_command(str(checkpoint(tmp_path)), CheckFormat.text, terminal)

    assert terminal.out.getvalue() == (
        "job\n"
        f"  written by   Tidemark {tidemark.__version__}, Spark 4.3.0\n"
        "  key groups   32 in 4 partitions\n"
        "  source       `default_catalog.default_database.a` (filesystem at /nowhere/a, unbounded)\n"
        "  source       `default_catalog.default_database.b` (filesystem at /nowhere/b, unbounded)\n"
        "  last batch   3\n"
        "  watermark    1970-01-01T00:00:03.500Z\n"
        "  operator     regular-join-1: 30 rows, 3,000 bytes, 2 of them waiting\n"
        "  state size as of batch 2\n"
    )


def test_show_as_json_is_what_python_gives(tmp_path: Path) -> None:
    terminal = plain_terminal()
    show_command(str(checkpoint(tmp_path)), CheckFormat.json, terminal)

    [job] = json.loads(terminal.out.getvalue())
    assert (job["last_batch"], job["operators"][0]["state_rows"]) == (3, 30)


def test_check_fails_where_state_would_be_lost(tmp_path: Path) -> None:
    terminal = plain_terminal()
    query = QUERY.replace("JOIN", "LEFT JOIN")
    sql = [DECLARED, "SET 'pipeline.name' = 'job';", query]

    with pytest.raises(Failed):
        check_command(str(checkpoint(tmp_path)), None, sql, None, [], CheckFormat.text, terminal)

    first, *others = terminal.out.getvalue().splitlines()
    assert first.startswith("refused  job regular-join-1: regular-join-1 differs in join from")
    assert [line.split(":")[0].strip() for line in others] == ["then", "now", "hint"]


def test_copy_says_what_it_has_copied(tmp_path: Path) -> None:
    terminal = plain_terminal()
    copy_command(str(checkpoint(tmp_path / "one")), str(tmp_path / "two"), terminal)

    assert terminal.err.getvalue() == "copied job job, batch 3\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["show", "{folder}"], 0),
        (["show", "{folder}/nowhere"], 1),
        (["show"], 2),
        (["check", "{folder}", "-e", "SELECT 1"], 1),
        (["copy", "{folder}", "{folder}"], 1),
    ],
)
def test_the_exit_code_says_how_it_went(tmp_path: Path, arguments: list[str], code: int) -> None:
    folder = checkpoint(tmp_path)

    assert invoke(["checkpoint", *(a.replace("{folder}", str(folder)) for a in arguments)]) == code
