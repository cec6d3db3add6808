"""A session, its results and jobs without Spark, in the shape of the real ones."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.cli.choices import ColorChoice
from tidemark.cli.protocols import JobLike, ResultLike, SessionLike
from tidemark.cli.terminal import Terminal
from tidemark.errors import TidemarkError
from tidemark.plan.nodes import Column
from tidemark.rows import Change
from tidemark.session.result import Kind
from tidemark.session.workspace import Workspace
from tidemark.spark.jobs import State
from tidemark.spark.progress import Progress

ID_AND_NAME = (Column("id", t.Int()), Column("name", t.STRING))


def inserts(*rows: tuple[object, ...], columns: tuple[Column, ...] = ID_AND_NAME) -> list[Change]:
    return [change("+I", *row, columns=columns) for row in rows]


def change(kind: str, *values: object, columns: tuple[Column, ...] = ID_AND_NAME) -> Change:
    return Change(kind, dict(zip((c.name for c in columns), values, strict=True)))


class Screen(io.StringIO):
    """A stream that is a terminal, or is not, and remembers what was written to it."""

    encoding = "utf-8"

    def __init__(self, is_terminal: bool = False) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


def plain_terminal() -> Terminal:
    return Terminal(ColorChoice.auto, out=Screen(), err=Screen(), environment={})


def colored_terminal() -> Terminal:
    return Terminal(
        ColorChoice.auto, out=Screen(True), err=Screen(True), environment={"TERM": "xterm"}
    )


class FakeJob:
    """Runs until it is ended from outside, or for some looks at its state."""

    def __init__(
        self,
        name: str = "insert-into-sink",
        *,
        looks: int | None = None,
        failure: TidemarkError | None = None,
    ) -> None:
        self.id = f"id-of-{name}"
        self.name = name
        self._looks = looks
        self._failure = failure
        self.stopped = threading.Event()

    @property
    def state(self) -> State:
        if self.stopped.is_set():
            return "stopped"
        if self._looks is None:
            return "running"
        self._looks -= 1
        if self._looks >= 0:
            return "running"
        return "failed" if self._failure else "finished"

    @property
    def failure(self) -> TidemarkError | None:
        ended = self._looks is not None and self._looks < 0
        return self._failure if ended and not self.stopped.is_set() else None

    def stop(self) -> None:
        self.stopped.set()

    def stop_with_savepoint(self, folder: str) -> Path:
        self.stopped.set()
        return Path(folder) / "savepoint"

    def progress(self) -> Progress:
        return Progress(batches=1, rows_in=1204, rows_out=1100, rows_per_second=310.0)


class FakeResult:
    """The result of a statement. `endless` queries wait, without rows, until their job is stopped."""

    def __init__(
        self,
        kind: Kind,
        *,
        message: str | None = None,
        columns: tuple[Column, ...] = ID_AND_NAME,
        changes: Iterable[Change] = (),
        changelog: Changelog = Changelog.APPEND,
        keys: tuple[tuple[str, ...], ...] = (),
        job: FakeJob | None = None,
        endless: bool = False,
        failure: TidemarkError | None = None,
        warnings: tuple[str, ...] = (),
    ) -> None:
        self.kind = kind
        self.message = message
        self.columns = columns
        self.changelog = changelog
        self.keys = keys
        self.bounded = not endless
        self.job = job
        self.warnings = warnings
        self._changes = changes
        self._failure = failure

    def changes(self) -> Iterator[Change]:
        self.job = self.job or FakeJob("query")
        yield from self._changes
        if self._failure is not None:
            raise self._failure
        while not self.bounded and not self.job.stopped.is_set():
            time.sleep(0.01)

    def rows(self) -> list[dict[str, object]]:
        return [change.row for change in self._changes]


class FakeSession:
    """Gives the prepared results one after another, whatever it is asked."""

    def __init__(self, *results: FakeResult | TidemarkError) -> None:
        self.workspace = Workspace()
        self.jobs: list[FakeJob] = []
        self.texts: list[str] = []
        self.stopped = False
        self._results = list(results)

    def run(self, text: str, name: str = "<sql>") -> Iterator[FakeResult]:
        self.texts.append(text)
        results, self._results = self._results, []
        for result in results:
            if isinstance(result, TidemarkError):
                raise result
            if result.job is not None:
                self.jobs.append(result.job)
            yield result

    def stop(self) -> None:
        self.stopped = True


def _protocols() -> tuple[SessionLike, ResultLike, JobLike]:
    """What the type checker holds the fakes to."""
    return FakeSession(), FakeResult("ok"), FakeJob()
