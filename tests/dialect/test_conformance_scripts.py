"""Every script that Flink was asked to run is read, and prints back to the same."""

from __future__ import annotations

import time

import pytest

from conformance.case import load_cases
from conformance.script import write_script
from tests.dialect.samples import round_trip, seeds
from tidemark.dialect import parse_script

CASES = load_cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.name))
def test_the_script_of_a_case_is_read_and_prints_back(case, tmp_path):
    round_trip(write_script(case, tmp_path).read_text("utf-8"))


def test_two_hundred_lines_take_well_under_half_a_second():
    text = seeds()["versioned_tables"] + "\n" + seeds()["group_windows"]
    assert text.count("\n") > 200
    begin = time.process_time()
    parse_script(text)
    assert time.process_time() - begin < 0.5
