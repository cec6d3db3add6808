"""What a real (pseudo-)terminal gets, and what a pipe gets instead."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable

from tests.waiting import PATIENCE_SECONDS

ENVIRONMENT = {**os.environ, "TERM": "xterm-256color"}
for unwanted in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "CI"):
    ENVIRONMENT.pop(unwanted, None)

CHECK = [sys.executable, "-m", "tidemark", "check", "-e", "SELECT FROM"]

# An unbounded query on a session without Spark.
LIVE = """
import sys
import typer
from tests.cli.fakes import FakeResult, FakeSession, inserts
from tidemark.cli.exit_codes import errors_as_exit_codes
from tidemark.cli.choices import ColorChoice
from tidemark.cli.run import run_scripts
from tidemark.cli.runner import Display
from tidemark.errors import Source

rows = inserts(*((n, f"row {n}") for n in range(50)))
try:
    with errors_as_exit_codes(ColorChoice.auto, debug=False) as terminal:
        session = FakeSession(FakeResult("query", changes=rows, endless=True))
        run_scripts(session, [], [Source("")], terminal, Display())
except typer.Exit as leaving:
    sys.exit(leaving.exit_code)
"""


class OnTerminal:
    """A program whose three streams are one pseudo-terminal of 80 columns and 24 lines."""

    def __init__(self, command: list[str], environment: dict[str, str] = ENVIRONMENT) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self._process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=environment, close_fds=True
        )
        os.close(slave)
        self.screen = ""

    def wait_for(self, condition: Callable[[str], bool], seconds: float = PATIENCE_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not condition(self.screen):
            assert time.monotonic() < deadline, self.screen
            assert self._process.poll() is None, self.screen
            self._read()

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def end(self) -> int:
        while self._process.poll() is None:
            self._read()
        self._read()
        os.close(self._master)
        return self._process.returncode

    def _read(self) -> None:
        ready, _, _ = select.select([self._master], [], [], 0.1)
        if ready:
            try:
                self.screen += os.read(self._master, 65536).decode()
            except OSError:  # the program has closed its side
                time.sleep(0.05)


def test_errors_are_colored_on_a_terminal():
    program = OnTerminal(CHECK)

    assert program.end() == 1
    assert "\x1b[1m<command line>:1:8\x1b[0m" in program.screen
    assert "\x1b[31m^^^^\x1b[0m" in program.screen


def test_errors_are_plain_in_a_pipe():
    done = subprocess.run(CHECK, capture_output=True, text=True, env=ENVIRONMENT)

    assert done.returncode == 1
    assert "\x1b" not in done.stderr + done.stdout


def test_no_color_is_respected_on_a_terminal():
    program = OnTerminal(CHECK, {**ENVIRONMENT, "NO_COLOR": "1"})

    program.end()
    assert "\x1b" not in program.screen


def test_color_can_be_forced_into_a_pipe():
    done = subprocess.run([*CHECK, "--color", "always"], capture_output=True, text=True)

    assert "\x1b[31m^^^^\x1b[0m" in done.stderr


def test_an_endless_query_is_live_and_ctrl_c_leaves_its_rows_and_a_summary():
    program = OnTerminal([sys.executable, "-c", LIVE])
    program.wait_for(lambda screen: "row 49" in screen and "Ctrl-C stops" in screen)

    program.signal(signal.SIGINT)

    assert program.end() == 130
    # 24 lines: header, rule, status, and one for the prompt; the newest 20 rows are in view.
    assert "row 30" in program.screen
    assert "row 29 " not in program.screen
    assert "stopped after 50 rows" in program.screen.splitlines()[-2]
    assert "SIGINT: stopping" in program.screen.splitlines()[-1]


def test_an_endless_query_in_a_pipe_writes_lines_and_sigterm_ends_it():
    program = subprocess.Popen(
        [sys.executable, "-c", LIVE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    lines = [program.stdout.readline() for _ in range(52)]

    program.terminate()
    rest, said = program.stdout.read(), program.stderr.read()

    assert program.wait(timeout=PATIENCE_SECONDS) == 143
    assert lines[2].split() == ["0", "│", "row", "0"]
    assert rest == ""
    assert "stopped after 50 rows" in said
    assert "\x1b" not in "".join(lines) + said


def test_a_reader_that_has_enough_ends_the_query_quietly():
    program = subprocess.Popen(
        [sys.executable, "-c", LIVE.replace("range(50)", "range(100_000)")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    program.stdout.readline()
    program.stdout.close()

    assert program.wait(timeout=PATIENCE_SECONDS) == 0
    assert program.stderr.read() == ""
