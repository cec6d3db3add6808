"""Random scripts: the same seed makes the same ones, and they are SQL that can be planned."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from conformance.case import Case, Table
from conformance.case_file import case_text, load_cases
from conformance.generate.clocks import Clock
from conformance.generate.consistency import contradictions
from conformance.generate.contrast import compared
from conformance.generate.engines import tidemark_on
from conformance.generate.scripts import generate
from tidemark.dialect import parse_script

SOME = 60


def text(case: Case) -> str:
    return " ".join([*case.setup, case.query])


def texts(cases: list[Case]) -> list[str]:
    return [case_text(case) for case in cases]


def test_same_seed_makes_the_same_scripts(tmp_path: Path):
    first = texts(generate(7, SOME, tmp_path / "a"))

    assert texts(generate(7, SOME, tmp_path / "b")) == first
    assert texts(generate(7, 5, tmp_path / "c")) == first[:5]
    assert texts(generate(8, SOME, tmp_path / "d")) != first


def test_scripts_are_cases_that_can_be_read_and_parsed(tmp_path: Path):
    written = generate(1, SOME, tmp_path)
    read = load_cases(root=tmp_path)

    assert texts(read) == texts(written)
    for case in read:
        parse_script(";\n".join([*case.setup, case.query]), case.path.stem)


def test_scripts_name_all_their_tables_and_views(tmp_path: Path):
    for case in generate(2, SOME, tmp_path):
        assert all(table.name in text(case) for table in case.tables)
        views = [statement for statement in case.setup if statement.startswith("CREATE VIEW")]
        assert all(text(case).count(view.split()[2]) > 1 for view in views)


def test_scripts_name_their_time_zone_where_times_are_instants(tmp_path: Path):
    zoned = [case for case in generate(4, SOME, tmp_path) if "table.local-time-zone" in text(case)]

    assert zoned
    assert any(
        "TO_TIMESTAMP_LTZ(ms, 3)" in table.columns for case in zoned for table in case.tables
    )


def test_clocks_show_the_time_of_their_zone():
    clock = Clock("HOUR", datetime(2024, 3, 31, tzinfo=UTC), "Europe/Berlin")

    assert [clock.local(time) for time in (0, 1)] == ["2024-03-31 01:00:00", "2024-03-31 03:00:00"]
    assert clock.milliseconds(1) - clock.milliseconds(0) == 3_600_000


def test_scripts_read_the_tables_that_they_fill(tmp_path: Path):
    filling = [case for case in generate(5, SOME, tmp_path) if "STATEMENT SET" in text(case)]

    assert filling
    for case in filling:
        sinks = [table.name for table in case.tables if table.filled]
        assert all(f"INSERT INTO {name} " in text(case) for name in sinks)
        assert all(f"FROM {name}" in case.query for name in sinks)


def test_filled_tables_replace_rows_by_their_key(tmp_path: Path):
    case = Case(
        path=tmp_path / "generated" / "filled.yaml",
        title="rows by key",
        area="generated",
        tables=[
            Table("t", "k STRING, n INT", "json", [{"k": "a", "n": 1}, {"k": "a", "n": 2}]),
            Table(
                "s",
                "k STRING NOT NULL, total BIGINT, PRIMARY KEY (k) NOT ENFORCED",
                "json",
                [],
                filled="k VARCHAR(10) NOT NULL, total BIGINT, PRIMARY KEY (k)",
            ),
        ],
        setup=[
            "SET 'table.dml-sync' = 'true'",
            "EXECUTE STATEMENT SET BEGIN INSERT INTO s SELECT k, SUM(n) FROM t GROUP BY k; END",
        ],
        query="SELECT k, total FROM s",
        compare="materialized",
    )

    assert tidemark_on(engine="local")(case)["changes"] == [["+I", {"k": "a", "total": 3}]]


def test_answers_agree_with_themselves_whatever_is_written_around_them(tmp_path: Path):
    run = tidemark_on(engine="local")

    assert [found for case in generate(3, 4, tmp_path) for found in contradictions(case, run)] == []


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ({"error": "no"}, {"error": "no, too"}, "both refuse"),
        ({"error": "no"}, {"schema": {"x": "INT"}, "changes": []}, "first refuses"),
        ({"schema": {"x": "INT"}, "changes": []}, {"error": "no"}, "second refuses"),
        ({"schema": {"x": "INT"}, "changes": []}, {"crash": "Traceback"}, "crash"),
        (
            {"schema": {"x": "INT"}, "changes": [["+I", {"x": 1}]]},
            {"schema": {"x": "INT"}, "changes": [["+I", {"x": 2}]]},
            "rows",
        ),
        (
            {"schema": {"x": "INT"}, "changes": [["+I", {"x": 1}]]},
            {"schema": {"x": "INT NOT NULL"}, "changes": [["+I", {"x": 1}]]},
            "types",
        ),
        (
            {"schema": {"x": "INT"}, "changes": [["+I", {"x": 1}], ["+U", {"x": 2}]]},
            {"schema": {"x": "INT"}, "changes": [["+I", {"x": 2}]]},
            "upserts",
        ),
        (
            {"schema": {"x": "INT"}, "changes": [["+I", {"x": 1}], ["-D", {"x": 1}]]},
            {"schema": {"x": "INT"}, "changes": []},
            "same",
        ),
    ],
)
def test_two_answers_are_compared(one: dict, other: dict, kind: str, tmp_path: Path):
    case = generate(1, 1, tmp_path)[0]

    assert compared(case, one, other)[0] == kind
