"""DECIMALs whose digits do not fit into 128 bits: sums and products in 256 bits by Arrow.
Quotients, which rarely need it, and products that may not even fit there are computed one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tidemark import types as t
from tidemark.kernels.whole_numbers import digits_of, whole

MOST_DIGITS = 76
# Two numbers with so many digits have a product in 256 bits.
_USUAL_DIGITS = 37


def computed(operator: str, result: t.Decimal) -> Callable[[pl.Series, pl.Series], pl.Series]:
    """Adds, subtracts or multiplies two columns exactly, then rounds half up to the result; NULL
    if that does not fit.
    """
    operation = {"+": pc.add, "-": pc.subtract, "*": pc.multiply}[operator]

    def compute(left: pl.Series, right: pl.Series) -> pl.Series:
        a, b = left.to_arrow(), right.to_arrow()
        scale = max(a.type.scale, b.type.scale)
        if operator == "*":
            exact = pc.multiply(_wide(a, a.type.scale), _wide(b, b.type.scale))
        else:
            exact = operation(_wide(a, scale), _wide(b, scale))
        return _narrowed(exact, result)

    return compute


def products(result: t.Decimal) -> Callable[[pl.Series, pl.Series], pl.Series]:
    """Multiplies two columns exactly, then rounds half up to the result; NULL if it is too big."""

    def compute(left: pl.Series, right: pl.Series) -> pl.Series:
        usual = _is_usual(left) & _is_usual(right)
        parts = pl.select(
            pl.when(usual).then(each).alias(name) for name, each in (("a", left), ("b", right))
        )
        found = _narrowed(pc.multiply(*map(_usual, parts)), result)
        if usual.all():
            return found
        others: list[Decimal | None] = [None] * len(left)
        for place in (~usual & left.is_not_null() & right.is_not_null()).arg_true():
            others[place] = _product(left[place], right[place], result)
        return pl.select(pl.coalesce(found, pl.Series(others, dtype=found.dtype))).to_series()

    return compute


def _is_usual(numbers: pl.Series) -> pl.Series:
    return pl.select(digits_of(pl.lit(numbers)).abs() < whole(10**_USUAL_DIGITS)).to_series()


def _usual(numbers: pl.Series) -> pa.Array:
    array = numbers.to_arrow()
    return array.cast(pa.decimal256(_USUAL_DIGITS, array.type.scale))


def _wide(array: pa.Array, scale: int) -> pa.Array:
    """The array in 256 bits, with as many digits before the point as it has."""
    return array.cast(pa.decimal256(array.type.precision - array.type.scale + scale, scale))


def _narrowed(exact: pa.Array, result: t.Decimal) -> pl.Series:
    room = pa.decimal256(MOST_DIGITS, exact.type.scale)
    rounded = pc.round(exact.cast(room), ndigits=result.scale, round_mode="half_towards_infinity")
    rounded = rounded.cast(pa.decimal256(MOST_DIGITS, result.scale))
    limit = pa.scalar(
        10 ** (result.precision - result.scale), pa.decimal256(MOST_DIGITS - result.scale, 0)
    )
    fits = pc.less(pc.abs(rounded), limit)
    kept = pc.if_else(fits, rounded, pa.scalar(None, rounded.type))
    series = pl.from_arrow(kept.cast(pa.decimal128(result.precision, result.scale)))
    assert isinstance(series, pl.Series)
    return series


def quotients(result: t.Decimal) -> Callable[[pl.Series, pl.Series], pl.Series]:
    """Divides two columns, where both have values."""

    def compute(left: pl.Series, right: pl.Series) -> pl.Series:
        found: list[Decimal | None] = [None] * len(left)
        for place in (left.is_not_null() & right.is_not_null()).arg_true():
            found[place] = _quotient(left[place], right[place], result)
        return pl.Series(found, dtype=pl.Decimal(result.precision, result.scale))

    return compute


# The places after the point to which Spark rounds a quotient first.
_FIRST_PLACES = t.MAX_DECIMAL_PRECISION + 1


def _quotient(top: Decimal, bottom: Decimal, result: t.Decimal) -> Decimal | None:
    (a, b), (c, d) = top.as_integer_ratio(), bottom.as_integer_ratio()
    first = _half_up(a * d * 10**_FIRST_PLACES, b * c)
    return _of_digits(_half_up(first, 10 ** (_FIRST_PLACES - result.scale)), result)


def _product(left: Decimal, right: Decimal, result: t.Decimal) -> Decimal | None:
    (a, b), (c, d) = left.as_integer_ratio(), right.as_integer_ratio()
    return _of_digits(_half_up(a * c * 10**result.scale, b * d), result)


def _of_digits(digits: int, result: t.Decimal) -> Decimal | None:
    if abs(digits) >= 10**result.precision:
        return None
    sign = int(digits < 0)
    return Decimal((sign, tuple(map(int, str(abs(digits)))), -result.scale))


def _half_up(top: int, bottom: int) -> int:
    """The quotient, rounded half away from zero."""
    size = (2 * abs(top) + abs(bottom)) // (2 * abs(bottom))
    return size if (top < 0) == (bottom < 0) else -size
