"""Sequences as Arrow columns: the first value plus the number of the row."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tidemark import types as t
from tidemark.functions.arrow_types import to_arrow

# Wide enough for the sum of a BIGINT and any decimal.
_DIGITS: Final = 60
_EXACT: Final = Context(_DIGITS, ROUND_HALF_UP)


def sequence(type_: t.DataType, start: Decimal, numbers: npt.NDArray[np.int64]) -> pa.Array:
    """The values of rows with these numbers."""
    match type_:
        case t.Decimal(scale=scale):
            first = start.quantize(Decimal(1).scaleb(-scale), context=_EXACT)
            wide = pa.decimal256(_DIGITS, scale)
            return pc.add(pa.array(numbers).cast(wide), pa.scalar(first, wide)).cast(
                to_arrow(type_)
            )
        case t.Float() | t.Double():
            return pa.array(numbers + float(start)).cast(to_arrow(type_))
    values = pa.array(numbers + int(start))
    return values.cast(pa.large_string() if isinstance(type_, t.CHARACTERS) else to_arrow(type_))
