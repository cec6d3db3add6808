"""What is said unasked when rows wait and nothing comes out."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.cli.fakes import FakeJob, FakeResult, FakeSession, plain_terminal
from tests.cli.test_runner import err, run
from tidemark.cli.stalls import StallNotes, describe_stall
from tidemark.cli.status import StatusLine
from tidemark.spark.progress import Progress
from tidemark.spark.source_watermarks import PartitionProgress, SourceProgress
from tidemark.spark.stalls import Stall

# Noon, so that half a minute before is the same day everywhere but in places that are at midnight.
NOW = datetime(2024, 1, 1, 12, 0, 37, tzinfo=UTC)
SINCE = NOW - timedelta(seconds=30)
RATES = SourceProgress("rates", "2024-01-01T10:04:07.000Z", SINCE.isoformat())
STALL = Stall(30.0, "temporal-join-1", 1204, RATES)
KAFKA = SourceProgress(
    "rates",
    "2024-01-01T10:04:07.000Z",
    NOW.isoformat(),
    (
        PartitionProgress("fx-1", "2024-01-01T10:04:09.000Z"),
        PartitionProgress("fx-2", "2024-01-01T10:04:07.000Z", silent_seconds=30.0),
    ),
)


def clock(moment: datetime) -> str:
    return moment.astimezone().strftime("%H:%M:%S")


def test_a_silent_source_is_named_with_its_watermark_and_what_it_needs():
    assert describe_stall(STALL, NOW) == (
        "nothing out for 30 s: 1,204 rows wait in temporal-join-1; rates has had no rows since "
        f"{clock(SINCE)} (watermark 2024-01-01 10:04:07.000); "
        "a row of rates with a later event time is required"
    )


def test_a_source_that_never_had_rows():
    never = replace(STALL, waiting=1, source=SourceProgress("rates"))
    assert describe_stall(never, NOW) == (
        "nothing out for 30 s: 1 row waits in temporal-join-1; rates has had no rows yet "
        "(no watermark yet); a row of rates with a later event time is required"
    )


def test_rows_from_another_day_are_dated():
    old = replace(RATES, last_rows=(NOW - timedelta(days=3)).isoformat())
    assert "no rows since 2023-12-29 " in describe_stall(replace(STALL, source=old), NOW)


def test_a_source_that_is_only_behind_is_not_called_silent():
    busy = replace(RATES, last_rows=NOW.isoformat())
    assert describe_stall(replace(STALL, source=busy), NOW).endswith(
        "; rates must advance further (watermark 2024-01-01 10:04:07.000)"
    )


def test_a_silent_partition_is_named_with_the_option_that_helps():
    assert describe_stall(replace(STALL, source=KAFKA), NOW).endswith(
        f"rates, partition fx-2, has had no rows since {clock(SINCE)} (watermark 2024-01-01 "
        "10:04:07.000); SET 'table.exec.source.idle-timeout' = '10 s' before the start lets "
        "the others go on"
    )


def test_an_option_that_is_set_is_not_proposed():
    assert describe_stall(replace(STALL, source=replace(KAFKA, times_out=True)), NOW).endswith(
        "it does not count once it is idle"
    )


def test_an_input_that_has_ended_holds_nothing_back():
    ended = replace(STALL, source=None)
    assert describe_stall(ended, NOW).endswith("rows wait in temporal-join-1; the input has ended")


def test_a_stall_is_noted_once_until_rows_come_out_again():
    terminal = plain_terminal()
    notes = StallNotes(terminal, StatusLine(terminal), quiet=False)

    def look(*stalls: Stall) -> str:
        return notes.look("enrich", Progress(batches=1, rows_in=3, stalls=stalls))

    assert look(replace(STALL, seconds=29.9)) == "3 rows in · 0 out"
    assert err(terminal) == ""
    assert look(STALL) == "nothing out for 30 s: 1,204 rows wait for rates · 3 rows in · 0 out"
    look(replace(STALL, seconds=31.0))
    assert err(terminal).count("enrich: nothing out for 30 s: 1,204 rows wait in temp") == 1
    look(replace(STALL, source=SourceProgress("orders")))
    assert err(terminal).count("\n") == 2
    look()
    look(STALL)
    assert err(terminal).count("\n") == 3


@pytest.mark.parametrize("quiet", [True, False])
def test_a_job_whose_rows_wait_says_so_unless_it_is_to_be_quiet(quiet):
    job = FakeJob("enrich", looks=3)
    job.progress = lambda: Progress(batches=1, rows_in=3, stalls=(STALL,))

    said = err(run(FakeSession(FakeResult("job", job=job)), plain_terminal(), quiet=quiet))

    assert ("enrich: nothing out for 30 s" in said) is not quiet
