"""COMPILE PLAN and EXECUTE PLAN, with the local engine."""

import json
import stat

import pytest

import tidemark
from tests.plan.marked import remarked, unmarked
from tidemark.errors import CatalogError, ParseError, SqlError
from tidemark.session.workspace import Workspace

TABLES = """
CREATE TABLE src (id INT, name STRING) WITH ('connector' = 'filesystem', 'path' = '{0}/src.json', 'format' = 'json');
CREATE TABLE sink (id INT, name STRING) WITH ('connector' = 'filesystem', 'path' = '{0}/out', 'format' = 'json');
"""
# What version 0.1 wrote. Every later version must run it.
FORMAT_1 = {
    "format": 1,
    "tidemark": "0.1.0",
    "statement": "INSERT INTO sink\nSELECT *\nFROM big",
    "path": ["mine", "db"],
    "objects": [
        {
            "path": ["default_catalog", "default_database"],
            "statement": "CREATE CATALOG IF NOT EXISTS mine WITH ('type' = 'generic_in_memory')",
        },
        {
            "path": ["default_catalog", "default_database"],
            "statement": "CREATE DATABASE IF NOT EXISTS mine.db",
        },
        {"path": ["mine", "db"], "statement": "CREATE TABLE mine.db.sink (id INT) WITH SINK"},
        {"path": ["mine", "db"], "statement": "CREATE VIEW mine.db.big AS SELECT 7 AS id"},
    ],
    "temporal_functions": [],
    "options": {"table.exec.state.ttl": "1 h"},
}


@pytest.fixture
def session(tmp_path):
    rows = [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]
    (tmp_path / "src.json").write_text("\n".join(map(json.dumps, rows)))
    with tidemark.connect(engine="local") as session:
        session.sql("SET 'table.dml-sync' = 'true'")
        session.sql(TABLES.format(tmp_path))
        yield session


def written(tmp_path) -> list[dict]:
    files = [file for file in (tmp_path / "out").rglob("*") if file.is_file()]
    lines = [line for file in files for line in file.read_text().splitlines()]
    return sorted(map(json.loads, lines), key=lambda row: row["id"])


def test_plan_runs_without_the_objects_it_was_compiled_with(session, tmp_path):
    plan = tmp_path / "plans" / "p.json"
    session.sql(
        f"""
        CREATE DATABASE d; USE d;
        CREATE VIEW inner_view AS SELECT id + 1 AS id, name FROM default_database.src;
        USE default_database;
        CREATE VIEW big AS SELECT * FROM d.inner_view WHERE id > 2;
        COMPILE PLAN '{plan}' FOR INSERT INTO sink SELECT id, UPPER(name) FROM big
        """
    )
    assert written(tmp_path) == []
    with tidemark.connect(engine="local", options={"table.dml-sync": "true"}) as other:
        other.sql(f"EXECUTE PLAN '{plan}'")
        assert other.workspace.catalogs.relation_names() == []
    assert written(tmp_path) == [{"id": 3, "name": "B"}]


def test_plan_keeps_the_options_it_was_compiled_with(session, tmp_path):
    plan = tmp_path / "p.json"
    session.sql(
        f"""
        SET 'table.local-time-zone' = 'Asia/Tokyo';
        SET 'pipeline.name' = 'mine';
        COMPILE PLAN '{plan}' FOR INSERT INTO sink SELECT id, CAST(TO_TIMESTAMP_LTZ(0, 3) AS STRING) FROM src
        """
    )
    assert json.loads(plan.read_text())["options"] == {"table.local-time-zone": "Asia/Tokyo"}
    session.sql("SET 'table.local-time-zone' = 'UTC'")
    session.sql(f"EXECUTE PLAN '{plan}'")
    assert written(tmp_path)[0]["name"].startswith("1970-01-01 09:00:00")
    assert session.workspace.options.get("table.local-time-zone") == "UTC"


def test_statement_set_is_compiled_and_executed(session, tmp_path):
    plan = tmp_path / "p.json"
    statement = f"""
    COMPILE AND EXECUTE PLAN '{plan}' FOR STATEMENT SET BEGIN
    INSERT INTO sink SELECT * FROM src; INSERT INTO sink SELECT 9, 'c'; END
    """
    session.sql(statement)
    assert [row["id"] for row in written(tmp_path)] == [1, 2, 9]
    # A plan that exists is executed as it is, as in Flink.
    session.sql(statement.replace("SELECT 9", "SELECT 10"))
    assert [row["id"] for row in written(tmp_path)] == [1, 1, 2, 2, 9, 9]


def test_existing_plan_is_replaced_only_if_that_is_asked_for(session, tmp_path):
    plan = tmp_path / "p.json"
    compile_ = f"COMPILE PLAN '{plan}' FOR INSERT INTO sink SELECT id, name FROM src"
    session.sql(compile_)
    assert stat.S_IMODE(plan.stat().st_mode) == 0o600
    before = plan.read_text()
    with pytest.raises(CatalogError, match="already exists"):
        session.sql(compile_)
    session.sql(compile_.replace("FOR", "IF NOT EXISTS FOR").replace("id,", "1,"))
    assert plan.read_text() == before
    session.sql("SET 'table.plan.force-recompile' = 'true'")
    session.sql(compile_.replace("id,", "1,"))
    assert plan.read_text() != before


def test_plan_of_format_1_runs(tmp_path):
    sink = f"('connector' = 'filesystem', 'path' = '{tmp_path}/out', 'format' = 'json')"
    plan = tmp_path / "p.json"
    plan.write_text(json.dumps(FORMAT_1).replace("SINK", sink))
    with tidemark.connect(engine="local", options={"table.dml-sync": "true"}) as session:
        session.sql(f"EXECUTE PLAN '{plan}'")
    assert written(tmp_path) == [{"id": 7}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no plan"),
        ("{", "is not a plan of Tidemark"),
        ("[]", "is not a plan of Tidemark"),
        ('{"flinkVersion": "2.3", "nodes": []}', "is not a plan of Tidemark"),
        ('{"format": 1}', "is not a plan of Tidemark"),
        ('{"format": 99, "tidemark": "9.0"}', "has format 99"),
    ],
)
def test_plan_that_cannot_be_read_is_refused_at_its_statement(content, message, tmp_path):
    plan = tmp_path / "p.json"
    if content is not None:
        plan.write_text(content)
    with pytest.raises(CatalogError, match=message) as caught:
        Workspace().plan_script(f"EXECUTE PLAN '{plan}'")
    assert remarked(caught.value) == f"«EXECUTE PLAN '{plan}'»"
    assert caught.value.hint is not None


def test_functions_that_are_mentioned_are_stored_by_the_names_of_their_code(session, tmp_path):
    plan = tmp_path / "p.json"
    session.sql("CREATE FUNCTION unused AS 'm.f' LANGUAGE PYTHON")
    session.sql(
        "CREATE TEMPORARY SYSTEM FUNCTION title AS 'tests.local.titles.title' LANGUAGE PYTHON"
    )
    session.sql(f"COMPILE PLAN '{plan}' FOR INSERT INTO sink SELECT id, title(name) FROM src")
    stored = [created["statement"] for created in json.loads(plan.read_text())["objects"]]
    [function] = [statement for statement in stored if "FUNCTION" in statement]
    assert function == (
        "CREATE TEMPORARY SYSTEM FUNCTION title AS 'tests.local.titles.title' LANGUAGE PYTHON"
    )
    session.sql("DROP TEMPORARY SYSTEM FUNCTION title")
    session.sql(f"EXECUTE PLAN '{plan}'")
    assert [row["name"] for row in written(tmp_path)] == ["Ms. a", "Ms. b"]


def test_function_of_the_session_only_is_refused(session, tmp_path):
    session.create_function("shout", lambda s: s + "!", parameters=["STRING"], returns="STRING")
    with pytest.raises(CatalogError, match="exists only in this session"):
        session.sql(
            f"COMPILE PLAN '{tmp_path}/p' FOR INSERT INTO sink SELECT id, shout(name) FROM src"
        )


def test_check_does_not_write(session, tmp_path):
    plan = tmp_path / "p.json"
    script = f"COMPILE PLAN '{plan}' FOR INSERT INTO sink SELECT * FROM src; EXECUTE PLAN '{plan}'"
    compiled, executed = session.workspace.plan_script(script)
    assert not plan.exists()
    assert compiled.plan is None and executed.plan is not None


@pytest.mark.parametrize(
    ("marked", "kind"),
    [
        ("COMPILE PLAN 'p' FOR «SELECT» 1", ParseError),
        ("COMPILE PLAN «FOR» INSERT INTO t SELECT 1", ParseError),
        ("COMPILE PLAN 'p' FOR INSERT INTO «nope» SELECT 1", SqlError),
    ],
)
def test_wrong_statements_are_refused_at_their_place(marked, kind):
    with pytest.raises(kind) as caught:
        Workspace().plan_script(unmarked(marked))
    assert remarked(caught.value) == marked
