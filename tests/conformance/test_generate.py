"""Random scripts: the same seed makes the same ones, and they are SQL that can be planned."""

from pathlib import Path

import pytest

from conformance.case import Case, load_cases
from conformance.case_file import case_text
from conformance.generate.consistency import contradictions
from conformance.generate.contrast import compared
from conformance.generate.engines import tidemark_on
from conformance.generate.scripts import generate
from tidemark.dialect import parse_script

SOME = 60


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
        text = " ".join([*case.setup, case.query])
        assert all(table.name in text for table in case.tables)
        assert all(text.count(view.split()[2]) > 1 for view in case.setup)


def test_answers_agree_with_themselves_whatever_is_written_around_them(tmp_path: Path):
    run = tidemark_on(engine="local")

    assert [found for case in generate(3, 8, tmp_path) for found in contradictions(case, run)] == []


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
