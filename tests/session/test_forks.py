"""The Pythons that Spark starts on its driver are forks of a process that has loaded PySpark."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import wait_until
from tidemark.spark import ask_for_fork, forks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="nothing is forked elsewhere")

ASKED = """
import os, sys, time
if __name__ == "__main__":
    said = os.environ["SAID"]
    print(said, os.getcwd(), hasattr(sys, "loaded"), *sys.argv[1:], flush=True)
    if said == "wrong":
        raise ValueError("wrong indeed")
    if said == "ends":
        sys.exit(3)
    if said == "waits":
        print(os.getpid(), flush=True)
        time.sleep(600)
    print(sys.stdin.read(), end="")
"""
SERVER = """
import sys
from tidemark.spark import forks, worker_daemon
sys.loaded = True
forks.MODULES = ("asked",)
worker_daemon.load = lambda: None
forks.main()
"""
DRIVER = """
import sys
from tidemark.spark import forks
forks.start(*sys.argv[1:])
sys.stdin.read()
"""


class Driver:
    """A process with one that forks beside it, whose module says whether it is a fork."""

    def __init__(self, folder: Path) -> None:
        (folder / "asked.py").write_text(ASKED)
        (folder / "server.py").write_text(SERVER)
        python = folder / "python"
        python.write_text(f'#!/bin/sh\nexec {sys.executable} {folder}/server.py "$3"\n')
        python.chmod(0o700)
        self.socket = folder / "forks"
        path = f"{folder}:{os.environ.get('PYTHONPATH', '')}"
        of_spark = {"PYTHONUNBUFFERED": "YES", "PYTHONHASHSEED": "0"}
        self.environment = {**os.environ, **of_spark, "PYTHONPATH": path}
        self.process = subprocess.Popen(
            [sys.executable, "-c", DRIVER, python, self.socket],
            env=self.environment,
            stdin=subprocess.PIPE,
        )
        wait_until(self.socket.exists)

    def asking(self, said: str, folder: Path, **environment: str) -> subprocess.Popen[str]:
        asking = [sys.executable, "-I", "-S", ask_for_fork.__file__, str(self.socket)]
        return subprocess.Popen(
            [*asking, sys.executable, "-m", "asked", "an", "argument"],
            env={**self.environment, "SAID": said, **environment},
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ask(self, said: str, folder: Path, **environment: str) -> tuple[int, str, str]:
        asking = self.asking(said, folder, **environment)
        printed, error = asking.communicate("and its input\n")
        return asking.returncode, printed, error

    def end(self) -> None:
        self.process.communicate()


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[Driver]:
    driver = Driver(tmp_path)
    yield driver
    driver.end()


def printed(said: str, folder: Path, *, forked: bool) -> str:
    return f"{said} {folder} {forked} an argument\nand its input\n"


def test_a_fork_is_like_the_python_that_was_asked_for(driver, tmp_path):
    (tmp_path / "there").mkdir()

    there = printed("a\nb", tmp_path / "there", forked=True)
    assert driver.ask("a\nb", tmp_path / "there") == (0, there, "")
    assert driver.ask("c", tmp_path) == (0, printed("c", tmp_path, forked=True), "")


def test_a_fork_has_the_exit_status_of_its_module(driver, tmp_path):
    status, _, error = driver.ask("wrong", tmp_path)

    assert status == 1
    assert "ValueError: wrong indeed" in error
    assert driver.ask("ends", tmp_path)[0] == 3


@pytest.mark.parametrize("name", ["PYTHONHASHSEED", "OPENBLAS_NUM_THREADS", "LD_PRELOAD_OF_TEST"])
def test_a_python_that_would_load_something_else_is_not_a_fork(driver, tmp_path, name):
    not_forked = printed("a", tmp_path, forked=False)

    assert driver.ask("a", tmp_path, **{name: "7"}) == (0, not_forked, "")


def test_what_spark_sets_is_all_the_same(driver, tmp_path):
    path = f"/spark/spark-core.jar:{driver.environment['PYTHONPATH']}"
    of_spark = {"PYTHON_UDF_BATCH_SIZE": "100", "OMP_NUM_THREADS": "1"}

    forked = driver.ask("a", tmp_path, PYTHONPATH=path, **of_spark)
    not_forked = driver.ask("a", tmp_path, PYTHONPATH=f"/elsewhere:{path}")

    assert forked == (0, printed("a", tmp_path, forked=True), "")
    assert not_forked == (0, printed("a", tmp_path, forked=False), "")


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_fork_ends_with_who_asked_for_it_and_the_other_way_round(driver, tmp_path):
    first, second = (driver.asking("waits", tmp_path) for _ in range(2))
    processes = []
    for asking in (first, second):
        assert asking.stdout is not None
        asking.stdout.readline()
        processes.append(int(asking.stdout.readline()))

    first.kill()
    wait_until(lambda: not is_running(processes[0]))
    assert is_running(processes[1])

    os.kill(processes[1], signal.SIGKILL)
    assert second.wait(60) == 1
    for asking in (first, second):
        asking.communicate()


def test_there_are_no_forks_any_more_when_the_driver_has_ended(driver, tmp_path):
    driver.end()

    wait_until(lambda: driver.ask("a", tmp_path)[1] == printed("a", tmp_path, forked=False))


def test_the_modules_that_are_forked_can_be_run():
    for module in forks.MODULES:
        assert forks.file_of(module).endswith(".py")
