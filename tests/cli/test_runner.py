"""Running scripts against a session without Spark: what is shown, waited for, and stopped."""

from __future__ import annotations

import json
import threading
import time

import pytest

from tests.cli.fakes import (
    FakeJob,
    FakeResult,
    FakeSession,
    colored_terminal,
    inserts,
    plain_terminal,
)
from tests.waiting import wait_until
from tidemark.cli.choices import ResultFormat
from tidemark.cli.interrupts import Interrupted, Interrupts
from tidemark.cli.run import run_scripts
from tidemark.cli.runner import Display
from tidemark.cli.terminal import Terminal
from tidemark.cli.worker import Feed, Worker
from tidemark.errors import JobError, PlanError, Source

ROWS = inserts((1, "a"), (2, "b"), (3, "c"))


def run(session: FakeSession, terminal: Terminal | None = None, **display) -> Terminal:
    terminal = terminal or plain_terminal()
    run_scripts(session, [], [Source("...", "script.sql")], terminal, Display(**display))
    return terminal


def out(terminal: Terminal) -> str:
    return terminal.out.getvalue()


def err(terminal: Terminal) -> str:
    return terminal.err.getvalue()


def test_rows_go_to_stdout_and_all_else_to_stderr():
    session = FakeSession(
        FakeResult("ok", message="table `t` created"), FakeResult("query", changes=ROWS)
    )

    terminal = run(session)

    assert out(terminal).splitlines()[0].split() == ["id", "│", "name"]
    assert err(terminal).splitlines()[0] == "table `t` created"
    assert err(terminal).splitlines()[1].startswith("3 rows · ")
    assert session.stopped


def test_json_lines_have_stdout_and_stderr_to_themselves():
    terminal = run(FakeSession(FakeResult("query", changes=ROWS)), output=ResultFormat.jsonl)

    assert [json.loads(line)["row"]["id"] for line in out(terminal).splitlines()] == [1, 2, 3]
    assert err(terminal) == ""


def test_output_log_prints_nothing_but_results():
    session = FakeSession(
        FakeResult("ok", message="created"),
        FakeResult("query", changes=ROWS),
        FakeResult("job", message="job started", job=FakeJob(looks=1)),
    )

    assert err(run(session, quiet=True)) == ""


def test_warnings_of_the_planner_are_shown():
    terminal = run(FakeSession(FakeResult("query", changes=ROWS, warnings=("state grows",))))

    assert "warning: state grows" in err(terminal)


def test_an_init_script_declares_in_silence_and_before_the_rest():
    session = FakeSession(FakeResult("ok", message="created"))
    terminal = plain_terminal()

    run_scripts(session, [Source("init")], [Source("main")], terminal, Display())

    assert session.texts == ["init", "main"]
    assert err(terminal) == ""


def test_max_rows_stops_the_query():
    result = FakeResult("query", changes=ROWS, endless=True)

    terminal = run(FakeSession(result), max_rows=2)

    assert len(out(terminal).splitlines()) == 4
    assert err(terminal).startswith("stopped at 2 rows")
    assert result.job.stopped.is_set()


def test_rows_before_a_failure_are_shown():
    terminal = plain_terminal()
    session = FakeSession(FakeResult("query", changes=ROWS, failure=JobError("it broke")))

    with pytest.raises(JobError, match="it broke"):
        run(session, terminal)
    assert len(out(terminal).splitlines()) == 5


def test_the_statements_after_an_error_do_not_run():
    session = FakeSession(PlanError("no such table"), FakeResult("ok", message="never"))
    terminal = plain_terminal()

    with pytest.raises(PlanError):
        run(session, terminal)
    assert "never" not in err(terminal)
    assert session.stopped


def test_jobs_run_together_and_all_are_waited_for():
    jobs = [FakeJob("one", looks=2), FakeJob("two", looks=4)]
    session = FakeSession(*(FakeResult("job", job=job) for job in jobs))

    terminal = run(session)

    assert [line.split(" · ")[0] for line in err(terminal).splitlines()] == [
        "job one finished: 1,204 rows in, 1,100 out",
        "job two finished: 1,204 rows in, 1,100 out",
    ]


def test_a_failing_job_ends_the_others():
    endless = FakeJob("endless")
    failing = FakeJob("failing", looks=1, failure=JobError("disk full"))
    terminal = plain_terminal()

    with pytest.raises(JobError, match="disk full"):
        run(FakeSession(FakeResult("job", job=endless), FakeResult("job", job=failing)), terminal)
    assert endless.stopped.is_set()
    assert "job endless stopped" in err(terminal)


def interrupt_when(condition) -> None:
    """Ctrl-C, as the signal handler sees it, as soon as the condition holds."""
    import os
    import signal

    def wait_and_signal() -> None:
        while not condition():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=wait_and_signal, daemon=True).start()


def test_ctrl_c_stops_a_query_and_keeps_what_was_shown():
    result = FakeResult("query", changes=ROWS, endless=True)
    terminal = plain_terminal()
    interrupt_when(lambda: "c" in out(terminal).splitlines()[-1:][0] if out(terminal) else False)

    with pytest.raises(Interrupted) as caught:
        run(FakeSession(result), terminal)

    assert caught.value.exit_code == 130
    assert result.job.stopped.is_set()
    assert "stopped after 3 rows" in err(terminal)


def test_ctrl_c_stops_jobs_and_reports_how_far_they_got():
    job = FakeJob()
    terminal = plain_terminal()
    session = FakeSession(FakeResult("job", job=job))
    interrupt_when(lambda: bool(session.jobs))

    with pytest.raises(Interrupted):
        run(session, terminal)
    assert job.stopped.is_set()
    assert "job insert-into-sink stopped: 1,204 rows in" in err(terminal)


def test_ctrl_c_is_answered_while_spark_starts():
    session = FakeSession()
    started = threading.Event()
    never = threading.Event()

    def start_slowly(text, name):
        started.set()
        never.wait()
        return iter(())

    session.run = start_slowly
    interrupt_when(started.is_set)

    with pytest.raises(Interrupted):
        run(session)
    never.set()


def test_a_second_signal_ends_the_process_at_once():
    import os
    import signal

    codes: list[int] = []
    with Interrupts(give_up=codes.append) as interrupts:
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(Interrupted):
            interrupts.check()
        os.kill(os.getpid(), signal.SIGINT)

    assert codes == [130]


def test_progress_is_drawn_on_a_screen_and_erased():
    class Slow(FakeResult):
        def changes(self):
            self.job = FakeJob("query")
            wait_until(lambda: "1,204 rows in" in err(terminal))
            yield from ROWS

    terminal = colored_terminal()
    run(FakeSession(Slow("query")), terminal)

    assert "1,204 rows in" in err(terminal)
    assert "\r\x1b[K" in err(terminal)
    last_line = err(terminal).rstrip("\n").split("\n")[-1]
    assert last_line.split("\r\x1b[K")[-1].startswith("\x1b[2m3 rows")


def test_no_progress_means_no_progress():
    terminal = run(
        FakeSession(FakeResult("job", job=FakeJob(looks=3))), colored_terminal(), progress=False
    )

    assert "\r" not in err(terminal)


def test_a_closed_pipe_stops_the_query():
    result = FakeResult("query", changes=ROWS, endless=True)
    terminal = plain_terminal()

    def write_header_only(text: str) -> int:
        if "─" not in text:
            raise BrokenPipeError
        return len(text)

    terminal.out.write = write_header_only
    with pytest.raises(BrokenPipeError):
        run(FakeSession(result), terminal)
    assert result.job.stopped.is_set()


def test_the_worker_hands_back_results_and_exceptions():
    worker, ticks = Worker(), []

    def slow() -> str:
        wait_until(lambda: ticks)
        return "done"

    assert worker.call(slow, lambda: ticks.append(1)) == "done"
    with pytest.raises(ZeroDivisionError):
        worker.call(lambda: 1 / 0, lambda: None)


def test_a_feed_does_not_run_far_ahead_of_its_reader():
    taken = 0

    def many():
        nonlocal taken
        for _ in range(100_000):
            taken += 1
            yield ROWS[0]

    feed = Feed(many())
    wait_until(lambda: taken > Feed.MOST_WAITING)
    time.sleep(0.05)  # long enough to run away, and the test passes also if it did not begin to
    assert taken <= Feed.MOST_WAITING + 2

    total = 0
    while not feed.exhausted:
        total += len(feed.take())
    assert total == 100_000


def test_a_closed_feed_closes_its_source():
    closed = threading.Event()

    def endless():
        try:
            while True:
                yield ROWS[0]
        finally:
            closed.set()

    feed = Feed(endless())
    feed.take()
    feed.close()
    assert feed.join(5)
    assert closed.is_set()
