"""`tidemark check`: all problems of a script, each at its place, and what follows from them not."""

from __future__ import annotations

import json
import sys

import pytest

from tests.cli.fakes import colored_terminal, plain_terminal
from tidemark.cli import main
from tidemark.cli.check import Findings, check, show_as_json, show_as_text
from tidemark.errors import Source
from tidemark.session.workspace import Workspace

ORDERS = "CREATE TABLE orders (id INT, name STRING) WITH ('connector' = 'datagen');\n"
SINK = "CREATE TABLE sink (id INT) WITH ('connector' = 'print');\n"


def checked(text: str, init: str = "") -> Findings:
    first = [Source(init, "init.sql")] if init else []
    return check(first, [Source(text, "script.sql")], Workspace())


def places(findings: Findings) -> list[str]:
    return [error.render().split("  ")[0] for error in findings.errors]


def test_a_good_script_counts_its_statements_and_jobs():
    findings = checked(ORDERS + SINK + "INSERT INTO sink SELECT id FROM orders; SELECT 1;")
    terminal = plain_terminal()

    show_as_text(findings, terminal)

    assert terminal.out.getvalue() == "ok: 4 statements, 1 job\n"


def test_each_insert_of_a_statement_set_is_a_job():
    body = "INSERT INTO sink SELECT 1; INSERT INTO sink SELECT 2;"

    assert checked(f"{SINK} BEGIN STATEMENT SET; {body} END;").jobs == 2


def test_all_errors_are_found_in_one_go():
    findings = checked(ORDERS + "SELECT a FROM orders;\nSELECT id FROM nowhere;\nSELECT 1;")

    assert places(findings) == ["script.sql:2:8", "script.sql:3:16"]
    assert findings.statements == 4


def test_a_syntax_error_does_not_hide_the_statements_after_it():
    findings = checked("SELECT FROM;\n" + ORDERS + "SELECT ';', /* ; */ a FROM orders;")

    assert places(findings) == ["script.sql:1:8", "script.sql:3:21"]


def test_the_caret_is_below_the_wrong_word_in_the_whole_line():
    findings = checked("SELECT 1; SELECT FROM;")

    assert findings.errors[0].render().splitlines()[1:3] == [
        "  1 | SELECT 1; SELECT FROM;",
        "                       ^^^^",
    ]


@pytest.mark.parametrize(
    "broken",
    [
        "CREATE TABEL t (id INT) WITH ('connector' = 'datagen');",
        "CREATE TABLE t (id INTT) WITH ('connector' = 'datagen');",
        "CREATE VIEW t AS SELECT nope FROM (VALUES (1)) AS v(x);",
    ],
)
def test_what_follows_from_a_failed_declaration_is_not_reported_again(broken):
    findings = checked(f"{broken}\nSELECT * FROM t;\nSELECT id FROM t;")

    assert [place.split(":")[1] for place in places(findings)] == ["1"]
    assert findings.consequences == 2


def test_keys_of_set_that_nothing_knows_are_warned_about():
    findings = checked("SET 'parallelism.default' = '4'; SET 'some.key' = '1'; SELECT 1;")

    [warned] = findings.warnings
    assert warned.message == "'some.key' is not an option that Tidemark knows, and has no effect"
    assert warned.source.text[warned.at.start : warned.at.end] == "'some.key' = '1'"


def test_a_catalog_that_is_not_reached_is_an_error_at_its_statement():
    findings = checked(
        "CREATE CATALOG c WITH ('type' = 'jdbc', 'default-database' = 'd', 'username' = 'u', "
        "'property-version' = '1', "
        "'password' = 'p', 'base-url' = 'jdbc:postgresql://localhost:1');\n"
        "USE CATALOG c;\nSELECT nope;"
    )

    assert places(findings) == ["script.sql:1:1", "script.sql:3:8"]
    assert "cannot connect" in findings.errors[0].message
    assert findings.consequences == 1


def test_jars_have_no_effect():
    findings = checked("ADD JAR '/opt/flink/lib/flink-sql-connector-kafka.jar';\nSELECT 1;")

    [warned] = findings.warnings
    assert findings.ok and warned.message.startswith("ADD JAR has no effect")


def test_a_second_declaration_of_a_name_is_an_error():
    findings = checked(ORDERS + ORDERS + "SELECT id FROM orders;")

    assert places(findings) == ["script.sql:2:14"]
    assert findings.consequences == 0


def test_tables_of_a_catalog_that_failed_need_no_connector():
    findings = checked(
        "CREATE CATALOG lake WITH ('type' = 'nowhere');\nUSE CATALOG lake;\n"
        "CREATE TABLE t (id INT);\nSELECT * FROM t;\nSELECT * FROM lake.db.t;"
    )

    assert places(findings) == ["script.sql:1:27"]
    assert findings.consequences == 3


def test_a_table_whose_connector_is_refused_can_be_looked_up():
    findings = checked(
        "CREATE TABLE o (id INT, p AS PROCTIME()) WITH ('connector' = 'datagen');\n"
        "CREATE TABLE d (id INT) WITH ('connector' = 'hbase-2.2');\n"
        "SELECT * FROM o JOIN d FOR SYSTEM_TIME AS OF o.p ON o.id = d.id;"
    )

    assert [error.message for error in findings.errors] == [
        "connector 'hbase-2.2' is not supported"
    ]


def test_errors_without_a_place_point_at_the_name_of_the_table():
    findings = checked(
        "CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'kafka', "
        "'topic' = 'x', 'properties.bootstrap.servers' = 'x:1', 'format' = 'json');\n"
        "SELECT * FROM t;"
    )

    assert places(findings) == ["script.sql:1:14"]


def test_one_wrong_option_is_one_error_however_often_the_table_is_used():
    table = "CREATE TABLE t (id INT) WITH ('connector' = 'datagen', 'no-such' = '1');\n"

    findings = checked(table + "SELECT id FROM t; SELECT id FROM t;")

    assert places(findings) == ["script.sql:1:56"]
    assert findings.warnings == []


def test_a_table_that_nothing_uses_is_only_warned_about():
    findings = checked("CREATE TABLE t (id INT) WITH ('connector' = 'oracle-cdc');")
    terminal = plain_terminal()

    show_as_text(findings, terminal)

    assert findings.ok
    assert "script.sql:1:31  warning: connector 'oracle-cdc'" in terminal.err.getvalue()


PLANNED = "CREATE TABLE k (id INT, ts TIMESTAMP(3)) WITH ('connector' = 'oracle-cdc');\n"


@pytest.mark.parametrize(
    "use",
    [
        "SELECT id FROM k;",
        "SELECT id FROM nowhere JOIN k ON TRUE;",
        "INSERT INTO k SELECT nope FROM orders;",
        "INSERT INTO sink SELECT nope FROM k;",
        "EXPLAIN SELECT nope FROM k;",
        "CREATE VIEW v AS SELECT id FROM k;",
        "CREATE VIEW v AS SELECT nope FROM k;",
        "SELECT FROM k WHERE;",
        "WITH w AS (SELECT nope FROM k) SELECT * FROM w;",
    ],
)
def test_a_connector_that_is_not_there_is_an_error_for_whatever_names_its_table(use):
    findings = checked(ORDERS + SINK + PLANNED + use)

    assert "script.sql:3:48" in places(findings)
    assert findings.warnings == []


def test_a_name_that_with_defines_is_not_the_table_of_that_name():
    findings = checked(PLANNED + "WITH k AS (SELECT 1 AS id) SELECT id FROM k;")

    assert findings.ok
    assert len(findings.warnings) == 1


@pytest.mark.parametrize("connector", ["oracle-cdc", "myslq-cdc", "filesystem"])
def test_all_else_that_is_wrong_is_found_although_the_connector_is(connector):
    findings = checked(
        f"CREATE TABLE t (id INT, k STRING METADATA) WITH ('connector' = '{connector}');\n"
        "SELECT id, k FROM t;\nSELECT nope FROM t;\nINSERT INTO t (id) SELECT 'one';\n"
        "SELECT id FROM t WHERE id;"
    )

    assert [place.split(":")[1] for place in places(findings)] == ["1", "3", "4", "5"]


def test_a_batch_is_checked_although_its_connector_is_not_there():
    findings = checked("SET 'execution.runtime-mode' = 'batch';\n" + PLANNED + "SELECT id FROM k;")

    assert [error.message for error in findings.errors] == [
        "connector 'oracle-cdc' is not supported yet"
    ]


def test_each_part_of_a_statement_set_is_looked_at():
    body = "INSERT INTO sink SELECT a FROM orders;\nINSERT INTO sink SELECT id FROM orders;\n"

    findings = checked(
        f"{ORDERS}{SINK}BEGIN STATEMENT SET;\n{body}INSERT INTO sink SELECT b;\nEND;"
    )

    assert [place.split(":")[1] for place in places(findings)] == ["4", "6"]


@pytest.mark.parametrize(
    "refused",
    [
        "CREATE FUNCTION shout AS 'a.B' LANGUAGE JAVA;",
        "CREATE FUNCTION shout AS 'a.b' LANGUAGE PYTHON USING ARCHIVE 'x';",
    ],
)
def test_calls_of_a_function_that_was_refused_are_not_reported_again(refused):
    findings = checked(f"{refused}\nSELECT Shout('a'), 1;\nSELECT whisper('a');")

    assert [place.split(":")[1] for place in places(findings)] == ["1", "3"]
    assert findings.consequences == 1


@pytest.fixture
def script(tmp_path, monkeypatch):
    """A script in a folder of its own, next to Python modules."""
    folder = tmp_path / "scripts"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    yield folder / "script.sql"
    for name in [name for name in sys.modules if name.startswith("its_")]:
        del sys.modules[name]


def check_of(script, identifier: str, capsys) -> str:
    script.write_text(f"CREATE FUNCTION f AS '{identifier}' LANGUAGE PYTHON;\nSELECT f('a') AS a;")
    code = main(["check", str(script)])
    printed = capsys.readouterr()
    assert code == (0 if not printed.err else 1)
    return printed.err


@pytest.mark.parametrize("place", ["script", "working"])
def test_functions_may_be_in_modules_next_to_the_script_or_in_the_working_folder(
    script, tmp_path, place, capsys
):
    folder = script.parent if place == "script" else tmp_path
    (folder / "its_functions.py").write_text("def f(text: str) -> str:\n    return text\n")

    assert check_of(script, "its_functions.f", capsys) == ""


def test_a_missing_module_is_distinguished_from_one_that_fails(script, capsys):
    (script.parent / "its_broken.py").write_text("import its_lost\n")
    (script.parent / "its_wrong.py").write_text("LIMIT = 1\nRATE = LIMIT / 0\n")

    absent = check_of(script, "its_nowhere.f", capsys)
    lacking = check_of(script, "its_broken.f", capsys)
    failing = check_of(script, "its_wrong.f", capsys)

    assert "there is no module `its_nowhere`" in absent
    assert "put its_nowhere.py beside the script" in absent
    assert "importing `its_broken` fails" in lacking
    assert "install `its_lost`" in lacking
    assert "its_broken.py:1" in lacking
    assert "importing `its_wrong` fails with ZeroDivisionError" in failing
    assert "its_wrong.py:2" in failing


def test_a_module_without_the_function_names_the_nearest_one(script, capsys):
    (script.parent / "its_functions.py").write_text(
        "def shout(text: str) -> str:\n    return text\n"
    )

    assert "did you mean" in check_of(script, "its_functions.shoot", capsys).lower()


def test_an_unclosed_string_is_one_error():
    assert places(checked("SELECT 1;\nSELECT 'never closed; SELECT 2;")) == ["script.sql:2:8"]


def test_declarations_of_an_init_script_are_known():
    assert checked("SELECT id FROM orders", init=ORDERS).ok


def test_the_total_says_how_much_follows():
    terminal = plain_terminal()

    show_as_text(checked("CREATE TABEL t (id INT);\nSELECT * FROM t;"), terminal)

    assert terminal.out.getvalue() == ""
    assert terminal.err.getvalue().endswith("\n1 error (plus 1 follow-up error)\n")


def test_json_has_places_that_an_editor_can_use():
    terminal = plain_terminal()

    show_as_json(checked("SELECT 1;\nSELECT id FROM nowhere;"), terminal)

    report = json.loads(terminal.out.getvalue())
    assert report["ok"] is False
    assert report["statements"] == 2
    [problem] = report["problems"]
    assert problem["severity"] == "error"
    assert problem["file"] == "script.sql"
    assert (problem["line"], problem["column"]) == (2, 16)
    assert (problem["end_line"], problem["end_column"]) == (2, 23)


def test_locations_are_highlighted_on_a_screen_only():
    findings = checked("SELECT id FROM nowhere")
    screen, file = colored_terminal(), plain_terminal()

    show_as_text(findings, screen)
    show_as_text(findings, file)

    assert "\x1b[1mscript.sql:1:16\x1b[0m" in screen.err.getvalue()
    assert "\x1b[31m^^^^^^^\x1b[0m" in screen.err.getvalue()
    assert "\x1b" not in file.err.getvalue()
