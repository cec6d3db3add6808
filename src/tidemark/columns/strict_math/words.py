"""Doubles as their bits: the high word has the sign, the exponent and 20 bits of the fraction."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Doubles: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]

_LOW = 0xFFFFFFFF
_SIGN = 0x7FFFFFFF


def high(x: Doubles) -> Integers:
    """The high words, with their signs."""
    return x.view(np.int64) >> 32


def magnitude(x: Doubles) -> Integers:
    """The high words without signs: they are in the order of the numbers without signs."""
    return high(x) & _SIGN


def with_high(x: Doubles, word: Integers) -> Doubles:
    """The numbers with other high words."""
    return ((word << 32) | (x.view(np.int64) & _LOW)).view(np.float64)


def of_high(word: Integers) -> Doubles:
    """The numbers with these high words, and zeros in the low ones."""
    return (word << 32).view(np.float64)


def rough(x: Doubles) -> Doubles:
    """The numbers without their low words, whose products with each other are exact."""
    return of_high(high(x))


def scaled(x: Doubles, exponent: Integers) -> Doubles:
    """The numbers times powers of two, for results that are not subnormal."""
    return (x.view(np.int64) + (exponent << 52)).view(np.float64)


def polynomial(x: Doubles, *coefficients: float) -> Doubles:
    """The coefficients of ascending powers, computed from the highest one down."""
    *rest, last = coefficients
    total = np.full_like(x, last)
    for coefficient in reversed(rest):
        total = coefficient + x * total
    return total
