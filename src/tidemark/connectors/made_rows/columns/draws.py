"""Random bits: each word is a function of a seed, the path of its value and the value's number.

A row that is made again, after a restart or by another task, has the same values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

Words: TypeAlias = npt.NDArray[np.uint64]
Bytes: TypeAlias = npt.NDArray[np.uint8]

# SplitMix64, by Steele, Lea and Flood: the step between the states, and how a state is mixed.
_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX: Final = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_LAST_SHIFT: Final = np.uint64(31)
# Numbers of elements follow from those of their rows by another odd factor.
_OF_ELEMENTS: Final = np.uint64(0xD1B54A32D192ED03)
_BYTES: Final = 8  # of a word


@dataclass(frozen=True, slots=True)
class Draws:
    """The random values of one path, `fields.<path>`: one for each of these numbers."""

    path: str
    seed: str
    numbers: Words

    def field(self, name: str) -> Draws:
        """Those of a field of each row."""
        return Draws(f"{self.path}.{name}", self.seed, self.numbers)

    def elements(self, name: str, count: int) -> Draws:
        """Those of `count` elements of each collection, one after the other."""
        places = np.tile(np.arange(count, dtype=np.uint64), len(self.numbers))
        numbers = np.repeat(self.numbers, count) * _OF_ELEMENTS + places
        return Draws(f"{self.path}.{name}", self.seed, numbers)

    def words(self, use: str = "") -> Words:
        """A random word for each value. Those for another use are others."""
        return _mixed(self.numbers * _STEP + self._start(use))

    def fractions(self, use: str = "") -> npt.NDArray[np.float64]:
        """From 0 to 1, exclusive."""
        return (self.words(use) >> np.uint64(11)) / 2.0**53

    def bytes(self, count: int) -> Bytes:
        """`count` random bytes for each value."""
        places = np.arange(-(-count // _BYTES), dtype=np.uint64)
        states = (self.numbers * _STEP)[:, None] + _mixed(places * _STEP + self._start("bytes"))
        found: Bytes = _mixed(states).astype("<u8").view(np.uint8)
        return found[:, :count]

    def digits(self, count: int) -> Bytes:
        """`count` random hexadecimal digits for each value, in ASCII."""
        pairs = self.bytes(-(-count // 4) * 2)  # two bytes are four digits
        found: Bytes = _four_digits()[np.ascontiguousarray(pairs).view("<u2")].view(np.uint8)
        return found[:, :count]

    def _start(self, use: str) -> np.uint64:
        text = f"{self.seed} {self.path} {use}".encode()
        return np.uint64(int.from_bytes(blake2b(text, digest_size=_BYTES).digest(), "little"))


def _mixed(states: Words) -> Words:
    for shift, factor in _MIX:
        states = (states ^ (states >> np.uint64(shift))) * np.uint64(factor)
    return states ^ (states >> _LAST_SHIFT)


@lru_cache(1)
def _four_digits() -> npt.NDArray[np.uint32]:
    """The hexadecimal digits of each pair of bytes."""
    return np.frombuffer(b"".join(b"%04x" % pair for pair in range(1 << 16)), dtype=np.uint32)
