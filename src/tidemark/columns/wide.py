"""Sums and products of DECIMALs whose digits do not fit into 128 bits, in 256 bits by Arrow."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tidemark import types as t

MOST_DIGITS = 76


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


def _wide(array: pa.Array, scale: int) -> pa.Array:
    """The array in 256 bits, with as many digits before the point as it has."""
    return array.cast(pa.decimal256(array.type.precision - array.type.scale + scale, scale))


def _narrowed(exact: pa.Array, result: t.Decimal) -> pl.Series:
    room = pa.decimal256(MOST_DIGITS, exact.type.scale)
    rounded = pc.round(exact.cast(room), ndigits=result.scale, round_mode="half_towards_infinity")
    limit = pa.scalar(10 ** (result.precision - result.scale), pa.decimal256(40, 0))
    fits = pc.less(pc.abs(rounded), limit)
    kept = pc.if_else(fits, rounded, pa.scalar(None, rounded.type))
    series = pl.from_arrow(kept.cast(pa.decimal128(result.precision, result.scale)))
    assert isinstance(series, pl.Series)
    return series
