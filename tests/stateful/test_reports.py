"""What a step says of itself beside its rows."""

import json

import polars as pl

from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.state import State
from tidemark.spark.stateful.metrics import REPORT, Stopwatch, packed_output


def test_report_says_what_the_time_of_a_step_went_to() -> None:
    watch = Stopwatch()
    watch.lap("state")
    watch.lap("kernel")
    watch.lap("state")
    step = Step(State(), pl.DataFrame({"n": [1]}), Metrics.of(State(), (1,), (0,), 1, 0))

    [frame] = packed_output(3, step, round_trips=2, watch=watch)

    report = json.loads(frame[REPORT][0])
    assert (report["bucket"], report["round_trips"]) == (3, 2)
    assert list(report["spent_ms"]) == ["state", "kernel", "encode"]
    assert report["busy_ms"] == round(sum(report["spent_ms"].values()), 1)
