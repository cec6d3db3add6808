"""Powers of e, and the hyperbolic functions that are made of them."""

from __future__ import annotations

import numpy as np

from tidemark.columns.strict_math.words import (
    Doubles,
    Integers,
    magnitude,
    polynomial,
    scaled,
)

LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
_PER_LN2 = 1.44269504088896338700e00
_MOST = 7.09782712893383973096e02
_LEAST = -7.45133219101941108420e02
# Of x - x * (1 - 2 / (exp(x) + 1)), by the square of x.
EXPONENTIAL = (
    1.66666666666666019037e-01,
    -2.77777777770155933842e-03,
    6.61375632143793436117e-05,
    -1.65339022054652515390e-06,
    4.13813679705723846039e-08,
)
_MINUS_ONE = (
    1.0,
    -3.33333333333331316428e-02,
    1.58730158725481460165e-03,
    -7.93650757867487942473e-05,
    4.00821782732936239552e-06,
    -2.01099218183624371326e-07,
)
# High words of numbers at which the algorithms change.
_HALF_LN2, _LN2_AND_HALF, _56_LN2 = 0x3FD62E42, 0x3FF0A2B2, 0x4043687A
_TWENTY_TWO, _NEARLY_MOST = 0x40360000, 0x40862E42
_MOST_HYPERBOLIC = 710.4758600739439


def _reduced(x: Doubles) -> tuple[Integers, Doubles, Doubles]:
    """Multiples of ln 2, and what is left of the numbers, in two parts to subtract."""
    size, sign = magnitude(x), np.copysign(1.0, x)
    near = size < _LN2_AND_HALF
    counted = np.clip(_PER_LN2 * x + np.copysign(0.5, x), -5000, 5000)
    count = np.where(near, sign, np.trunc(np.nan_to_num(counted)))
    count = np.where(size > _HALF_LN2, count, 0.0)
    return count.astype(np.int64), x - count * LN2_HIGH, count * LN2_LOW


def exp(x: Doubles) -> Doubles:
    """The number e raised to each number."""
    count, upper, lower = _reduced(x)
    rest = np.where(count == 0, x, upper - lower)
    square = rest * rest
    c = rest - square * polynomial(square, *EXPONENTIAL)
    whole = 1.0 - ((rest * c) / (c - 2.0) - rest)
    shifted = 1.0 - ((lower - (rest * c) / (2.0 - c)) - upper)
    normal = scaled(shifted, count)
    subnormal = scaled(shifted, count + 1000) * 2.0**-1000
    result = np.where(count == 0, whole, np.where(count >= -1021, normal, subnormal))
    result = np.where(magnitude(x) < 0x3E300000, 1.0 + x, result)
    return np.where(np.isnan(x), x, np.where(x > _MOST, np.inf, np.where(x < _LEAST, 0.0, result)))


def expm1(x: Doubles) -> Doubles:
    """The number e raised to each number, minus one."""
    size = magnitude(x)
    count, upper, lower = _reduced(x)
    rest = np.where(count == 0, x, upper - lower)
    lost = (upper - rest) - lower
    half = 0.5 * rest
    square = rest * half
    r = polynomial(square, *_MINUS_ONE)
    t = 3.0 - r * half
    e = square * ((r - t) / (6.0 - rest * t))
    result = np.where(
        count == 0, rest - (rest * e - square), _shifted_minus_one(count, rest, e, lost, square)
    )
    result = np.where(size < 0x3C900000, x, result)
    result = np.where((size >= _56_LN2) & (x < 0), -1.0, result)
    return np.where(np.isnan(x), x, np.where(x > _MOST, np.inf, result))


def _shifted_minus_one(
    count: Integers, rest: Doubles, e: Doubles, lost: Doubles, square: Doubles
) -> Doubles:
    """`expm1` of numbers that were reduced by some multiple of ln 2."""
    e = (rest * (e - lost) - lost) - square
    once = np.where(rest < -0.25, -2.0 * (e - (rest + 0.5)), 1.0 + 2.0 * (rest - e))
    far = scaled(1.0 - (e - rest), count) - 1.0
    tiny = np.ldexp(1.0, -np.clip(count, 0, 60).astype(np.int32))
    some = scaled((1.0 - tiny) - (e - rest), count)
    more = scaled((rest - (e + tiny)) + 1.0, count)
    result = np.where(count < 20, some, more)
    result = np.where((count <= -2) | (count > 56), far, result)
    result = np.where(count == 1, once, result)
    return np.where(count == -1, 0.5 * (rest - e) - 0.5, result)


def sinh(x: Doubles) -> Doubles:
    """The hyperbolic sines."""
    size, half, positive = magnitude(x), np.copysign(0.5, x), np.abs(x)
    t = expm1(positive)
    small = half * (2.0 * t - t * t / (t + 1.0))
    medium = half * (t + t / (t + 1.0))
    result = np.where(size < 0x3FF00000, small, medium)
    result = np.where(size >= _TWENTY_TWO, half * exp(positive), result)
    result = np.where(size >= _NEARLY_MOST, _in_two_steps(positive, half), result)
    result = np.where(size < 0x3E300000, x, result)
    return np.where(positive > _MOST_HYPERBOLIC, np.copysign(np.inf, x), result)


def cosh(x: Doubles) -> Doubles:
    """The hyperbolic cosines."""
    size, positive = magnitude(x), np.abs(x)
    t = expm1(positive)
    small = 1.0 + (t * t) / ((1.0 + t) + (1.0 + t))
    power = exp(positive)
    result = np.where(size <= _HALF_LN2, small, 0.5 * power + 0.5 / power)
    result = np.where(size >= _TWENTY_TWO, 0.5 * power, result)
    result = np.where(size >= _NEARLY_MOST, _in_two_steps(positive, np.full_like(x, 0.5)), result)
    result = np.where(size < 0x3C800000, 1.0 + t, result)
    return np.where(positive > _MOST_HYPERBOLIC, np.inf, result)


def _in_two_steps(positive: Doubles, half: Doubles) -> Doubles:
    """Half a power of e that is too large for itself."""
    root = exp(0.5 * positive)
    return (half * root) * root


def tanh(x: Doubles) -> Doubles:
    """The hyperbolic tangents."""
    size, positive = magnitude(x), np.abs(x)
    large, small = expm1(2.0 * positive), expm1(-2.0 * positive)
    result = np.where(size >= 0x3FF00000, 1.0 - 2.0 / (large + 2.0), -small / (small + 2.0))
    result = np.copysign(np.where(size >= _TWENTY_TWO, 1.0, result), x)
    return np.where(np.isnan(x), x, np.where(size < 0x3C800000, x * (1.0 + x), result))
