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


def may_need_spark(case: Case) -> bool:
    """Whether some of its functions or types may be Spark's alone: it runs on Spark, too."""
    return case.area in {"expressions", "functions", "types"} or case.name in {
        "aggregate/decimal_sum",
        "group-window/decimal_results",
    }


def changes_of(case: Case, folder: Path) -> list[Change]:
    script = write_script(case, folder)
    session = tidemark.connect(engine="local")
    result = session.sql(script.read_text(encoding="utf-8"), name=f"{case.name}.sql")
    return [(change.kind, json_row(change.row, result.columns)) for change in result.changes()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_answers_locally_as_flink_did(case: Case, tmp_path: Path):
    try:
        if case.compare == "error":
            with pytest.raises(TidemarkError) as raised:
                changes_of(case, tmp_path)
            if isinstance(raised.value, NeedsSpark):
                raise raised.value
            assert not isinstance(raised.value, NotSupported)
            assert unmentioned(case, str(raised.value)) == []
        else:
            assert differences(case, changes_of(case, tmp_path)) == []
    except NeedsSpark as refusal:
        if not may_need_spark(case):
            raise
        pytest.skip(refusal.message)


@pytest.mark.parametrize("case", IN_ORDER, ids=lambda case: case.name)
def test_rows_are_left_that_flink_left_in_whatever_order_they_arrive(case: Case, tmp_path: Path):
    left, _ = materialize([(change["op"], change["row"]) for change in case.expected or []])
    wanted = replace(case, compare="materialized", key=None, expected=left, arrival=None)

    assert differences(wanted, changes_of(wanted, tmp_path)) == []


OF_VALUES = [
    case
    for case in CASES
    if case.area in {"expressions", "functions", "types"} and case.compare != "error"
]


@pytest.mark.parametrize("case", OF_VALUES, ids=lambda case: case.name)
def test_types_are_those_that_flink_derives(case: Case, tmp_path: Path):
    script = write_script(case, tmp_path).read_text(encoding="utf-8")
    try:
        columns = tidemark.connect(engine="local").sql(script).columns
    except NeedsSpark as refusal:
        pytest.skip(refusal.message)
    assert {c.name: str(c.type).replace("`", "") for c in columns} == {
        name: type_.replace("`", "") for name, type_ in case.schema.items()
    }
