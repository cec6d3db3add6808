"""`tidemark sql`: interactive on a terminal, otherwise it runs a script."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from tidemark.cli.interrupts import Interrupts
from tidemark.cli.output_log import spark_output_to_log
from tidemark.cli.run import run_command
from tidemark.cli.runner import Display, Runner
from tidemark.cli.scripts import (
    import_from,
    init_scripts,
    open_session,
    personal_init_script,
    read_settings,
)
from tidemark.cli.terminal import Terminal


def shell_command(
    init: str | None,
    settings: Sequence[str],
    checkpoint: str | None,
    terminal: Terminal,
    display: Display,
    *,
    debug: bool,
) -> None:
    if not sys.stdin.isatty():
        run_command("-", [], [], init, settings, checkpoint, terminal, display, debug=debug)
        return
    with nullcontext() if debug else spark_output_to_log(terminal):
        _converse(init, settings, checkpoint, terminal, display, debug=debug)


def _converse(
    init: str | None,
    settings: Sequence[str],
    checkpoint: str | None,
    terminal: Terminal,
    display: Display,
    *,
    debug: bool,
) -> None:
    from prompt_toolkit.patch_stdout import patch_stdout
    from prompt_toolkit.shortcuts import clear

    from tidemark import __version__
    from tidemark.cli.shell.prompt import line_editor
    from tidemark.cli.shell.repl import Shell

    import_from(Path.cwd())
    session = open_session(read_settings(settings), checkpoint)
    interrupts = Interrupts()
    runner = Runner(session, terminal, display, interrupts)
    shell = Shell(session, runner, terminal, interrupts, clear=clear, debug=debug)
    terminal.say(f"Tidemark {__version__}: Flink SQL on Spark. Type HELP; for help.")
    try:
        for source in [*personal_init_script(), *init_scripts(init)]:
            shell.declare(source)
        editor = line_editor(session.workspace, colors=terminal.out_color)
        # A background job must not print into the line being typed.
        with patch_stdout(raw=True):
            shell.converse(editor.prompt)
    finally:
        runner.jobs.stop()
        runner.leave()
