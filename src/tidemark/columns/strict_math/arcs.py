"""Angles by their sines, cosines and tangents."""

from __future__ import annotations

import math

import numpy as np

from tidemark.columns.strict_math.words import Doubles, high, magnitude, polynomial, rough

_HALF_PI, _HALF_PI_LOW = 1.57079632679489655800e00, 6.12323399573676603587e-17
_QUARTER_PI, _PI_LOW = 7.85398163397448278999e-01, 1.2246467991473531772e-16
_ABOVE = (
    1.66666666666666657415e-01,
    -3.25565818622400915405e-01,
    2.01212532134862925881e-01,
    -4.00555345006794114027e-02,
    7.91534994289814532176e-04,
    3.47933107596021167570e-05,
)
_BELOW = (
    1.0,
    -2.40339491173441421878e00,
    2.02094576023350569471e00,
    -6.88283971605453293030e-01,
    7.70381505559019352791e-02,
)
_EVEN = (
    3.33333333333329318027e-01,
    1.42857142725034663711e-01,
    9.09088713343650656196e-02,
    6.66107313738753120669e-02,
    4.97687799461593236017e-02,
    1.62858201153657823623e-02,
)
_ODD = (
    -1.99999999998764832476e-01,
    -1.11111104054623557880e-01,
    -7.69187620504482999495e-02,
    -5.83357013379057348645e-02,
    -3.65315727442169155270e-02,
)
# Of 1/2, 1, 3/2 and infinity.
_ANGLES = (4.63647609000806093515e-01, _QUARTER_PI, 9.82793723247329054082e-01, _HALF_PI)
_ANGLES_LOW = (
    2.26987774529616870924e-17,
    3.06161699786838301793e-17,
    1.39033110312309984516e-17,
    _HALF_PI_LOW,
)
_HALF, _ONE = 0x3FE00000, 0x3FF00000


def _ratio(t: Doubles) -> Doubles:
    return (t * polynomial(t, *_ABOVE)) / polynomial(t, *_BELOW)


def asin(x: Doubles) -> Doubles:
    """The angles that have these sines."""
    size = magnitude(x)
    small = np.where(size < 0x3E400000, x, x + x * _ratio(x * x))
    t = (1.0 - np.abs(x)) * 0.5
    root, ratio = np.sqrt(t), _ratio(t)
    near_one = _HALF_PI - (2.0 * (root + root * ratio) - _HALF_PI_LOW)
    short = rough(root)
    rest = (t - short * short) / (root + short)
    p = 2.0 * root * ratio - (_HALF_PI_LOW - 2.0 * rest)
    q = _QUARTER_PI - 2.0 * short
    large = np.where(size >= 0x3FEF3333, near_one, _QUARTER_PI - (p - q))
    result = np.where(size < _HALF, small, np.copysign(large, x))
    result = np.where(np.abs(x) == 1, x * _HALF_PI + x * _HALF_PI_LOW, result)
    return np.where(np.abs(x) <= 1, result, np.nan)


def acos(x: Doubles) -> Doubles:
    """The angles that have these cosines."""
    size = magnitude(x)
    small = _HALF_PI - (x - (_HALF_PI_LOW - x * _ratio(x * x)))
    small = np.where(size <= 0x3C600000, _HALF_PI + _HALF_PI_LOW, small)
    z = (1.0 - np.abs(x)) * 0.5
    root, ratio = np.sqrt(z), _ratio(z)
    negative = math.pi - 2.0 * (root + (ratio * root - _HALF_PI_LOW))
    short = rough(root)
    rest = (z - short * short) / (root + short)
    positive = 2.0 * (short + (ratio * root + rest))
    result = np.where(size < _HALF, small, np.where(x < 0, negative, positive))
    result = np.where(x == 1, 0.0, np.where(x == -1, math.pi + 2.0 * _HALF_PI_LOW, result))
    return np.where(np.abs(x) <= 1, result, np.nan)


def atan(x: Doubles) -> Doubles:
    """The angles that have these tangents."""
    size, positive = magnitude(x), np.abs(x)
    # The nearest of the known angles, from which the rest is computed.
    nearest = np.searchsorted([0x3FE60000, 0x3FF30000, 0x40038000], size, side="right")
    rests = (
        (2.0 * positive - 1.0) / (2.0 + positive),
        (positive - 1.0) / (positive + 1.0),
        (positive - 1.5) / (1.0 + 1.5 * positive),
        -1.0 / positive,
    )
    is_small = size < 0x3FDC0000
    rest = np.where(is_small, x, np.choose(nearest, rests))
    z = rest * rest
    w = z * z
    total = rest * (z * polynomial(w, *_EVEN) + w * polynomial(w, *_ODD))
    angle, angle_low = np.choose(nearest, _ANGLES), np.choose(nearest, _ANGLES_LOW)
    large = np.copysign(angle - ((total - angle_low) - rest), x)
    large = np.where(size >= 0x44100000, np.copysign(_HALF_PI + _HALF_PI_LOW, x), large)
    small = np.where(size < 0x3E200000, x, rest - total)
    return np.where(np.isnan(x), x, np.where(is_small, small, large))


def atan2(y: Doubles, x: Doubles) -> Doubles:
    """The angles of the points (x, y), given y and x."""
    apart = (magnitude(y) - magnitude(x)) >> 20
    below, left = high(y) < 0, high(x) < 0
    angle = atan(np.abs(y / x))
    angle = np.where(left & (apart < -60), 0.0, angle)
    angle = np.where(apart > 60, _HALF_PI + 0.5 * _PI_LOW, angle)
    right_side = np.where(below, -angle, angle)
    left_side = np.where(below, (angle - _PI_LOW) - math.pi, math.pi - (angle - _PI_LOW))
    result = np.where(left, left_side, right_side)
    result = np.where(x == 1.0, atan(y), result)
    return _with_limits(y, x, left, result)


def _with_limits(y: Doubles, x: Doubles, left: np.ndarray, result: Doubles) -> Doubles:
    """The angles of points on the axes and at infinity."""
    upright = np.isinf(y) | ((x == 0) & (y != 0))
    result = np.where(upright, np.copysign(_HALF_PI, y), result)
    diagonal = np.where(left, 3.0 * _QUARTER_PI, _QUARTER_PI)
    result = np.where(np.isinf(y) & np.isinf(x), np.copysign(diagonal, y), result)
    level = (y == 0) | (np.isinf(x) & ~np.isinf(y))
    result = np.where(level, np.copysign(np.where(left, math.pi, 0.0), y), result)
    return np.where(np.isnan(x) | np.isnan(y), np.nan, result)
