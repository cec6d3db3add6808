"""`python -m chaos`: plays seeds and compares the sinks; see `--help`."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from chaos.play import Contents, Failed, play
from chaos.scenarios import SCENARIOS
from chaos.world import Place, World
from servers.missing import Missing


def main() -> int:
    asked = _parser().parse_args()
    # Whoever ends it ends its jobs and servers, too, which are in sessions of their own.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended before all seeds were played"))
    folder = Path(tempfile.mkdtemp(prefix="tidemark-chaos-"))
    failed = 0
    total: Counter[str] = Counter()
    with ExitStack() as servers:
        world = World(folder, servers)
        place = world.on_cluster if asked.cluster else world.here
        for name in asked.scenarios:
            for line, kills, fine in _seeds(world, name, asked, place):
                print(line, flush=True)
                total += kills
                failed += not fine
    print(f"{total.total()} kills ({_listed(total)}), {failed} plays failed")
    if failed:
        print(f"logs and checkpoints are in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed else 0


def _seeds(
    world: World, name: str, asked: argparse.Namespace, place: Place
) -> Iterator[tuple[str, Counter[str], bool]]:
    try:
        expected = play(world, name, None, 0, place).contents
    except Failed as problem:
        yield f"{name}, although nothing is killed: {problem}", Counter(), False
        return
    yield f"{name}: {_rows(expected)} where nothing is killed", Counter(), True
    for seed in asked.seeds:
        started = time.monotonic()
        try:
            outcome = play(world, name, seed, asked.kills, place)
        except Failed as problem:
            yield f"{name}, seed {seed}: {problem}", Counter(), False
            continue
        said = _difference(expected, outcome.contents) or "all sinks are equal"
        yield (
            f"{name}, seed {seed}: {_listed(outcome.kills)}, {outcome.starts} starts, "
            f"{time.monotonic() - started:.0f} s: {said}",
            outcome.kills,
            said == "all sinks are equal",
        )


def _difference(expected: Contents, found: Contents) -> str | None:
    """The first rows that are too few or too many in the first sink that differs."""
    for name, rows in expected.items():
        missing, added = rows - found[name], found[name] - rows
        if missing or added:
            some = {"missing": [*missing.elements()][:5], "added": [*added.elements()][:5]}
            return f"{name} has {missing.total()} rows too few, {added.total()} too many: {some}"
    return None


def _rows(contents: Contents) -> str:
    return ", ".join(f"{name} {rows.total()} rows" for name, rows in contents.items())


def _listed(kills: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(kills.items())) or "nothing killed"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m chaos",
        description="Kill what jobs need, and compare what they write with an undisturbed run.",
        epilog="example: python -m chaos --scenarios topics --seeds 7 --kills 6",
    )
    parser.add_argument("--scenarios", nargs="+", choices=SCENARIOS, default=[*SCENARIOS])
    parser.add_argument("--seeds", type=_numbers, default=range(1, 6), help="7, or 1-5 (default)")
    parser.add_argument("--kills", type=int, default=6, help="in each play (default 6)")
    parser.add_argument(
        "--cluster",
        action="store_true",
        help="on a standalone cluster of three machines, which are killed too, with checkpoints in "
        "a bucket",
    )
    return parser


def _numbers(value: str) -> range:
    first, _, last = value.partition("-")
    return range(int(first), int(last or first) + 1)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Missing as missing:
        sys.exit(f"make chaos: {missing}")
