"""What SHOW JOBS, SHOW WATERMARKS and DESCRIBE JOB print: the jobs of the session."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.dialect import statements as s
from tidemark.errors import CatalogError, Source, did_you_mean
from tidemark.session.table_result import TableResult, table
from tidemark.session.watermark_table import watermarks_shown
from tidemark.spark.jobs import Job

_COLUMNS = ("job id", "job name", "status", "start time")


def asks_for_jobs(statement: s.Statement) -> bool:
    """Whether only a session can answer, because it is about jobs that run."""
    match statement:
        case s.Show(what="JOBS" | "WATERMARKS") | s.Describe(kind="JOB"):
            return True
    return False


def jobs_shown(statement: s.Statement, source: Source, jobs: Sequence[Job]) -> TableResult:
    if isinstance(statement, s.Describe):
        jobs = [_described(statement, source, jobs)]
    if isinstance(statement, s.Show) and statement.what == "WATERMARKS":
        return watermarks_shown(jobs)
    return table(_COLUMNS, [(job.id, job.name, job.state.upper(), job.started) for job in jobs])


def _described(statement: s.Describe, source: Source, jobs: Sequence[Job]) -> Job:
    [wanted] = statement.name.parts
    found = next((job for job in jobs if job.id == wanted), None)
    if found is None:
        known = [job.id for job in jobs]
        raise CatalogError(
            f"job '{wanted}' does not exist",
            at=statement.name.span,
            hint=did_you_mean(wanted, known) or "SHOW JOBS lists them",
        ).located_in(source)
    return found
