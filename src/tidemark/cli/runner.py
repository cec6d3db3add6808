"""Runs the statements of a session one by one and shows the result of each."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from tidemark.catalog.tables import Changelog
from tidemark.cli.choices import ResultFormat
from tidemark.cli.interrupts import Interrupted, Interrupts
from tidemark.cli.jobs import RunningJobs, stop_within
from tidemark.cli.problems import report_warning
from tidemark.cli.stalls import StallNotes
from tidemark.cli.status import (
    StatusLine,
    count,
    describe_operators,
    duration,
)
from tidemark.cli.terminal import Terminal
from tidemark.cli.views import ResultView, choose_view, show_table
from tidemark.cli.worker import Feed, Worker
from tidemark.errors import Source

if TYPE_CHECKING:
    from tidemark.cli.protocols import JobLike, ResultLike, SessionLike

T = TypeVar("T")

LEAVE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Display:
    """How results are shown."""

    output: ResultFormat = ResultFormat.table
    max_rows: int | None = None
    progress: bool = True
    quiet: bool = False
    local: bool = False  # whether nothing starts Spark


class Runner:
    """Session calls run on a worker thread; this one draws and handles signals."""

    def __init__(
        self, session: SessionLike, terminal: Terminal, display: Display, interrupts: Interrupts
    ) -> None:
        self._session = session
        self._terminal = terminal
        self._display = display
        self._interrupts = interrupts
        self._worker = Worker()
        self.status = StatusLine(terminal, shown=display.progress)
        self.jobs = RunningJobs(terminal, self.status, interrupts, quiet=display.quiet)
        self._spark_was_used = display.local

    def run(self, source: Source) -> None:
        """Run every statement of a script and show its result. Jobs keep running."""
        results = self.call(lambda: self._session.run(source.text, source.name))
        while (result := self._next(results)) is not None:
            self._show(result)

    def declare(self, source: Source) -> None:
        """Run an init script without printing a line for each declaration."""
        display, self._display = self._display, replace(self._display, quiet=True)
        try:
            self.run(source)
        finally:
            self._display = display

    def leave(self) -> None:
        """End the session, but wait only so long for Spark to stop."""
        stop_within(self._session, LEAVE_SECONDS)

    def call(self, function: Callable[[], T]) -> T:
        """The result of a session call, with a spinner while it takes long."""
        started = time.monotonic()

        def tick() -> None:
            self._interrupts.check()
            seconds = time.monotonic() - started
            if seconds > 0.5:
                doing = "working" if self._spark_was_used else "starting Spark"
                self.status.show(f"{doing} · {duration(seconds)} · Ctrl-C stops")

        try:
            return self._worker.call(function, tick)
        finally:
            self.status.clear()

    def _next(self, results: Iterator[ResultLike]) -> ResultLike | None:
        abandoned = threading.Event()

        def step() -> ResultLike | None:
            result = next(results, None)
            if abandoned.is_set() and result is not None and result.job is not None:
                result.job.stop()
            return result

        try:
            return self.call(step)
        except Interrupted:
            abandoned.set()
            raise

    def _show(self, result: ResultLike) -> None:
        self._spark_was_used |= result.kind in ("query", "job")
        for warning in result.warnings:
            report_warning(warning, "", self._terminal)
        match result.kind:
            case "ok":
                self._say(result.message)
            case "table":
                show_table(result, self._display.output, self._terminal)
            case "query":
                self._show_query(result)
            case "job":
                self._say(result.message)
                self.jobs.add(result)

    def _say(self, message: str | None) -> None:
        if message and not self._display.quiet:
            self._terminal.say(self._terminal.paint_err(message, "dim"))

    def _show_query(self, result: ResultLike) -> None:
        view = choose_view(self._display.output, result, self._terminal)
        QueryWatch(result, view, self._terminal, self._display, self._interrupts, self.status).run()
        self.jobs.settle()


class QueryWatch:
    """Follows one query from its first change to its end, its limit, or Ctrl-C."""

    ASK_EVERY_SECONDS = 0.5

    def __init__(
        self,
        result: ResultLike,
        view: ResultView,
        terminal: Terminal,
        display: Display,
        interrupts: Interrupts,
        status: StatusLine,
    ) -> None:
        self._result = result
        self._view = view
        self._terminal = terminal
        self._display = display
        self._interrupts = interrupts
        self._status = status
        self._stalls = StallNotes(terminal, status, quiet=display.quiet)
        self._started = time.monotonic()
        self._asked = 0.0
        self._progress = ""
        self._shown = 0

    def run(self) -> None:
        feed = Feed(self._result.changes())
        try:
            limited = self._follow(feed)
        except Interrupted:
            self._end(feed, "stopped after")
            raise
        except BaseException:
            self._end(feed, None)
            raise
        self._end(feed, "stopped at" if limited else "")

    def _follow(self, feed: Feed) -> bool:
        """Show changes until there are no more (False) or enough (True)."""
        most = self._display.max_rows
        while not feed.exhausted and (most is None or self._shown < most):
            changes = feed.take()
            self._interrupts.check()
            if most is not None:
                changes = changes[: most - self._shown]
            status = self._describe()
            if changes or self._view.owns_screen:
                self._status.clear()
            self._view.show(changes, status)
            self._shown += len(changes)
            if not self._view.owns_screen:
                self._status.show(status)
        return most is not None and self._shown >= most and not feed.exhausted

    def _end(self, feed: Feed, word: str | None) -> None:
        """Stop the query if it is running, then complete the view and print a summary."""
        feed.close()
        self._status.clear()
        if not feed.join(0) and self._result.job is not None:
            stop_within(self._result.job, seconds=20)
        self._view.close(failed=word is None)
        if word is not None and self._shows_totals():
            seconds = time.monotonic() - self._started
            totals = f"{word} {count(self._shown, self._noun)}".strip()
            for line in (f"{totals} · {duration(seconds)}", *self._operators()):
                self._terminal.say(self._terminal.paint_err(line, "dim"))

    def _operators(self) -> list[str]:
        job = self._result.job
        operators = describe_operators(job.progress()) if job is not None else []
        return [f"  {operator}" for operator in operators]

    def _shows_totals(self) -> bool:
        if self._display.quiet:
            return False
        return self._display.output is ResultFormat.table or self._terminal.err_is_screen

    @property
    def _noun(self) -> str:
        return "row" if self._result.changelog is Changelog.APPEND else "change"

    def _describe(self) -> str:
        """The status line; the job's progress is fetched now and then, not on every redraw."""
        now = time.monotonic()
        if now - self._asked >= self.ASK_EVERY_SECONDS:
            self._asked = now
            job = self._result.job
            starting = "working" if self._display.local else "starting Spark"
            self._progress = starting if job is None else self._describe_job(job)
        return " · ".join([self._progress, duration(now - self._started), "Ctrl-C stops"])

    def _describe_job(self, job: JobLike) -> str:
        # A note would be drawn over by a view that has the screen to itself.
        return self._stalls.look("query", job.progress(), prints=not self._view.owns_screen)
