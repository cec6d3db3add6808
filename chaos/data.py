"""What is fed: orders and rates of a few keys, ten seconds of event time in each step.

Rows are out of order within a step, and never late: watermarks are a step behind. Then come rows
whose keys begin with `end`, some in each partition, and an hour later others that push all results
out: where a sink has all ends, it has everything before them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

PARTITIONS: Final = 3
STEPS: Final = 24
STEP_SECONDS: Final = 10
_KEYS: Final = [f"k{number}" for number in range(6)]
ENDS: Final = frozenset(f"end{number}" for number in range(PARTITIONS))
_FLUSH: Final = "flush"
_END_SECOND: Final = 2 * STEPS * STEP_SECONDS
_FLUSH_SECOND: Final = _END_SECOND + 3600


@dataclass(frozen=True, slots=True)
class Order:
    id: int
    k: str
    amount: int
    second: int


@dataclass(frozen=True, slots=True)
class Rate:
    k: str
    rate: int
    second: int


@dataclass(frozen=True, slots=True)
class Step:
    orders: tuple[Order, ...]
    rates: tuple[Rate, ...]


def partition_of(key: str) -> int:
    return int(key[-1]) % PARTITIONS


def is_result(key: str) -> bool:
    """Whether a row with this key is compared."""
    return not key.startswith(_FLUSH)


def time_of(second: int) -> str:
    return f"2024-05-01 {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


def steps(seed: int) -> list[Step]:
    """The same for the same seed."""
    chance = random.Random(seed)
    made = [_step(number, chance) for number in range(STEPS)]
    ends = [
        [
            Order(-2 * place - 1, key, 1, _END_SECOND + 1),
            Order(-2 * place - 2, key, 2, _END_SECOND + 2),
        ]
        for place, key in enumerate(sorted(ENDS))
    ]
    made.append(
        Step(
            tuple(order for both in ends for order in both),
            tuple(Rate(key, 7, _END_SECOND) for key in sorted(ENDS)),
        )
    )
    flushes = [f"{_FLUSH}{number}" for number in range(PARTITIONS)]
    made.append(
        Step(
            tuple(Order(-100 - place, key, 0, _FLUSH_SECOND) for place, key in enumerate(flushes)),
            tuple(Rate(key, 0, _FLUSH_SECOND) for key in flushes),
        )
    )
    return made


def _step(number: int, chance: random.Random) -> Step:
    start = number * STEP_SECONDS
    # Without rows of their own for a while, keys have sessions that end.
    busy = [key for key in _KEYS if chance.random() < 0.6]
    orders = [
        Order(
            number * 100 + 10 * place + nth,
            key,
            chance.randrange(50),
            start + chance.randrange(STEP_SECONDS),
        )
        for place, key in enumerate(busy)
        for nth in range(chance.randrange(1, 5))
    ]
    chance.shuffle(orders)
    return Step(tuple(orders), tuple(Rate(key, chance.randrange(100), start) for key in busy))
