"""What a program finds around it: the options of a command line, and who waits for its jobs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tidemark.errors import Source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidemark.session.result import JobResult
    from tidemark.session.session import Session
    from tidemark.spark.jobs import Job


def _warn(note: str) -> None:
    warnings.warn(note, stacklevel=4)


@dataclass(kw_only=True)
class ProgramRun:
    """Options for each session that the program makes, and what it has made so far."""

    settings: Mapping[str, str] = field(default_factory=dict)
    checkpoint: str | None = None
    # None: the Spark that runs here, or one that starts.
    spark: SparkSession | None = None
    # Run in each session before anything else.
    init: Sequence[Source] = ()
    note: Callable[[str], None] = _warn
    sessions: list[Session] = field(default_factory=list)
    # Those that the program has not waited for.
    jobs: list[JobResult] = field(default_factory=list)
    noted: set[str] = field(default_factory=set)

    def note_once(self, note: str) -> None:
        if note not in self.noted:
            self.noted.add(note)
            self.note(note)

    def has_waited_for(self, job: Job) -> None:
        """The program itself has waited for the end of a job."""
        self.jobs[:] = [result for result in self.jobs if result.job is not job]

    def session(self) -> Session:
        """A new session."""
        from tidemark.session.session import connect

        for_spark = {k: v for k, v in self.settings.items() if k.startswith("spark.")}
        for_us = {k: v for k, v in self.settings.items() if k not in for_spark}
        made = connect(
            self.spark, options=for_us, spark_config=for_spark, checkpoint=self.checkpoint
        )
        self.sessions.append(made)
        for source in self.init:
            for _ in made.run(source.text, source.name):
                pass
        return made


_current = ProgramRun()


def current() -> ProgramRun:
    return _current


@contextmanager
def around(given: ProgramRun) -> Iterator[ProgramRun]:
    """A program that runs inside finds what is given."""
    global _current
    before, _current = _current, given
    try:
        yield given
    finally:
        _current = before


def has_no_effect(what: str) -> None:
    """Say once that something configures what only Flink has."""
    current().note_once(f"{what} configures Flink's runtime and has no effect here")
