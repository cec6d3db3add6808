"""The tests are parted so that processes side by side end together."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import parts

TESTS = [
    "tests/a.py::test_one",
    "tests/a.py::test_two[x/y]",
    "tests/b.py::test_three",
    "tests/conformance/test_conformance.py::test_answers_as_flink_did[join/left]",
    "tests/conformance/test_conformance.py::test_answers_as_flink_did[join/right]",
    "tests/conformance/test_conformance.py::test_answers_as_flink_did[over/rows]",
    "tests/conformance/test_conformance.py::test_list_names_only_what_there_is",
]


def guesses(tests):
    return dict.fromkeys(tests, 1.0)


def test_tests_of_a_file_and_cases_of_an_area_stay_together():
    assert [parts.group_of(test) for test in TESTS] == [
        "tests/a.py",
        "tests/a.py",
        "tests/b.py",
        "tests/conformance/test_conformance.py::join",
        "tests/conformance/test_conformance.py::join",
        "tests/conformance/test_conformance.py::over",
        "tests/conformance/test_conformance.py",
    ]


def test_the_longest_groups_are_given_out_first_and_each_to_whoever_has_least():
    seconds = {"tests/a.py": 9.0, "tests/b.py": 8.0, "tests/c.py": 7.0, "tests/d.py": 5.0}

    given = parts.parts_of(guesses(f"{file}::test" for file in seconds), 2, seconds)

    assert given == {"tests/a.py": 0, "tests/b.py": 1, "tests/c.py": 1, "tests/d.py": 0}


def test_unmeasured_files_are_assumed_to_take_as_long_as_their_tests_may():
    tests = {
        "tests/new.py::one": 2.0,
        "tests/new.py::two": 2.0,
        "tests/a.py::one": 2.0,
        "tests/b.py::one": 2.0,
    }

    assert parts.parts_of(tests, 2, {"tests/a.py": 3.0}) == {
        "tests/new.py": 0,
        "tests/a.py": 1,
        "tests/b.py": 1,
    }


def test_undisturbed_tests_begin_the_first_part_and_light_ones_the_other():
    tests = ["tests/a.py::spark", "tests/b.py::light", "tests/c.py::connect", "tests/d.py::light"]
    seconds = {"tests/a.py": 9.0, "tests/b.py": 2.0, "tests/c.py": 3.0, "tests/d.py": 2.0}
    kinds = parts.Kinds(undisturbed={tests[2]}, light={tests[1], tests[3]})

    given = [parts.of_part(guesses(tests), f"{part}/2", seconds, kinds) for part in (1, 2)]

    assert given == [[tests[2], tests[0]], [tests[1], tests[3]]]


def test_tests_that_share_a_server_are_all_in_the_last_part():
    tests = ["tests/a.py::kafka", "tests/b.py::kafka", "tests/c.py::spark", "tests/d.py::spark"]
    seconds = {"tests/a.py": 4.0, "tests/b.py": 4.0, "tests/c.py": 6.0, "tests/d.py": 1.0}
    kinds = parts.Kinds(sharing=tests[:2])

    given = parts.parts_of(guesses(tests), 2, seconds, kinds)

    assert given == {"tests/a.py": 1, "tests/b.py": 1, "tests/c.py": 0, "tests/d.py": 0}


@pytest.mark.parametrize("count", [1, 2, 3])
def test_each_test_is_in_one_part(count):
    seconds = {"tests/a.py": 100.0}

    given = [
        parts.of_part(guesses(TESTS), f"{number + 1}/{count}", seconds) for number in range(count)
    ]

    assert sorted(test for part in given for test in part) == sorted(TESTS)


def test_recording_replaces_the_old_durations_and_reports_what_has_grown(tmp_path):
    before, now = tmp_path / "before.json", tmp_path / "now.json"
    before.write_text(json.dumps({"tests/a.py": 10.0, "tests/b.py": 1.0, "tests/gone.py": 1.0}))
    now.write_text(json.dumps({"tests/a.py": 16.0, "tests/b.py": 2.0}))

    said = parts.record([now], before)

    assert said == ["tests/a.py: 16.0 s, 10.0 s before"]
    assert parts.recorded(before) == {"tests/a.py": 16.0, "tests/b.py": 2.0}


def test_seconds_of_tests_are_added_up():
    assert parts.summed({TESTS[3]: 1.25, TESTS[4]: 2.0, TESTS[2]: 0.1}) == {
        "tests/b.py": 0.1,
        "tests/conformance/test_conformance.py::join": 3.2,
    }


# The last digit of the sum of such numbers depends on their order, and what is as long as the sum
# belongs to either part then.
_PARTS = """
from tests.parts import Kinds, parts_of
seconds = {f"tests/{n}.py": n / 10 for n in range(1, 30)} | {"tests/a.py": 43.5, "tests/b.py": 43.5}
shared = [f"tests/{n}.py::test" for n in range(1, 30)]
print(parts_of({f"{file}::test": 1.0 for file in seconds}, 2, seconds, Kinds((), (), shared)))
"""


def test_each_process_makes_the_same_parts():
    made = {
        subprocess.run(
            [sys.executable, "-c", _PARTS],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            cwd=Path(__file__).parent.parent,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(6)
    }
    # Dictionaries are shown in the order in which they were made.
    assert len(made) == 1
