"""Numbers as the status line and the summaries of jobs show them."""

from __future__ import annotations

import pytest

from tests.cli.fakes import FakeJob, FakeResult, FakeSession, plain_terminal
from tests.cli.test_runner import err, run
from tidemark.cli.status import describe_operators, describe_progress, moment, size
from tidemark.spark.progress import OperatorProgress, Progress

JOIN = OperatorProgress(
    "temporal-join-1",
    rows_in=(1204, 12),
    rows_out=1200,
    late=(2, 1),
    waiting=4,
    state_rows=7,
    state_bytes=1850,
    watermark="2024-01-01T00:00:05.000Z",
)
JOINED = Progress(
    batches=3,
    rows_in=1216,
    rows_out=1200,
    rows_per_second=310.0,
    watermark="2024-01-01T00:00:05.000Z",
    operators=(JOIN,),
)


def test_the_status_line_shows_waiting_rows_and_the_size_of_the_state():
    assert describe_progress(JOINED) == (
        "1,216 rows in · 1,200 out · 310/s · watermark 2024-01-01 00:00:05.000 · 4 waiting · 1.9 kB"
    )


def test_a_plan_without_state_has_no_waiting_rows():
    assert describe_progress(Progress(batches=1, rows_in=3, rows_out=2)) == "3 rows in · 2 out"
    skipped = Progress(batches=1, rows_in=3, rows_out=2, skipped=1)
    assert describe_progress(skipped) == "3 rows in · 2 out · 1 skipped"


def test_each_operator_has_a_line_with_what_it_took_gave_and_keeps():
    assert describe_operators(JOINED) == [
        "temporal-join-1: 1,204 + 12 rows in, 1,200 out, 3 late · 4 waiting · state 7 rows, 1.9 kB"
        " · watermark 2024-01-01 00:00:05.000"
    ]


def test_one_row_is_a_row():
    [line] = describe_operators(Progress(operators=(OperatorProgress("keep-last-1", (1,)),)))
    assert line.startswith("keep-last-1: 1 row in, ")


def test_an_operator_that_has_seen_nothing_has_no_watermark():
    assert describe_operators(Progress(operators=(OperatorProgress("keep-last-1"),))) == [
        "keep-last-1: 0 rows in, 0 out, 0 late · 0 waiting · state 0 rows, 0 B"
    ]


def test_a_job_that_ends_reports_what_its_operators_did():
    job = FakeJob("one", looks=1)
    job.progress = lambda: JOINED

    said = err(run(FakeSession(FakeResult("job", job=job)), plain_terminal())).splitlines()

    assert said[-2].startswith("job one finished: 1,216 rows in, 1,200 out")
    assert said[-1].startswith("  temporal-join-1: 1,204 + 12 rows in")


def test_the_last_watermark_of_all_is_the_end():
    assert moment("9999-12-31T23:59:59.999Z") == "at the end of input"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (9949, "9.9 kB"),
        (9960, "10 kB"),
        (999_400, "999 kB"),
        (999_600, "1.0 MB"),
        (48_000_000, "48 MB"),
        (5_000_000_000_000_000, "5,000 TB"),
    ],
)
def test_sizes_are_short_in_the_unit_that_fits(number: int, text: str):
    assert size(number) == text
