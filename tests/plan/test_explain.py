"""EXPLAIN: a plan to read, to look at, and to process.

The expected texts are in `explained/`, beside the script; `python -m tests.plan.test_explain`
writes them anew.
"""

import json
from pathlib import Path

import pytest

from tests.plan.marked import plan, refused, workspace, world
from tidemark.physical.explain import explain

FOLDER = Path(__file__).parent / "explained"
SUFFIXES = {"text": ".txt", "mermaid": ".mmd", "json": ".json"}


def explained(script: Path, form: str) -> str:
    return explain(plan(script.read_text(encoding="utf-8"), workspace()), form) + "\n"


@pytest.mark.parametrize("form", SUFFIXES)
@pytest.mark.parametrize("script", sorted(FOLDER.glob("*.sql")), ids=lambda path: path.stem)
def test_plan_reads_as_it_did(script, form):
    expected = script.with_suffix(SUFFIXES[form]).read_text(encoding="utf-8")
    assert explained(script, form) == expected


def result(sql: str, at=None) -> str:
    [planned] = (at or world()).plan_script(sql)
    [[text]] = planned.result.rows
    return text


def test_explain_is_a_statement():
    assert result("EXPLAIN SELECT a FROM u") == result("EXPLAIN PLAN FOR SELECT a FROM u")
    assert result("EXPLAIN SELECT a FROM u").startswith("== Logical plan ==\nProject(select=[a])")


def test_changelog_mode_names_the_kinds_of_changes_as_flink_does():
    text = result("EXPLAIN CHANGELOG_MODE SELECT id FROM cdc")
    assert "Project(select=[id], changelogMode=[I,UB,UA,D])" in text
    assert "changelogMode=[I]" in result("EXPLAIN CHANGELOG_MODE SELECT a FROM u")


def test_json_execution_plan_is_json():
    tree = json.loads(result("EXPLAIN JSON_EXECUTION_PLAN SELECT a FROM u"))
    assert tree["mode"] == "streaming"
    assert tree["roots"][0]["columns"] == [{"name": "a", "type": "INT", "time_attribute": None}]


def test_plan_advice_says_what_could_be_better():
    assert result("EXPLAIN PLAN_ADVICE SELECT a FROM u").endswith("== Advice ==\nno advice")
    at = world(
        "CREATE TABLE w (ts TIMESTAMP(6), WATERMARK FOR ts AS ts) WITH ('connector' = 'fake')"
    )
    assert "== Warnings ==\n- event time `ts`" in result("EXPLAIN PLAN_ADVICE SELECT * FROM w", at)


def test_statement_set_shows_every_sink():
    text = result(
        "EXPLAIN EXECUTE STATEMENT SET BEGIN INSERT INTO sink SELECT 1, 'a'; INSERT INTO sink SELECT 2, 'b'; END"
    )
    assert text.count("Sink(table=[default_catalog.default_database.sink]") == 2


def test_what_cannot_be_planned_cannot_be_explained():
    refused("EXPLAIN SELECT «nope» FROM u")


NASTY = """SELECT a AS `x"]<b>#1`, 'li"ne
break' AS s FROM u WHERE a > 1 AND 'a' <> '`]-->#lt;'"""


def test_nodes_stay_on_their_lines_whatever_the_strings_contain():
    lines = explain(plan(NASTY)).splitlines()
    assert any("'li\"ne\\nbreak' AS s" in line for line in lines)


def test_pictures_escape_what_their_language_means_something_by():
    lines = explain(plan(NASTY), "mermaid").splitlines()
    assert all(line.endswith('"]') or line.split("|")[-1].startswith(" n") for line in lines[1:])
    assert not any(
        c in line.replace("<b>", "").replace("</b>", "").replace("<br/>", "").replace("-->", "")
        for line in lines
        for c in "<>"
    )


if __name__ == "__main__":
    for path in FOLDER.glob("*.sql"):
        for name, suffix in SUFFIXES.items():
            path.with_suffix(suffix).write_text(explained(path, name), encoding="utf-8")
