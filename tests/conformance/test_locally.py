"""Recorded cases run without Spark, and compared with what real Flink answered.

Those whose tables deliver their rows in a fixed order across each other stay with Spark. But the
rows that their changelogs leave hardly ever depend on that order.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import tidemark
from conformance.case import Case, Change
from conformance.check import unmentioned
from conformance.compare import differences, materialize
from conformance.script import write_script
from tests.conformance import not_yet
from tests.recorded import CASES as ALL
from tidemark.errors import NeedsSpark, NotSupported, TidemarkError
from tidemark.rows import json_row


def runs_locally(case: Case) -> bool:
    """Whether it is tried here."""
    answered = bool(case.flink) and not not_yet.feature_missing_for(case)
    return answered and not case.arrival and case.name not in not_yet.DIFFERENT


CASES = [case for case in ALL if runs_locally(case)]
# Rows that are deleted before they are there, and two rows of one declared key.
ORDER_MATTERS = {
    "sequenced/join_delete_of_nothing_full",
    "sequenced/join_delete_of_nothing_inner",
    "sequenced/join_key_repeated",
}
IN_ORDER = [
    case
    for case in ALL
    if case.flink and case.arrival and case.compare == "changelog"
    if case.name not in ORDER_MATTERS
]


# Some of their functions are Spark's alone, so they run only there.
NEED_SPARK = {
    "functions/encoding_charsets",
    "functions/instr_occurrence",
    "functions/numeric_random",
    "functions/numeric_rounding",
    "functions/numeric_trigonometry",
    "functions/regexp_column_patterns",
    "functions/regexp_extract",
    "functions/regexp_search",
    "functions/string_chr_printf",
    "functions/string_replace",
    "functions/string_split_index",
    "functions/string_str_to_map",
    "functions/temporal_convert_tz",
    "functions/temporal_format",
    "types/try_cast",
}


# Their VARCHAR(2000) is a STRING.
OTHER_TYPES = {"aggregate/json_object_keys", "subquery/scalar_json_array"}


def changes_of(case: Case, folder: Path) -> list[Change]:
    return answer(case, folder)[0]


def answer(case: Case, folder: Path) -> tuple[list[Change], dict[str, str]]:
    """The changes, and the types of the columns."""
    script = write_script(case, folder)
    session = tidemark.connect(engine="local")
    result = session.sql(script.read_text(encoding="utf-8"), name=f"{case.name}.sql")
    changes = [(c.kind, json_row(c.row, result.columns)) for c in result.changes()]
    return changes, {c.name: str(c.type).replace("`", "") for c in result.columns}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_answers_locally_as_flink_did(case: Case, tmp_path: Path):
    if case.name in NEED_SPARK:
        with pytest.raises(NeedsSpark):
            changes_of(case, tmp_path)
    elif case.compare == "error":
        with pytest.raises(TidemarkError) as raised:
            changes_of(case, tmp_path)
        assert not isinstance(raised.value, NotSupported)
        assert unmentioned(case, str(raised.value)) == []
    else:
        changes, types = answer(case, tmp_path)
        assert differences(case, changes) == []
        if case.name not in OTHER_TYPES:
            assert types == {name: t.replace("`", "") for name, t in case.schema.items()}


@pytest.mark.parametrize("case", IN_ORDER, ids=lambda case: case.name)
def test_rows_are_left_that_flink_left_in_whatever_order_they_arrive(case: Case, tmp_path: Path):
    left, _ = materialize([(change["op"], change["row"]) for change in case.expected or []])
    wanted = replace(case, compare="materialized", key=None, expected=left, arrival=None)

    assert differences(wanted, changes_of(wanted, tmp_path)) == []
