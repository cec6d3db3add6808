"""The line editor: several lines, history, completion, colors."""

from __future__ import annotations

import os
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.history import FileHistory
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.styles import Style

from tidemark.cli.scripts import state_home
from tidemark.cli.shell.commands import read_command
from tidemark.cli.shell.completion import SqlCompleter
from tidemark.cli.shell.lexer import FlinkSqlLexer
from tidemark.dialect import is_complete
from tidemark.session.workspace import Workspace

_PROMPT = "tidemark> "
_CONTINUED = "       -> "

# Names of the terminal's own sixteen colors, so that light and dark screens both work.
_STYLE = Style.from_dict(
    {
        "prompt": "bold ansicyan",
        "continuation": "ansibrightblack",
        "pygments.keyword": "bold ansiblue",
        "pygments.keyword.type": "ansicyan",
        "pygments.name.function": "ansimagenta",
        "pygments.literal.string": "ansigreen",
        "pygments.literal.number": "ansiyellow",
        "pygments.comment": "italic ansibrightblack",
    }
)


def line_editor(
    workspace: Workspace,
    *,
    colors: bool,
    history: Path | None = None,
    input: Input | None = None,
    output: Output | None = None,
) -> PromptSession[str]:
    """Reads one statement, or one shell command, with each `prompt()`."""
    return PromptSession(
        message=[("class:prompt", _PROMPT)],
        prompt_continuation=[("class:continuation", _CONTINUED)],
        multiline=True,
        key_bindings=_keys(),
        completer=SqlCompleter(workspace),
        complete_while_typing=True,
        auto_suggest=AutoSuggestFromHistory(),
        history=FileHistory(str(_private(history or state_home() / "history"))),
        lexer=PygmentsLexer(FlinkSqlLexer),
        style=_STYLE,
        color_depth=None if colors else ColorDepth.DEPTH_1_BIT,
        input=input,
        output=output,
    )


def is_finished(text: str) -> bool:
    """Whether Enter runs the input instead of starting another line."""
    return not text.strip() or read_command(text) is not None or is_complete(text)


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        _enter(event.current_buffer)

    return keys


def _enter(buffer: Buffer) -> None:
    """Accept the selected completion, run a finished statement, or start another line."""
    if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
        buffer.complete_state = None
    elif is_finished(buffer.text):
        buffer.validate_and_handle()
    else:
        buffer.newline(copy_margin=True)


def _private(file: Path) -> Path:
    """Statements may contain passwords: only their owner may read them."""
    file.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600))
    return file
