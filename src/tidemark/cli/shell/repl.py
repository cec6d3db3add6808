"""Reads a statement, runs it, shows its result, and repeats."""

from __future__ import annotations

from collections.abc import Callable

from tidemark import types as t
from tidemark.catalog.options import SAVEPOINT_FOLDER
from tidemark.cli.exit_codes import report_failure
from tidemark.cli.interrupts import Interrupted, Interrupts
from tidemark.cli.jobs import bounded, stop_within
from tidemark.cli.runner import Runner
from tidemark.cli.scripts import read_script
from tidemark.cli.shell.commands import HELP, Command, read_command
from tidemark.cli.status import duration
from tidemark.cli.terminal import Terminal
from tidemark.cli.views import AlignedTable
from tidemark.errors import Source, TidemarkError, did_you_mean
from tidemark.plan.nodes import Column
from tidemark.rows import Change
from tidemark.session.session import Session
from tidemark.spark.jobs import Job

_JOB_COLUMNS = (
    Column("id", t.STRING),
    Column("name", t.STRING),
    Column("state", t.STRING),
    Column("rows in", t.BigInt()),
    Column("rows out", t.BigInt()),
    Column("time", t.STRING),
)
_STOP_SECONDS = 20.0


class Shell:
    """One interactive session. It continues after errors, and unbounded jobs keep running."""

    def __init__(
        self,
        session: Session,
        runner: Runner,
        terminal: Terminal,
        interrupts: Interrupts,
        *,
        clear: Callable[[], None],
        debug: bool = False,
    ) -> None:
        self._session = session
        self._runner = runner
        self._terminal = terminal
        self._interrupts = interrupts
        self._clear = clear
        self._debug = debug

    def converse(self, read: Callable[[], str]) -> None:
        """Until the user exits. `read` returns a string, raises EOFError at the end, and
        KeyboardInterrupt to discard the input.
        """
        while True:
            self._survive(self._runner.jobs.settle)
            try:
                text = read()
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            if not self.handle(text):
                return

    def handle(self, text: str) -> bool:
        """Run a line of input; returns whether to continue."""
        command = read_command(text)
        if command is not None and command.name in ("QUIT", "EXIT"):
            return False
        if command is not None:
            self._survive(lambda: self._obey(command))
        elif text.strip():
            self._survive(lambda: self.run(Source(text, "<input>")))
        return True

    def declare(self, source: Source) -> None:
        """Run an init script; if it fails, the shell starts without its declarations."""
        self._survive(lambda: self._runner.declare(source))

    def run(self, source: Source) -> None:
        """Run statements. Wait for bounded jobs; the others continue in the background."""
        self._runner.run(source)
        self._runner.jobs.wait(bounded)
        for running in self._runner.jobs.unannounced():
            job = running.job
            line = f"it continues in the background; STOP JOB '{job.id}'; stops it"
            self._terminal.say(self._terminal.paint_err(line, "dim"))

    def _survive(self, action: Callable[[], None]) -> None:
        """Do something that may fail or be interrupted, and continue afterwards."""
        with self._interrupts, self._runner.status.below_what_is_printed():
            try:
                action()
            except Interrupted:
                self._runner.jobs.stop(bounded)
            except Exception as error:
                report_failure(error, self._terminal, self._debug)
            finally:
                self._interrupts.reset()

    # --- the shell's own commands --------------------------------------------------------------

    def _obey(self, command: Command) -> None:
        match command.name:
            case "HELP":
                self._terminal.write(HELP)
            case "CLEAR":
                self._clear()
            case "SOURCE":
                self.run(read_script(command.argument))
            case "SHOW JOBS":
                self._show_jobs()
            case "STOP JOB":
                self._stop(self._job(command.argument))
            case "STOP JOB WITH SAVEPOINT":
                self._save(self._job(command.argument))

    def _show_jobs(self) -> None:
        rows = []
        for job in self._session.jobs:
            progress = job.progress()
            values = (
                job.id,
                job.name,
                job.state,
                progress.rows_in,
                progress.rows_out,
                duration(progress.seconds),
            )
            names = (column.name for column in _JOB_COLUMNS)
            rows.append(Change("+I", dict(zip(names, values, strict=True))))
        table = AlignedTable(_JOB_COLUMNS, self._terminal, kinds=False)
        table.show(rows, "")
        table.close()

    def _stop(self, job: Job) -> None:
        if job.state != "running":
            self._terminal.say(f"job {job.name} is already {job.state}")
        elif not stop_within(job, _STOP_SECONDS):
            raise TidemarkError(f"job {job.name} is not stopping")

    def _save(self, job: Job) -> None:
        folder = self._session.workspace.options.first(SAVEPOINT_FOLDER)
        if folder is None:
            raise TidemarkError(
                "it is not known where to save jobs",
                hint=f"SET '{SAVEPOINT_FOLDER[0]}' = '/a/folder'",
            )
        self._terminal.write(f"{job.stop_with_savepoint(folder)}\n")

    def _job(self, wanted: str) -> Job:
        for job in self._session.jobs:
            if job.id == wanted:
                return job
        running = [job.id for job in self._session.jobs if job.state == "running"]
        raise TidemarkError(
            f"unknown job '{wanted}'",
            hint=did_you_mean(wanted, running) or "SHOW JOBS; lists all jobs",
        )
