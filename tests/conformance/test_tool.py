"""The conformance tool itself: files that survive rewriting, a comparison that can say no."""

from pathlib import Path

import pytest

from conformance.case import Case, Table
from conformance.case_file import case_text, read_case, write_case
from conformance.check import Answer, judge
from conformance.compare import differences, materialize
from conformance.flink_engine import split_statements
from conformance.script import write_script
from conformance.selftest import problems
from conformance.values import normal, same, split_fields
from tests.recorded import CASES


def a_case(**changed: object) -> Case:
    content: dict = {
        "path": Path("area/name.yaml"),
        "title": "a case",
        "area": "area",
        "tables": [],
        "query": "SELECT 1 AS x",
        "compare": "append",
        "expected": [{"x": 1}],
        "flink": {"schema": {"x": "INT"}},
    }
    return Case(**{**content, **changed})


def test_no_case_has_gone():
    assert len(CASES) >= 641


def test_every_case_is_recorded_and_laid_out_as_the_recorder_writes_it():
    assert [c.name for c in CASES if c.flink is None or case_text(c) != c.path.read_text()] == []


def test_comparison_accepts_recorded_results_and_rejects_damaged_ones():
    recorded = [case for case in CASES if case.flink and case.compare != "error"]
    assert {case.name: found for case in recorded if (found := list(problems(case)))} == {}


def test_written_case_reads_back_as_it_was(tmp_path: Path):
    path = tmp_path / "area" / "name.yaml"
    path.parent.mkdir()
    rows = [{"id": 1, "d": 1e-7, "s": "yes: 'no' #", "ts": "2024-01-01 00:00:00"}, {"id": None}]
    table = Table("t", "id INT,\nd DOUBLE\n", "json", rows, {"json.ignore-parse-errors": "true"})
    case = a_case(
        path=path,
        tables=[table],
        setup=["SET 'a' = 'b'"],
        query="SELECT 1 AS x\n",
        notes="one\ntwo\n",
        key=["x"],
    )

    write_case(case)

    assert read_case(path) == case


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("title: t\narea: area\ntables: []\nquery: q", "no `compare`"),
        ("title: t\narea: area\ntables: []\nquery: q\ncompare: roughly", "must be one of"),
        ("title: t\narea: other\ntables: []\nquery: q\ncompare: append", "folder"),
        ("title: t\narea: area\ntables: []\nquery: q\ncompare: append\ntypo: 1", "unknown `typo`"),
    ],
)
def test_file_that_is_no_case_is_refused(content: str, complaint: str, tmp_path: Path):
    path = tmp_path / "area" / "name.yaml"
    path.parent.mkdir()
    path.write_text(content)
    with pytest.raises(ValueError, match=complaint):
        read_case(path)


def test_settings_of_a_case_override_those_of_every_case():
    case = a_case(setup=["SET 'table.local-time-zone' = 'Asia/Shanghai';", "CREATE VIEW v AS x;"])
    assert case.settings["table.local-time-zone"] == "Asia/Shanghai"
    assert case.own_settings == {"table.local-time-zone": "Asia/Shanghai"}
    assert case.statements == ["CREATE VIEW v AS x"]


def test_script_holds_settings_tables_and_the_query_last(tmp_path: Path):
    table = Table("t", "a INT, b BOOLEAN", "csv", [[1, True], [None, False]])
    script = write_script(a_case(tables=[table], query="SELECT * FROM t;"), tmp_path)

    statements = list(split_statements(script.read_text()))

    assert statements[0].startswith("SET 'parallelism.default' = '1'")
    assert statements[-2].startswith("CREATE TABLE `t` (")
    assert statements[-1] == "SELECT * FROM t"
    assert (tmp_path / "t.csv").read_text() == "1,true\n,false\n"


def test_arrival_becomes_one_file_per_record(tmp_path: Path):
    a, b = (
        Table("a", "x INT", "json", [{"x": 1}, {"x": 2}]),
        Table("b", "x INT", "json", [{"x": 3}]),
    )
    write_script(a_case(tables=[a, b], arrival=["a", "b", "a"]), tmp_path)

    steps = {path.name: path.read_text() for path in sorted((tmp_path / "steps").iterdir())}

    assert list(steps) == ["0000.a.json", "0001.b.json", "0002.a.json"]
    assert steps["0002.a.json"] == '{"x": 2}\n'


def test_semicolons_in_quotes_and_comments_do_not_end_statements():
    text = "SELECT ';' -- a; comment\n, `a;b`; SELECT 2"
    assert list(split_statements(text)) == ["SELECT ';' \n, `a;b`", "SELECT 2"]


@pytest.mark.parametrize(
    ("type_", "given", "recorded"),
    [
        ("TIMESTAMP(3)", "2024-01-01T10:00", "2024-01-01 10:00:00.000"),
        ("TIMESTAMP_LTZ(3)", "2024-01-01 10:00:00.5Z", "2024-01-01 10:00:00.500"),
        ("TIME(0) NOT NULL", "10:00", "10:00:00"),
        ("BIGINT", 3.0, 3),
        ("INT", True, "boolean True"),
        ("ARRAY<TIMESTAMP(3)>", ["2024-01-01"], ["2024-01-01 00:00:00.000"]),
        ("MAP<STRING, INT>", [["a", 1.0]], {"a": 1}),
        ("ROW<`a,b` INT, `c` ROW<`d` DATE>>", [1, ["2024-01-01 00:00"]], {"a,b": 1, "c": {"d": "2024-01-01"}}),
    ],
)  # fmt: skip
def test_value_takes_its_recorded_form(type_: str, given: object, recorded: object):
    assert normal(given, type_) == recorded


def test_decimals_keep_value_and_doubles_have_a_tolerance():
    assert normal("1.50", "DECIMAL(5, 2)") == normal("1.5", "DECIMAL(5, 2)")
    assert same(0.1 + 0.2, 0.3)
    assert same(float("nan"), float("nan"))
    assert not same(1.0, True)
    assert not same(1.0, 1.001)


def test_fields_of_a_nested_type_are_split_at_the_outer_commas():
    assert split_fields("MAP<DECIMAL(5, 2), ROW<`x` INT, `y` INT>>") == [
        "DECIMAL(5, 2)",
        "ROW<`x` INT, `y` INT>",
    ]


def test_upsert_replaces_the_row_of_its_key():
    changes = [("+I", {"k": 1, "v": 1}), ("+U", {"k": 1, "v": 2})]
    assert materialize(changes, key=["k"]) == ([{"k": 1, "v": 2}], [])


def test_delete_of_an_absent_row_is_a_problem():
    assert materialize([("-D", {"k": 1})])[1] == ['-D of a row that is not there: {"k": 1}']


def test_changelogs_are_compared_key_by_key():
    one, two = {"k": 1, "x": 1}, {"k": 2, "x": 1}
    case = a_case(
        compare="changelog",
        key=["k"],
        expected=[{"op": "+I", "row": one}, {"op": "+I", "row": two}],
        flink={"schema": {"k": "INT", "x": "INT"}},
    )
    assert differences(case, [("+I", two), ("+I", one)]) == []
    assert "step 0" in differences(case, [("+U", two), ("+I", one)])[1]


def test_columns_must_be_the_recorded_ones():
    assert differences(a_case(), [("+I", {"y": 1})]) == ["columns are ['y'], expected ['x']"]


def test_command_that_accepts_what_flink_rejects_is_wrong():
    case = a_case(compare="error", error="no such column", error_mentions=["nosuch"])
    assert judge(case, Answer(0, '{"op": "+I", "row": {}}'))[0].startswith("expected an error")
    assert judge(case, Answer(1, "", "column nosuch is not there")) == []
    assert judge(case, Answer(0, '{"error": "bad"}')) == ["the error does not mention /nosuch/"]
