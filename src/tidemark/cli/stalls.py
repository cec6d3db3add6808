"""Says unasked why nothing comes out: rows wait for a watermark, and who holds it back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tidemark.cli.status import StatusLine, count, describe_progress, duration, moment
from tidemark.cli.terminal import Terminal

if TYPE_CHECKING:
    from tidemark.spark.progress import Progress
    from tidemark.spark.source_watermarks import PartitionProgress, SourceProgress
    from tidemark.spark.stalls import Stall

SILENT_SECONDS = 30.0


class StallNotes:
    """Prints a note when rows of a job have waited for long, once for each source or partition that
    holds them back, and again after rows have come out."""

    def __init__(self, terminal: Terminal, status: StatusLine, *, quiet: bool) -> None:
        self._terminal = terminal
        self._status = status
        self._quiet = quiet
        self._noted: dict[str, set[str]] = {}

    def look(self, job: str, progress: Progress, *, prints: bool = True) -> str:
        """The progress for the status line: the counts, or what rows wait for."""
        stalls = [stall for stall in progress.stalls if stall.seconds >= SILENT_SECONDS]
        noted = self._noted.setdefault(job, set())
        if not stalls:
            noted.clear()
            return describe_progress(progress)
        for stall in stalls if prints and not self._quiet else ():
            if (holder := _holder(stall)) not in noted:
                noted.add(holder)
                self._status.clear()
                note = f"{job}: {describe_stall(stall, datetime.now(UTC))}"
                self._terminal.say(self._terminal.paint_err(note, "yellow"))
        longest = max(stalls, key=lambda stall: stall.seconds)
        return f"{_summary(longest)} for {_holder(longest)} · {describe_progress(progress)}"


def describe_stall(stall: Stall, now: datetime) -> str:
    """`nothing out for 30 s: 1,204 rows wait in temporal-join-1; rates has had no rows since
    10:04:07 (watermark 2024-01-01 10:04:07.000); a row of rates with a later event time is
    required`
    """
    said = f"{_summary(stall)} in {stall.operator}"
    if stall.source is None:
        return f"{said}; the input has ended"
    return f"{said}; {_why(stall.source, now)}"


def _summary(stall: Stall) -> str:
    waits = "waits" if stall.waiting == 1 else "wait"
    return f"nothing out for {duration(stall.seconds)}: {count(stall.waiting)} {waits}"


def _holder(stall: Stall) -> str:
    if stall.source is None:
        return "the end of the input"
    return stall.source.holder


def _why(source: SourceProgress, now: datetime) -> str:
    """What a source has not had for how long, and what helps."""
    partition = source.held_back_by
    watermark = source.watermark if partition is None else partition.watermark
    since = _silent_since(source, partition, now)
    named = source.holder if partition is None else f"{source.holder},"
    at = "no watermark yet" if watermark is None else f"watermark {moment(watermark)}"
    if since is not None and now - since < timedelta(seconds=SILENT_SECONDS):
        return f"{named} must advance further ({at})"
    silence = "yet" if since is None else f"since {_clock(since, now)}"
    return f"{named} has had no rows {silence} ({at}); {_help(source, partition)}"


def _silent_since(
    source: SourceProgress, partition: PartitionProgress | None, now: datetime
) -> datetime | None:
    """When the last rows arrived that are known of, which a job that resumes does not."""
    if partition is not None:
        known = partition.watermark is not None
        return now - timedelta(seconds=partition.silent_seconds) if known else None
    return None if source.last_rows is None else datetime.fromisoformat(source.last_rows)


def _help(source: SourceProgress, partition: PartitionProgress | None) -> str:
    if partition is None:
        return f"a row of {source.table} with a later event time is required"
    if source.times_out:
        return "it does not count once it is idle"
    return "SET 'table.exec.source.idle-timeout' = '10 s' before the start lets the others go on"


def _clock(then: datetime, now: datetime) -> str:
    """The local time, with the day if that is not today."""
    here, today = then.astimezone(), now.astimezone().date()
    return here.strftime("%H:%M:%S" if here.date() == today else "%Y-%m-%d %H:%M:%S")
