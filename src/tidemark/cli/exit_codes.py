"""Exit codes of commands, and how exceptions map to them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from tidemark.cli.choices import ColorChoice
from tidemark.cli.interrupts import Interrupted
from tidemark.cli.problems import print_traceback, report, report_unexpected, save_traceback
from tidemark.cli.scripts import UsageError
from tidemark.cli.terminal import Terminal
from tidemark.errors import TidemarkError
from tidemark.spark.ended_java import ended_java

FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 130


class Failed(Exception):
    """The command ran but failed, and the failure has already been reported."""


@contextmanager
def errors_as_exit_codes(color: ColorChoice, debug: bool) -> Iterator[Terminal]:
    """A terminal to work with; whatever the body raises becomes a message and an exit code."""
    terminal = Terminal(color)
    try:
        yield terminal
        terminal.out.flush()
    except (typer.Exit, typer.Abort):
        raise
    except BrokenPipeError:
        _discard_output()
    except Failed:
        raise typer.Exit(FAILED) from None
    except Interrupted as interrupted:
        raise typer.Exit(interrupted.exit_code) from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:
        raise typer.Exit(report_failure(error, terminal, debug)) from None


def report_failure(error: Exception, terminal: Terminal, debug: bool) -> int:
    """Report an error, with a pointer to details if it is unexpected. Returns the exit code."""
    if debug:
        print_traceback(error)
    known = error if isinstance(error, TidemarkError) else ended_java(error)
    if known is not None:
        report(known, terminal)
        return WRONG_USAGE if isinstance(known, UsageError) else FAILED
    report_unexpected(error, terminal, save_traceback(error))
    return FAILED


def _discard_output() -> None:
    """The reader has closed the pipe: buffered output must not fail again at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
