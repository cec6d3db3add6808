"""`tidemark run program.py`: runs a program written for PyFlink, and waits for its jobs."""

from __future__ import annotations

import runpy
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tidemark.cli.choices import ResultFormat
from tidemark.cli.exit_codes import Failed
from tidemark.cli.interrupts import Interrupts
from tidemark.cli.jobs import RunningJobs, stop_within
from tidemark.cli.runner import LEAVE_SECONDS, Display
from tidemark.cli.scripts import UsageError
from tidemark.cli.status import StatusLine
from tidemark.cli.terminal import Terminal
from tidemark.errors import TidemarkError
from tidemark.pyflink_programs.program_run import ProgramRun, around


def is_program(file: str) -> bool:
    return file.endswith(".py")


def check_program(file: str, display: Display, of_scripts: Mapping[str, bool]) -> None:
    """Raises UsageError if there is no such program, or for options that only scripts have."""
    if not Path(file).is_file():
        raise UsageError(f"file not found: {file}")
    shown = {
        "--output": display.output is not ResultFormat.table,
        "--max-rows": display.max_rows is not None,
    }
    for option, given in {**of_scripts, **shown}.items():
        if given:
            raise UsageError(
                f"{option} is for scripts of SQL",
                notes={"why": f"{file} is a program, which runs its queries itself"},
            )


def noting(terminal: Terminal, display: Display) -> Callable[[str], None]:
    """What shows the notes of a program's sessions."""

    def note(text: str) -> None:
        if not display.quiet:
            terminal.say(terminal.paint_err(text, "dim"))

    return note


def run_program(
    command_line: Sequence[str], given: ProgramRun, terminal: Terminal, display: Display
) -> None:
    """Run a program as `python program.py` would, then wait for the jobs that it has started."""
    with around(given):
        try:
            _run(command_line)
            _wait(given, terminal, display)
        finally:
            for session in given.sessions:
                stop_within(session, LEAVE_SECONDS)


def _run(command_line: Sequence[str]) -> None:
    import tidemark.pyflink  # noqa: F401 - makes `pyflink` importable

    file = command_line[0]
    arguments, path = sys.argv, list(sys.path)
    sys.argv = [*command_line]
    sys.path.insert(0, str(Path(file).resolve().parent))
    try:
        with _ended_by_sigterm():
            runpy.run_path(file, run_name="__main__")
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
            raise Failed from None
        if ended.code not in (None, 0):
            raise
    except TidemarkError as error:
        called = [frame for frame in traceback.extract_tb(error.__traceback__) if _is(frame, file)]
        if called:
            error.notes["called at"] = f"{file}:{called[-1].lineno}"
        raise
    except Exception as error:
        _print_traceback(error, file)
        raise Failed from None
    finally:
        sys.argv, sys.path[:] = arguments, path


def _is(frame: traceback.FrameSummary, file: str) -> bool:
    return Path(frame.filename).resolve() == Path(file).resolve()


def _print_traceback(error: Exception, file: str) -> None:
    """As Python prints it, from the program on."""
    described = traceback.TracebackException.from_exception(error)
    first = next((n for n, frame in enumerate(described.stack) if _is(frame, file)), 0)
    described.stack[:] = described.stack[first:]
    print("".join(described.format()), end="", file=sys.stderr)


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """While entered, SIGTERM ends the program like Ctrl-C."""

    def end(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _wait(given: ProgramRun, terminal: Terminal, display: Display) -> None:
    """Wait for jobs that the program did not wait for itself, as a cluster would run them on."""
    with Interrupts() as interrupts:
        status = StatusLine(terminal, shown=display.progress)
        jobs = RunningJobs(terminal, status, interrupts, quiet=display.quiet)
        for result in given.jobs:
            jobs.add(result)
        try:
            jobs.wait()
        finally:
            jobs.stop()
