"""Which micro-batch of which job a version of a table is."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from tidemark.connectors.base import Target
from tidemark.errors import JobError


@dataclass(frozen=True, slots=True)
class JobName:
    """A job's sink, the same after a restart; another one if the job begins anew."""

    name: str

    @classmethod
    def of(cls, target: Target) -> JobName | None:
        if target.job is None:
            return None
        known = f"{target.job} {target.started} {target.table.identifier}"
        return cls(f"tidemark-{hashlib.sha256(known.encode()).hexdigest()[:24]}")


@dataclass(frozen=True, slots=True)
class JobBatch:
    job: str
    number: int

    @classmethod
    def of(cls, job: JobName | None, batch_id: int | None) -> JobBatch | None:
        """None if no batch comes again."""
        return None if job is None or batch_id is None else cls(job.name, batch_id)

    def is_written(self, last: int | None, table: object) -> bool:
        """Whether the table has the micro-batch, given the last one of the job in it; the first
        one is 0. Raises JobError if later ones are in it, too."""
        if last is None or last < self.number:
            return False
        if last > self.number:
            raise JobError(
                f"micro-batch {self.number} comes, but {table} has micro-batch {last} already",
                notes={
                    "why": "another run of the job is ahead, or the checkpoint is an older copy"
                },
                hint="end the other run; or restore the table to a version before, and start again",
            )
        return True
