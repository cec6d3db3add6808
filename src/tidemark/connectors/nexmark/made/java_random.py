"""The numbers that Java's SplittableRandom makes of a seed."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

_STEP: Final = 0x9E3779B97F4A7C15
_FACTORS: Final = ((33, 0x62A9D9ED799705F5), (28, 0xCB24D0A5C88C35B3))
_ALL: Final = 1 << 64


def java_ints(seed: int, count: int) -> npt.NDArray[np.int32]:
    """What `nextInt()` returns, one call after the other."""
    states = (np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_STEP)) + np.uint64(seed % _ALL)
    for shift, factor in _FACTORS:
        states = (states ^ (states >> np.uint64(shift))) * np.uint64(factor)
    return (states >> np.uint64(32)).astype(np.uint32).view(np.int32)


def java_bounded(draws: npt.NDArray[np.int32], bound: int) -> npt.NDArray[np.int64]:
    """What `nextInt(bound)` makes of draws, but for one in many millions, which it rejects."""
    if bound & (bound - 1) == 0:
        return draws.astype(np.int64) & (bound - 1)
    return (draws.view(np.uint32) >> np.uint32(1)).astype(np.int64) % bound
