"""One play of a scenario: fed step by step, disturbed by kills, and read in the end."""

from __future__ import annotations

import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from chaos.data import Step, steps
from chaos.job import GivenUp, Job
from chaos.kills import Disk, Kills, kills_of
from chaos.scenarios import SCENARIOS
from chaos.scenarios.played import Played
from chaos.world import Place, World
from servers.processes import start_again
from tidemark.storage import Location

Contents = Mapping[str, Counter[str]]

# Between two kills, at most.
_LONGEST_PAUSE: Final = 14.0
# A job that gets nothing done for so long has failed.
_PATIENCE: Final = 300.0
# A server that runs and does not answer for so long is started again.
_SERVER_PATIENCE: Final = 20.0
_DATA_SEED: Final = 1


@dataclass
class Outcome:
    contents: Contents
    kills: Counter[str] = field(default_factory=Counter)
    starts: int = 0


class Failed(Exception):
    """A play that did not end as it should."""


@dataclass
class Play:
    name: str
    played: Played
    job: Job
    kills: Kills
    done: Counter[str] = field(default_factory=Counter)
    _silent: dict[str, float] = field(default_factory=dict)

    def watch(self, seconds: float, until: Callable[[], bool] = lambda: False) -> bool:
        """See that everything runs, for so long or until something has happened."""
        deadline = time.monotonic() + seconds
        while not until():
            if time.monotonic() > deadline:
                return False
            self.job.see_that_it_runs()
            self._see_that_servers_answer()
            time.sleep(0.1)
        return True

    def _see_that_servers_answer(self) -> None:
        """As whoever operates them would: Debezium gives up where its database is away too long."""
        source = self.played.servers.get("connect")
        if source is None or source.serves():
            self._silent.clear()
            return
        since = self._silent.setdefault("connect", time.monotonic())
        if time.monotonic() - since > _SERVER_PATIENCE:
            source.kill()
            start_again(source)
            self._silent.clear()

    def kill(self, what: str, chance: random.Random) -> None:
        if chance.random() < 0.5:
            # Most of what can go wrong goes wrong within a micro-batch.
            self.watch(_LONGEST_PAUSE, self.job.is_in_a_micro_batch)
            time.sleep(chance.uniform(0, 1))
        self.job.excuse()
        # A job that has just been started has no workers yet.
        if self.watch(_LONGEST_PAUSE, lambda: self.kills.by_name[what](chance)):
            self.done[what] += 1

    def finish(self) -> Contents:
        """What the sinks have when they have everything, and the job has been stopped."""
        complete = self.watch(_PATIENCE, self._is_complete)
        if not complete:
            raise Failed(f"not everything came out\n{self.job.last_words()}")
        self.job.stop()
        return {name: sink.contents() for name, sink in self.played.sinks.items()}

    def _is_complete(self) -> bool:
        time.sleep(0.5)  # to look takes a while itself
        with suppress(FileNotFoundError):  # a micro-batch that comes again replaces its files
            return all(sink.is_complete() for sink in self.played.sinks.values())
        return False


def play(world: World, name: str, seed: int | None, count: int, place: Place) -> Outcome:
    """Play a scenario with so many kills; without a seed, nothing disturbs it."""
    folder = world.folder / f"{name}-{'undisturbed' if seed is None else seed}"
    folder.mkdir()
    with ExitStack() as ends:
        disk = ends.enter_context(small_disk(folder / "state"))
        ready = SCENARIOS[name](world, folder, ends)
        script = folder / "job.sql"
        script.write_text(ready.script)
        own = Location.of(folder / "state")
        checkpoint = own if place.checkpoints is None else place.checkpoints / folder.name
        job = Job(script, checkpoint / "checkpoint", folder / "job.log", place.settings)
        ends.callback(job.kill)
        # A full disk only concerns a job that keeps something there.
        full = disk if place.checkpoints is None else None
        one = Play(name, ready, job, kills_of(job, ready.servers, full, place.cluster))
        try:
            for _ in _disturbed(one, seed, count):
                world.reconnect()
            return Outcome(one.finish(), one.done, job.starts)
        except (GivenUp, AssertionError) as problem:
            raise Failed(f"{problem}\n{job.last_words()}") from problem


def _disturbed(one: Play, seed: int | None, count: int) -> Iterator[None]:
    """Feed all steps, and kill in between."""
    fed = enumerate(steps(_DATA_SEED))
    if seed is None:
        _feed(one, fed, None)
        return
    chance = random.Random(seed)
    names = one.kills.names()
    # Each kind of kill once before any comes again.
    order = [
        name for _ in range(count // len(names) + 1) for name in chance.sample(names, len(names))
    ]
    total = len(steps(_DATA_SEED))
    for place in range(count):
        _feed(one, fed, chance.randrange(2 * total // (count + 1)))
        one.watch(chance.uniform(0, _LONGEST_PAUSE))
        one.kill(order[place], chance)
        yield
    _feed(one, fed, None)


def _feed(one: Play, fed: Iterator[tuple[int, Step]], count: int | None) -> None:
    """So many steps, or all that are left."""
    while count is None or count > 0:
        following = next(fed, None)
        if following is None:
            return
        one.played.feed(*following)
        one.watch(0.3)
        count = None if count is None else count - 1


@contextmanager
def small_disk(folder: Path) -> Iterator[Disk | None]:
    """A folder with a disk of its own; None where this user may not mount one."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode:
        yield None
        return
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
