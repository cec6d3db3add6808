"""The tests in parts that take equally long, so that several processes run them side by side.

What belongs together stays together: the tests of a file, and the recorded cases of an area. How
long each such group takes is recorded in `durations.json`; `make test RECORD=1` records it anew.
"""

from __future__ import annotations

import heapq
import json
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

DURATIONS = Path(__file__).with_name("durations.json")


def recorded(path: Path = DURATIONS) -> dict[str, float]:
    """The seconds of each group."""
    seconds: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
    return seconds


def group_of(test: str) -> str:
    """The group of a test, by its node ID: its file, and the area if it is a recorded case."""
    file, _, name = test.partition("::")
    _, _, case = name.partition("[")
    if file.endswith("conformance/test_conformance.py") and "/" in case:
        return f"{file}::{case.partition('/')[0]}"
    return file


@dataclass(frozen=True, slots=True)
class Kinds:
    """The tests that begin the first part, because they give up on a busy machine; the light
    ones with which the others begin; and those that share a server, which is not to be started
    for each part."""

    undisturbed: Collection[str] = ()
    light: Collection[str] = ()
    sharing: Collection[str] = ()

    def turn(self, test: str) -> int:
        """When the test's turn is in its part. What a server needs may still be on its way."""
        if test in self.undisturbed:
            return 0
        if test in self.light:
            return 2 if test in self.sharing else 1
        return 3


def parts_of(
    guesses: Mapping[str, float],
    count: int,
    seconds: Mapping[str, float],
    kinds: Kinds = Kinds(),
) -> dict[str, int]:
    """The part of each group, from 0; the longest groups first, each to the part with least.

    `guesses` holds the seconds that each test may take, for groups without a measurement.
    The tests that run undisturbed are all in the first part, those that share a server all in the
    last one. Light ones are given out next, so each other part has at least as many seconds of
    them.
    """
    weights = {group: seconds.get(group, guess) for group, guess in summed(guesses).items()}
    undisturbed = {group_of(test) for test in kinds.undisturbed}
    heavy = {group_of(test) for test in guesses if test not in kinds.light}
    sharing = {group_of(test) for test in kinds.sharing}
    # In an order that is the same in each process, as the last digits of the totals depend on it.
    given = dict.fromkeys(sorted(sharing), count - 1) | dict.fromkeys(sorted(undisturbed), 0)
    totals = dict.fromkeys(range(count), 0.0)
    for group, part in given.items():
        totals[part] += weights[group]
    parts = [(total, part) for part, total in totals.items()]
    heapq.heapify(parts)
    others = weights.keys() - given.keys()
    for group in sorted(others, key=lambda group: (group in heavy, -weights[group], group)):
        total, part = heapq.heappop(parts)
        given[group] = part
        heapq.heappush(parts, (total + weights[group], part))
    return given


def of_part(
    guesses: Mapping[str, float],
    part: str,
    seconds: Mapping[str, float],
    kinds: Kinds = Kinds(),
) -> list[str]:
    """The tests of a part that is written as `1/2`, in the order in which they run."""
    number, _, count = part.partition("/")
    given = parts_of(guesses, int(count), seconds, kinds)
    ours = [test for test in guesses if given[group_of(test)] == int(number) - 1]
    return sorted(ours, key=kinds.turn)


def summed(tests: Mapping[str, float]) -> dict[str, float]:
    """The seconds of groups, from those of tests."""
    groups: Counter[str] = Counter()
    for test, seconds in tests.items():
        groups[group_of(test)] += seconds
    return {group: round(seconds, 1) for group, seconds in sorted(groups.items())}


def grown(before: Mapping[str, float], now: Mapping[str, float]) -> list[str]:
    """The groups that take half as long again as they did, and more than a moment."""
    return [
        f"{group}: {now[group]} s, {before[group]} s before"
        for group in sorted(now)
        if group in before and now[group] > max(1.5 * before[group], before[group] + 5)
    ]


def record(files: Iterable[Path], path: Path = DURATIONS) -> list[str]:
    """Write the seconds in the files down, and say what has grown."""
    now: dict[str, float] = {}
    for file in files:
        now |= recorded(file)
    found = grown(recorded(path), now)
    path.write_text(json.dumps(dict(sorted(now.items())), indent=0) + "\n", encoding="utf-8")
    return found


if __name__ == "__main__":
    print(*record(map(Path, sys.argv[1:])), sep="\n")
