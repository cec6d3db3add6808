"""The gate between micro-batches and who takes their rows."""

from __future__ import annotations

import threading

import pytest

from tidemark.spark.gates import Gate, GateIsShut


def test_the_micro_batch_inside_may_leave_before_the_gate_is_shut() -> None:
    gate, left = Gate(), []
    inside, may_leave = threading.Event(), threading.Event()

    def deliver() -> None:
        with gate.passing():
            inside.set()
            may_leave.wait()
            left.append("delivered")

    batch = threading.Thread(target=deliver)
    batch.start()
    inside.wait()
    threading.Timer(0.05, may_leave.set).start()
    gate.shut(at_rest=lambda: True, alive=lambda: True)

    assert left == ["delivered"]
    batch.join()


def test_the_next_micro_batch_delivers_nothing() -> None:
    gate, ends = Gate(), []

    def deliver() -> None:
        try:
            with gate.passing():
                ends.append("delivered")
        except GateIsShut:
            ends.append("held")

    gate.shut(at_rest=lambda: True, alive=lambda: True)
    batch = threading.Thread(target=deliver)
    batch.start()
    # Another one that asks finds that one waits already.
    gate.shut(at_rest=lambda: False, alive=lambda: True)
    gate.fail()
    batch.join()

    assert ends == ["held"]


def test_a_query_that_has_died_is_not_waited_for() -> None:
    Gate().shut(at_rest=lambda: False, alive=lambda: False)


def test_a_failure_inside_leaves_the_gate() -> None:
    gate = Gate()
    with pytest.raises(ValueError, match="sink"), gate.passing():
        raise ValueError("sink")

    gate.shut(at_rest=lambda: True, alive=lambda: True)
