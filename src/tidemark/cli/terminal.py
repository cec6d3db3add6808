"""Where output goes: results to `out`, messages to `err`."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from typing import TextIO

from tidemark.cli.choices import ColorChoice

_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
}


class Terminal:
    """The two output streams, and whether each supports colors and redrawing."""

    def __init__(
        self,
        color: ColorChoice = ColorChoice.auto,
        *,
        out: TextIO | None = None,
        err: TextIO | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        self.out_is_screen = _is_screen(self.out, environment)
        self.err_is_screen = _is_screen(self.err, environment)
        self.out_color = _wants_color(color, self.out_is_screen, environment)
        self.err_color = _wants_color(color, self.err_is_screen, environment)

    def write(self, text: str) -> None:
        """Print results; they have been flushed when this returns."""
        self.out.write(text)
        self.out.flush()

    def say(self, text: str) -> None:
        """Print a message on stderr."""
        self.err.write(f"{text}\n")
        self.err.flush()

    def paint(self, text: str, style: str) -> str:
        """A string in a style, for stdout."""
        return paint(text, style) if self.out_color else text

    def paint_err(self, text: str, style: str) -> str:
        return paint(text, style) if self.err_color else text

    def takes(self, characters: str) -> bool:
        """Whether stdout's encoding has these characters."""
        try:
            characters.encode(self.out.encoding or "ascii")
        except UnicodeEncodeError:
            return False
        return True

    @property
    def width(self) -> int:
        return shutil.get_terminal_size().columns

    @property
    def height(self) -> int:
        return shutil.get_terminal_size().lines


def paint(text: str, style: str) -> str:
    """A string between ANSI codes: `paint("no", "bold red")`."""
    codes = ";".join(_CODES[word] for word in style.split())
    return f"\x1b[{codes}m{text}\x1b[0m"


def _is_screen(stream: TextIO, environment: Mapping[str, str]) -> bool:
    return stream.isatty() and environment.get("TERM") != "dumb"


def _wants_color(choice: ColorChoice, is_screen: bool, environment: Mapping[str, str]) -> bool:
    if choice is not ColorChoice.auto:
        return choice is ColorChoice.always
    if environment.get("NO_COLOR"):
        return False
    return is_screen or bool(environment.get("FORCE_COLOR"))
