"""How errors look on a terminal, and what happens to unexpected ones."""

from __future__ import annotations

import re
import sys
import time
import traceback
from pathlib import Path

from tidemark.cli.scripts import log_folder, remove_old
from tidemark.cli.terminal import Terminal, paint
from tidemark.errors import SqlError, TidemarkError

_CARET = re.compile(r"^( *)(\^+)$")
_SOURCE_LINE = re.compile(r"^( +\d+ \| )(.*)$")
_HINT = re.compile(r"^( +hint: )(.*)$")


def report(error: TidemarkError, terminal: Terminal) -> None:
    """Print an error on stderr, highlighted if the terminal has colors."""
    text = error.render()
    terminal.say(_colored(error, text) if terminal.err_color else text)


def report_warning(message: str, place: str, terminal: Terminal) -> None:
    label = terminal.paint_err("warning:", "bold yellow")
    terminal.say(f"{place}  {label} {message}" if place else f"{label} {message}")


def report_unexpected(error: BaseException, terminal: Terminal, saved: Path | None) -> None:
    """A line about a bug in Tidemark, and one about where to find more."""
    name = terminal.paint_err(f"unexpected {type(error).__name__}:", "bold red")
    first_line = (str(error).strip() or "no message").splitlines()[0]
    terminal.say(f"{name} {first_line}")
    where = f"the traceback is in {saved}; " if saved else ""
    terminal.say(f"  {where}--debug shows it here")


def save_traceback(error: BaseException) -> Path | None:
    """Write the traceback to a file; None if none can be written."""
    try:
        remove_old(log_folder(), "error-*.txt")
        file = log_folder() / f"error-{time.strftime('%Y%m%d-%H%M%S')}.txt"
        file.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
    except OSError:
        return None
    return file


def print_traceback(error: BaseException) -> None:
    """The whole traceback on stderr, for --debug."""
    traceback.print_exception(error, file=sys.stderr)


def _colored(error: TidemarkError, text: str) -> str:
    head, *rest = text.split("\n")
    return "\n".join([_colored_head(error, head), *map(_colored_detail, rest)])


def _colored_head(error: TidemarkError, head: str) -> str:
    if isinstance(error, SqlError) and error.at is not None and error.source is not None:
        place, _, message = head.partition("  ")
        return f"{paint(place, 'bold')}  {paint(message, 'bold red')}"
    return paint(head, "bold red")


def _colored_detail(line: str) -> str:
    if found := _CARET.match(line):
        return found[1] + paint(found[2], "red")
    if found := _SOURCE_LINE.match(line):
        return paint(found[1], "dim") + found[2]
    if found := _HINT.match(line):
        return paint(found[1], "cyan") + found[2]
    return line
