"""What SHOW WATERMARKS prints: of the running jobs, how far each source, partition and operator has
come, how many rows wait there, and which source holds them back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidemark.session.table_result import TableResult, table
from tidemark.spark.jobs import Job
from tidemark.spark.progress import Progress
from tidemark.spark.stalls import slowest

_COLUMNS = ("job id", "job name", "kind", "name", "watermark", "waiting rows", "held back by")
_Shown = tuple[str, str, str | None, int | None, str | None]


def watermarks_shown(jobs: Sequence[Job]) -> TableResult:
    running = [job for job in jobs if job.state == "running"]
    rows = [
        (job.id, job.name, *row)
        for job in running
        for run in job.runs  # the sources of another query hold nothing back
        for row in _rows(run.progress())
    ]
    return table(_COLUMNS, rows)


def _rows(progress: Progress) -> Iterator[_Shown]:
    for source in progress.followed:
        behind = source.held_back_by
        holder = None if behind is None else f"partition {behind.name}"
        yield "source", source.table, source.watermark, None, holder
        for partition in source.partitions:
            kind = "idle partition" if partition.idle else "partition"
            waits = partition.aligned and f"alignment with group {partition.aligned}"
            yield kind, f"{source.table}, {partition.name}", partition.watermark, None, waits
    slow = slowest(progress.followed)
    for operator in progress.operators:
        holder = slow.holder if slow is not None and operator.waiting else None
        yield "operator", operator.name, operator.watermark, operator.waiting, holder
