"""The measurements measure what they say: their scripts are scripts, their verdicts are right."""

import tidemark
from bench.startup import long_script
from bench.temporal_join import Outcome, agree
from bench.temporal_join_workload import Workload, parsed


def test_long_script_is_long_and_right():
    text = long_script(lines=200)
    assert text.count("\n") >= 200
    assert any(planned.plan for planned in tidemark.Workspace().plan_script(text))


def test_workload_reaches_the_process_of_an_engine():
    workload = Workload(left=70, versions=7, keys=3)
    assert parsed(["stream", *workload.arguments()]) == ("stream", workload)


def test_engines_agree_where_rows_and_known_sums_are_equal():
    summed, counted = Outcome(1.0, 10, 55, None), Outcome(2.0, 10, None, None)
    assert agree([summed, counted, summed])
    assert not agree([summed, Outcome(1.0, 9, None, None)])
    assert not agree([summed, Outcome(1.0, 10, 54, None)])
