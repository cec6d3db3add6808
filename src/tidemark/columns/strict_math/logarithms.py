"""Logarithms to the bases e and ten."""

from __future__ import annotations

import numpy as np

from tidemark.columns.strict_math.exponentials import LN2_HIGH, LN2_LOW
from tidemark.columns.strict_math.words import (
    Doubles,
    Integers,
    high,
    polynomial,
    with_high,
)

_ODD = (
    6.666666666666735130e-01,
    2.857142874366239149e-01,
    1.818357216161805012e-01,
    1.479819860511658591e-01,
)
_EVEN = (3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01)
_PER_LN10 = 4.34294481903251816668e-01
_LOG10_2_HIGH, _LOG10_2_LOW = 3.01029995663611771306e-01, 3.69423907715893078616e-13
_FRACTION, _ONE = 0xFFFFF, 0x3FF00000


def _normal(x: Doubles) -> tuple[Integers, Doubles]:
    """Positive numbers that are not subnormal, and the exponents that they lack."""
    subnormal = high(x) < 0x00100000
    return np.where(subnormal, -54, 0), np.where(subnormal, x * 2.0**54, x)


def _defined(x: Doubles, result: Doubles) -> Doubles:
    """The logarithms of positive numbers, and what others have."""
    result = np.where(np.isposinf(x) | np.isnan(x), x, result)
    return np.where(x == 0, -np.inf, np.where(x < 0, np.nan, result))


def log(x: Doubles) -> Doubles:
    """The logarithms to the base e."""
    exponent, normal = _normal(x)
    word = high(normal)
    fraction = word & _FRACTION
    above = (fraction + 0x95F64) & 0x100000
    count = (exponent + (word >> 20) - 1023 + (above >> 20)).astype(np.float64)
    f = with_high(normal, fraction | (above ^ _ONE)) - 1.0
    near = (_FRACTION & (2 + fraction)) < 3
    return _defined(x, np.where(near, _of_nearly_one(f, count), _of_others(f, count, fraction)))


def _of_nearly_one(f: Doubles, count: Doubles) -> Doubles:
    r = f * f * (0.5 - 0.33333333333333333 * f)
    shifted = count * LN2_HIGH - ((r - count * LN2_LOW) - f)
    power_of_two = np.where(count == 0, 0.0, count * LN2_HIGH + count * LN2_LOW)
    return np.where(f == 0, power_of_two, np.where(count == 0, f - r, shifted))


def _of_others(f: Doubles, count: Doubles, fraction: Integers) -> Doubles:
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    r = z * polynomial(w, *_ODD) + w * polynomial(w, *_EVEN)
    half = 0.5 * f * f
    long = np.where(
        count == 0,
        f - (half - s * (half + r)),
        count * LN2_HIGH - ((half - (s * (half + r) + count * LN2_LOW)) - f),
    )
    short = np.where(
        count == 0, f - s * (f - r), count * LN2_HIGH - ((s * (f - r) - count * LN2_LOW) - f)
    )
    return np.where(((fraction - 0x6147A) | (0x6B851 - fraction)) > 0, long, short)


def log10(x: Doubles) -> Doubles:
    """The logarithms to the base ten."""
    exponent, normal = _normal(x)
    word = high(normal)
    count = exponent + (word >> 20) - 1023
    below = (count < 0).astype(np.int64)
    y = (count + below).astype(np.float64)
    reduced = with_high(normal, (word & _FRACTION) | ((0x3FF - below) << 20))
    z = y * _LOG10_2_LOW + _PER_LN10 * log(reduced)
    return _defined(x, z + y * _LOG10_2_HIGH)
