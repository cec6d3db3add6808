"""`tidemark run`: runs scripts, shows their results, waits for their jobs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from tidemark.cli.interrupts import Interrupted, Interrupts
from tidemark.cli.output_log import spark_output_to_log
from tidemark.cli.programs import check_program, is_program, noting, run_program
from tidemark.cli.runner import Display, Runner
from tidemark.cli.scripts import (
    UsageError,
    init_scripts,
    open_session,
    read_scripts,
    read_settings,
)
from tidemark.cli.terminal import Terminal
from tidemark.errors import Source
from tidemark.pyflink_programs.program_run import ProgramRun

if TYPE_CHECKING:
    from tidemark.cli.protocols import SessionLike


def run_command(
    file: str | None,
    arguments: Sequence[str],
    execute: Sequence[str],
    init: str | None,
    settings: Sequence[str],
    checkpoint: str | None,
    terminal: Terminal,
    display: Display,
    *,
    debug: bool,
    metrics: tuple[int, str] | None = None,
) -> None:
    """With `metrics`, those of the jobs are served at this port and address."""
    first = init_scripts(init)
    options = read_settings(settings)
    if file is not None and is_program(file):
        of_scripts = {"-e": bool(execute), "--metrics-port": metrics is not None}
        check_program(file, display, of_scripts)
        given = ProgramRun(
            settings=options, checkpoint=checkpoint, init=first, note=noting(terminal, display)
        )
        with nullcontext() if debug else spark_output_to_log(terminal):
            run_program([file, *arguments], given, terminal, display)
        return
    if arguments:
        raise UsageError(
            f"unexpected argument: {arguments[0]}",
            notes={"why": "only Python programs have arguments"},
        )
    scripts = read_scripts(file, execute)
    with nullcontext() if debug else spark_output_to_log(terminal):
        session = open_session(options, checkpoint)
        if metrics is not None:
            url = session.serve_metrics(*metrics)
            if not display.quiet:
                terminal.say(terminal.paint_err(f"metrics at {url}", "dim"))
        run_scripts(session, first, scripts, terminal, display)


def run_scripts(
    session: SessionLike,
    init: Sequence[Source],
    scripts: Sequence[Source],
    terminal: Terminal,
    display: Display,
) -> None:
    """Run to the end of every job, or until a signal, an error, or a closed pipe.

    In any case, jobs that are still running are stopped.
    """
    with Interrupts() as interrupts:
        runner = Runner(session, terminal, display, interrupts)
        try:
            with runner.status.below_what_is_printed():
                for source in init:
                    runner.declare(source)
                for source in scripts:
                    runner.run(source)
                runner.jobs.wait()
        except Interrupted as interrupted:
            terminal.say(f"{interrupted}: stopping")
            raise
        finally:
            runner.jobs.stop()
            runner.leave()
