"""Each row is in the topic once, wherever a process ends."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tidemark.errors import JobError

from .transactional_log import FakeLog, Killed, Process

ROWS = [["a", "b"], ["c"], [], ["d", "e"]]
ALL = [row for rows in ROWS for row in rows]


def run_until_done(log: FakeLog, kill_at: tuple[int, ...]) -> int:
    """A job that starts again after each kill, from its checkpoint: the requests it took."""
    requests = 0

    def maybe_kill(name: str, when: str) -> None:
        nonlocal requests
        requests += 1
        if requests in kill_at:
            raise Killed

    log.on_request = maybe_kill
    done = 0  # what the checkpoint says
    while done < len(ROWS):
        process = Process(log)
        try:
            while done < len(ROWS):
                process.write(done, ROWS[done])
                maybe_kill("checkpoint", "before")
                done += 1
        except Killed:
            continue
    return requests


LAST = run_until_done(FakeLog(), ())


@pytest.mark.parametrize("kill_at", range(1, LAST + 1))
def test_a_kill_at_any_moment_neither_loses_nor_repeats_rows(kill_at):
    log = FakeLog()

    run_until_done(log, (kill_at,))

    assert log.records == ALL


def test_neither_do_two_kills():
    for first in range(1, LAST + 1):
        for second in range(first + 1, first + 16):
            log = FakeLog()
            run_until_done(log, (first, second))
            assert log.records == ALL, (first, second)


def test_a_batch_that_comes_again_in_the_same_process_is_not_written_twice():
    log = FakeLog()
    process = Process(log)

    assert process.write(0, ["a"])
    assert not process.write(0, ["a"])
    assert log.records == ["a"]


def test_a_producer_that_hangs_is_shut_out_by_the_one_that_repeats_its_batch():
    log = FakeLog()
    hanging, next_ = Process(log), Process(log)

    with pytest.raises(JobError, match="cannot commit"):
        hanging.write(0, ["a"], meanwhile=lambda: next_.write(0, ["a"]))

    assert log.records == ["a"]
    assert next_.write(1, ["b"])
    assert log.records == ["a", "b"]


def test_a_kept_producer_that_was_shut_out_is_replaced_before_it_takes_rows():
    log = FakeLog()
    first, second = Process(log), Process(log)

    first.write(0, ["a"])
    second.write(1, ["b"])
    first.write(2, ["c"])

    assert log.records == ["a", "b", "c"]


def test_an_attempt_that_begins_after_later_batches_are_written_is_an_error():
    log = FakeLog()
    Process(log).write(0, ["a"])
    Process(log).write(1, ["b"])

    with pytest.raises(JobError, match="micro-batch 0 comes after Kafka has micro-batch 1"):
        Process(log).write(0, ["a"])

    assert log.records == ["a", "b"]


def test_a_query_with_a_new_checkpoint_starts_anew_under_the_same_name():
    log = FakeLog()
    Process(log).write(0, ["a"], query="before")

    assert Process(log).write(0, ["a"], query="after")
    assert log.records == ["a", "a"]


def test_what_fails_while_rows_are_sent_leaves_nothing_behind():
    log = FakeLog()

    def fail() -> None:
        raise ValueError("a bad row")

    process = Process(log)
    with pytest.raises(ValueError, match="a bad row"):
        process.write(0, ["a"], meanwhile=fail)

    assert (log.records, log.pending) == ([], [])
    assert process.write(0, ["a"])
    assert log.records == ["a"]


def refusing(times: int, request: str, retriable: bool) -> Callable[[str, str], None]:
    from confluent_kafka import KafkaError, KafkaException

    left = times

    def on_request(name: str, when: str) -> None:
        nonlocal left
        if name == request and when == "before" and left:
            left -= 1
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT, "slow", retriable=retriable))

    return on_request


def test_a_request_that_may_be_repeated_is_repeated():
    log = FakeLog(on_request=refusing(2, "commit", retriable=True))

    assert Process(log).write(0, ["a"])
    assert log.records == ["a"]


def test_brokers_that_do_not_answer_are_an_error_that_says_what_to_do():
    log = FakeLog(on_request=refusing(9, "commit", retriable=True))

    with pytest.raises(JobError, match="cannot commit a transaction in Kafka") as caught:
        Process(log).write(0, ["a"])

    assert "slow" in str(caught.value.notes["why"])
    assert "start the job again" in (caught.value.hint or "")
