"""What is killed, and how it comes back.

The job and what belongs to it is started again by whoever watches it; a server by whoever kills it,
after a moment.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from chaos.job import Job
from servers.processes import Process, ServerProcess, start_again
from servers.spark_cluster import SparkCluster

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


def kills_of(
    job: Job,
    servers: Mapping[str, ServerProcess],
    disk: Disk | None,
    cluster: SparkCluster | None = None,
) -> Kills:
    def python_workers() -> Sequence[Process]:
        if cluster is not None:
            return cluster.python_workers()
        return [p for p in job.processes() if p.is_python and p.pid != job.pid]

    def jvms() -> Sequence[Process]:
        return [p for p in job.processes() if p.is_jvm]

    found: dict[str, Callable[[random.Random], bool]] = {
        "job": lambda chance: _kill_all(job),
        "worker": lambda chance: _kill_one(python_workers(), chance),
        "jvm": lambda chance: _kill_one(jvms(), chance),
        **{
            name: lambda chance, server=server: _kill_server(server, chance)  # type: ignore[misc]
            for name, server in servers.items()
        },
    }
    if cluster is not None:
        machines = cluster.workers
        found["executor"] = lambda chance: _kill_one(cluster.executors(), chance)
        found["machine"] = lambda chance: _kill_server(chance.choice(machines), chance)
    if disk is not None:
        found["disk"] = lambda chance: _fill(disk)
    return Kills(found)


def _kill_all(job: Job) -> bool:
    there = bool(job.processes())
    job.kill()
    return there


def _kill_one(found: Sequence[Process], chance: random.Random) -> bool:
    if not found:
        return False
    chance.choice(found).kill()
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
