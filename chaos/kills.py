"""What is killed, and how it comes back.

The job and what belongs to it is started again by whoever watches it; a server by whoever kills it,
after a moment.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from chaos.job import Job, Process, kill_process
from servers.processes import ServerProcess, start_again

# A server is away for so many seconds at most.
_LONGEST_ABSENCE: Final = 4.0
# Filled disks are full for so long.
_FULL_SECONDS: Final = 6.0


@dataclass(frozen=True)
class Kills:
    """By name, what does it. Says whether there was something to kill."""

    by_name: Mapping[str, Callable[[random.Random], bool]]

    def names(self) -> list[str]:
        return sorted(self.by_name)


def kills_of(job: Job, servers: Mapping[str, ServerProcess], disk: Disk | None) -> Kills:
    found: dict[str, Callable[[random.Random], bool]] = {
        "job": lambda chance: _kill_all(job),
        "worker": lambda chance: _kill_one(
            job, chance, lambda p: p.is_python() and p.pid != job.pid
        ),
        "jvm": lambda chance: _kill_one(job, chance, Process.is_jvm),
        **{
            name: lambda chance, server=server: _kill_server(server, chance)  # type: ignore[misc]
            for name, server in servers.items()
        },
    }
    if "cluster" in job.settings.get("spark.master", ""):
        found["executor"] = lambda chance: _kill_one(job, chance, Process.is_executor)
    if disk is not None:
        found["disk"] = lambda chance: _fill(disk)
    return Kills(found)


def _kill_all(job: Job) -> bool:
    there = bool(job.processes())
    job.kill()
    return there


def _kill_one(job: Job, chance: random.Random, fits: Callable[[Process], bool]) -> bool:
    found = [process for process in job.processes() if fits(process)]
    if not found:
        return False
    kill_process(chance.choice(found))
    return True


def _kill_server(server: ServerProcess, chance: random.Random) -> bool:
    server.kill()
    time.sleep(chance.uniform(0, _LONGEST_ABSENCE))
    start_again(server)
    return True


@dataclass(frozen=True, slots=True)
class Disk:
    """A small one, in memory, that can be filled."""

    folder: Path

    @contextmanager
    def full(self) -> Iterator[None]:
        filler = self.folder / "filler"
        try:
            with filler.open("wb", buffering=0) as file:
                _write_until_full(file.write)
                yield
        finally:
            filler.unlink(missing_ok=True)


def _write_until_full(write: Callable[[bytes], int | None]) -> None:
    for size in (1 << 20, 1 << 12, 1):
        try:
            while write(b"\0" * size):
                pass
        except OSError:
            continue


def _fill(disk: Disk) -> bool:
    with disk.full():
        time.sleep(_FULL_SECONDS)
    return True
