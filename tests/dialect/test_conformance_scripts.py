"""Every script that Flink was asked to run is read, and prints back to the same."""

from __future__ import annotations

import re
import sys
from types import FrameType

import pytest

from conformance.script import write_script
from tests.dialect.samples import round_trip, seeds
from tests.recorded import CASES
from tidemark.dialect import parse_script
from tidemark.errors import SqlError

READ = [case for case in CASES if case.compare != "error"]
REFUSED_BY_FLINK = [case for case in CASES if case.compare == "error"]


@pytest.mark.parametrize("case", READ, ids=lambda case: str(case.name))
def test_the_script_of_a_case_is_read_and_prints_back(case, tmp_path):
    round_trip(write_script(case, tmp_path).read_text("utf-8"))


@pytest.mark.parametrize("case", REFUSED_BY_FLINK, ids=lambda case: str(case.name))
def test_what_flink_refuses_is_read_or_refused_for_the_same_reason(case, tmp_path):
    text = write_script(case, tmp_path).read_text("utf-8")
    reason = ""
    try:
        round_trip(text)
    except SqlError as error:
        reason = error.render()
    for mention in case.error_mentions if reason else []:
        assert re.search(mention, reason, re.IGNORECASE), reason


def test_reading_a_script_eight_times_as_long_takes_eight_times_as_many_calls():
    text = seeds()["versioned_tables"] + "\n" + seeds()["group_windows"]
    assert text.count("\n") > 200
    parse_script(text)  # what is loaded or compiled once is not counted

    assert calls_of(8 * (text + "\n")) < 9 * calls_of(text)


def calls_of(text: str) -> int:
    """How many functions are called to read a script, which does not depend on the machine."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        parse_script(text)
    finally:
        sys.setprofile(None)
    return count
