"""When a bounded stream is started a second time."""

from __future__ import annotations

from typing import Any

import pytest

from tidemark.spark.phases import TwoPhaseRun


class Run:
    """A start that ends at once, at a watermark."""

    state = "finished"

    def __init__(self, ended: bool) -> None:
        self.has_emitted_all = ended

    def wait(self, timeout: float | None) -> bool:
        return True


@pytest.mark.parametrize(
    ("may_end_early", "at_end", "starts"),
    [(True, True, 1), (True, False, 2), (False, True, 2), (False, False, 2)],
)
def test_only_partitions_make_a_second_start_needless(
    may_end_early: bool, at_end: bool, starts: int
) -> None:
    """A job over files that resumes after its end has that watermark from the beginning."""
    done: list[str] = []

    def start() -> Any:
        done.append("start")
        return Run(at_end)

    run = TwoPhaseRun(
        start,
        lambda: done.append("announce"),
        lambda: done.append("end"),
        may_end_early=may_end_early,
    )
    run.wait(None)

    assert done == ["start", *["announce", "start"] * (starts - 1), "end"]
    assert run.state == "finished"
