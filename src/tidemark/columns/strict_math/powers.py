"""Numbers raised to powers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidemark.columns.strict_math.exponentials import EXPONENTIAL
from tidemark.columns.strict_math.words import (
    Doubles,
    Integers,
    high,
    magnitude,
    of_high,
    polynomial,
    rough,
    scaled,
    with_high,
)

_ATANH = (
    5.99999999999994648725e-01,
    4.28571428578550184252e-01,
    3.33333329818377432918e-01,
    2.72728123808534006489e-01,
    2.30660745775561754067e-01,
    2.06975017800338417784e-01,
)
_LOG2_OF_BASE = (0.0, 5.84962487220764160156e-01), (0.0, 1.35003920212974897128e-08)
_LN2, _LN2_HIGH, _LN2_LOW = (
    6.93147180559945286227e-01,
    6.93147182464599609375e-01,
    -1.90465429995776804525e-09,
)
# 2 / (3 ln 2), and 1 / ln 2.
_CP, _CP_HIGH, _CP_LOW = (
    9.61796693925975554329e-01,
    9.61796700954437255859e-01,
    -7.02846165095275826516e-09,
)
_PER_LN2, _PER_LN2_HIGH, _PER_LN2_LOW = (
    1.44269504088896338700e00,
    1.44269502162933349609e00,
    1.92596299112661746887e-08,
)
_OVERFLOW = 8.0085662595372944372e-17
_ONE, _FRACTION, _UNIT = 0x3FF00000, 0xFFFFF, 0x00100000


class _Sum(NamedTuple):
    """A number as a sum of two, the first of which has no low word."""

    first: Doubles
    second: Doubles


def power(x: Doubles, y: Doubles) -> Doubles:
    """Each first number raised to the power of the second."""
    base = np.abs(x)
    huge = magnitude(y) > 0x41E00000
    near, far = _log2_of_nearly_one(base), _log2(base)
    log2 = _Sum(np.where(huge, near.first, far.first), np.where(huge, near.second, far.second))
    result = _exp2_of_product(y, log2)
    size = magnitude(x)
    grows = np.where(y > 0, np.inf, 0.0)
    result = np.where(huge & (size > _ONE), grows, result)
    result = np.where(huge & (size < _ONE - 1), np.where(y < 0, np.inf, 0.0), result)
    huger = magnitude(y) > 0x43F00000
    result = np.where(huger, np.where(size >= _ONE, grows, np.where(y < 0, np.inf, 0.0)), result)
    return _with_limits(x, y, result)


def _with_limits(x: Doubles, y: Doubles, result: Doubles) -> Doubles:
    """The powers of all numbers, given those of positive ones."""
    base = np.abs(x)
    easy = (base == 0) | (base == 1) | np.isinf(base)
    result = np.where(easy, np.where(y < 0, 1.0 / base, base), result)
    whole = np.floor(y) == y
    odd = whole & (np.abs(np.fmod(y, 2.0)) == 1)
    negative = high(x) < 0
    result = np.where(negative & odd, -result, result)
    result = np.where((x < 0) & ~whole & np.isfinite(x), np.nan, result)
    result = np.where((y == 0.5) & ~negative, np.sqrt(x), result)
    result = np.where(y == 2, x * x, np.where(y == 1, x, np.where(y == -1, 1.0 / x, result)))
    at_the_end = np.where(base == 1, np.nan, np.where((base > 1) == (y > 0), np.inf, 0.0))
    result = np.where(np.isinf(y), at_the_end, result)
    return np.where(y == 0, 1.0, np.where(np.isnan(x) | np.isnan(y), np.nan, result))


def _log2_of_nearly_one(base: Doubles) -> _Sum:
    t = base - 1.0
    w = (t * t) * (0.5 - t * (0.3333333333333333333333 - t * 0.25))
    u = _PER_LN2_HIGH * t
    v = t * _PER_LN2_LOW - w * _PER_LN2
    first = rough(u + v)
    return _Sum(first, v - (first - u))


def _log2(base: Doubles) -> _Sum:
    subnormal = magnitude(base) < _UNIT
    base = np.where(subnormal, base * 2.0**53, base)
    word = magnitude(base)
    count = np.where(subnormal, -53, 0) + (word >> 20) - 0x3FF
    fraction = word & _FRACTION
    # The base is reduced to a number near 1 or near 1.5.
    above = ((fraction > 0x3988E) & (fraction < 0xBB67A)).astype(np.int64)
    carried = (fraction >= 0xBB67A).astype(np.int64)
    count, word = count + carried, (fraction | _ONE) - carried * _UNIT
    return _log2_of_reduced(with_high(base, word), word, above, count.astype(np.float64))


def _log2_of_reduced(base: Doubles, word: Integers, above: Integers, count: Doubles) -> _Sum:
    reference = 1.0 + 0.5 * above
    u, v = base - reference, 1.0 / (base + reference)
    s = u * v
    s_high = rough(s)
    t_high = of_high(((word >> 1) | 0x20000000) + 0x00080000 + (above << 18))
    t_low = base - (t_high - reference)
    s_low = v * ((u - s_high * t_high) - s_high * t_low)
    square = s * s
    r = square * square * polynomial(square, *_ATANH) + s_low * (s_high + s)
    square = s_high * s_high
    t_high = rough(3.0 + square + r)
    t_low = r - ((t_high - 3.0) - square)
    u, v = s_high * t_high, s_low * t_high + t_low * s
    p_high = rough(u + v)
    p_low = v - (p_high - u)
    known, known_low = (np.choose(above, each) for each in _LOG2_OF_BASE)
    z_high = _CP_HIGH * p_high
    z_low = _CP_LOW * p_high + p_low * _CP + known_low
    first = rough(((z_high + z_low) + known) + count)
    return _Sum(first, z_low - (((first - count) - known) - z_high))


def _exp2_of_product(y: Doubles, log2: _Sum) -> Doubles:
    y_high = rough(y)
    low = (y - y_high) * log2.first + y * log2.second
    whole = y_high * log2.first
    z = low + whole
    result = _exp2(low, whole, z)
    too_large = (z > 1024) | ((z == 1024) & (low + _OVERFLOW > z - whole))
    too_small = (z < -1075) | ((z == -1075) & (low <= z - whole))
    return np.where(too_large, np.inf, np.where(too_small, 0.0, result))


def _exp2(low: Doubles, whole: Doubles, z: Doubles) -> Doubles:
    """Two raised to `z`, which is the sum of the others."""
    rounded, count = _rounded(z)
    whole = whole - rounded
    t = rough(low + whole)
    u = t * _LN2_HIGH
    v = (low - (t - whole)) * _LN2 + t * _LN2_LOW
    z = u + v
    w = v - (z - u)
    square = z * z
    t = z - square * polynomial(square, *EXPONENTIAL)
    r = (z * t) / (t - 2.0) - (w + z * w)
    z = 1.0 - (r - z)
    subnormal = (high(z) + (count << 20)) >> 20 <= 0
    scaled_down = scaled(z, np.where(subnormal, count + 54, count)) * 2.0**-54
    return np.where(subnormal, scaled_down, scaled(z, count))


def _rounded(z: Doubles) -> tuple[Doubles, Integers]:
    """The whole numbers nearest to the high words, as doubles and as integers."""
    word, size = high(z), magnitude(z)
    exponent = np.clip((size >> 20) - 0x3FF, -1, 12)
    raised = word + (_UNIT >> (exponent + 1))
    exponent = np.clip(((raised & 0x7FFFFFFF) >> 20) - 0x3FF, 0, 20)
    rounded = of_high(raised & ~(_FRACTION >> exponent))
    count = ((raised & _FRACTION) | _UNIT) >> (20 - exponent)
    some = size > 0x3FE00000
    signed = np.where(word < 0, -count, count)
    return np.where(some, rounded, 0.0), np.where(some, signed, 0)
