"""What Spark starts for each stateful operator is forked from a process that has loaded PySpark."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import wait_until
from tidemark.spark import ask_for_fork, forks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="nothing is forked elsewhere")

ASKED = """
import os, sys
if __name__ == "__main__":
    print(os.environ["SAID"], os.getcwd(), hasattr(sys, "loaded"), file=sys.stderr)
    if os.environ["SAID"] == "wrong":
        raise ValueError("wrong indeed")
"""
SERVER = """
import sys, asked
from tidemark.spark import forks
sys.loaded = True
forks.MODULE = "asked"
forks.serve_beside()
print("ready", flush=True)
sys.stdin.read()
"""


class Server:
    """A process with forks beside it, whose module says whether it was loaded before."""

    def __init__(self, folder: Path) -> None:
        (folder / "asked.py").write_text(ASKED)
        self.socket = folder / "forks"
        path = f"{folder}:{os.environ.get('PYTHONPATH', '')}"
        self.environment = {**os.environ, "PYTHONPATH": path, forks.SOCKET: str(self.socket)}
        self.process = self.start()

    def start(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            env=self.environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        return process

    def ask(self, said: str, folder: Path, **environment: str) -> tuple[int, str]:
        asking = [sys.executable, "-I", "-S", ask_for_fork.__file__, str(self.socket)]
        done = subprocess.run(
            [*asking, sys.executable, "-m", "asked"],
            env={**self.environment, "SAID": said, **environment},
            cwd=folder,
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stderr

    def end(self) -> None:
        self.process.communicate()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    yield server
    server.end()


def test_a_fork_has_the_environment_and_folder_of_who_asks(server, tmp_path):
    (tmp_path / "there").mkdir()

    assert server.ask("a\nb", tmp_path / "there") == (0, f"a\nb {tmp_path}/there True\n")
    assert server.ask("c", tmp_path) == (0, f"c {tmp_path} True\n")


def test_a_fork_that_fails_says_why(server, tmp_path):
    status, said = server.ask("wrong", tmp_path)

    assert status == 1
    assert "ValueError: wrong indeed" in said


def test_who_has_other_modules_loads_them(server, tmp_path):
    other = f"{server.environment['PYTHONPATH']}:/elsewhere"

    assert server.ask("a", tmp_path, PYTHONPATH=other) == (0, f"a {tmp_path} False\n")


def test_nobody_is_forked_any_more_when_the_process_has_ended(server, tmp_path):
    second = server.start()  # for which the first one answers
    second.communicate()
    assert server.ask("a", tmp_path) == (0, f"a {tmp_path} True\n")
    server.end()

    wait_until(lambda: server.ask("a", tmp_path) == (0, f"a {tmp_path} False\n"))
