"""Functions over doubles. Their results are defined to the last bit; SIN, COS, TAN and COT are
not here, because those of Java depend on the processor.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import polars as pl

from tidemark import types as t
from tidemark.columns import strict_math
from tidemark.columns.call import ColumnCall, WriteColumn


def _of_doubles(function: Callable[..., np.ndarray]) -> WriteColumn:
    """A function over arrays of doubles, as one over columns; NULL if any argument is."""

    def compute(*columns: pl.Series) -> pl.Series:
        with np.errstate(all="ignore"):
            result = function(*(column.to_numpy() for column in columns))
        known = pl.all_horizontal(pl.all().is_not_null())
        filled = pl.DataFrame([column.alias(str(place)) for place, column in enumerate(columns)])
        return filled.select(pl.when(known).then(pl.lit(pl.Series(result)))).to_series()

    return lambda call: call.active.batches(compute, call.args, t.Double())


def _log2(x: np.ndarray) -> np.ndarray:
    return strict_math.log(x) / strict_math.log(np.full(1, 2.0))


def _log(first: np.ndarray, *second: np.ndarray) -> np.ndarray:
    """The natural logarithm, or that of the second number to the base of the first."""
    logarithm = strict_math.log(first)
    return strict_math.log(second[0]) / logarithm if second else logarithm


def _atan2(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    return strict_math.atan2(y + 0.0, x + 0.0)  # as on Spark, where zero has no sign here


def _sqrt(call: ColumnCall) -> pl.Expr:
    """As a power of 0.5, which zero has no sign for, and infinity neither."""
    value = call.args[0]
    infinite = pl.when(value == -math.inf).then(math.inf)
    return infinite.when(value == 0).then(0.0).otherwise(value.sqrt())


COLUMNS: dict[str, WriteColumn] = {
    "SQRT": _sqrt,
    "EXP": _of_doubles(strict_math.exp),
    "POWER": _of_doubles(strict_math.power),
    "LN": _of_doubles(strict_math.log),
    "LOG": _of_doubles(_log),
    "LOG2": _of_doubles(_log2),
    "LOG10": _of_doubles(strict_math.log10),
    "ASIN": _of_doubles(strict_math.asin),
    "ACOS": _of_doubles(strict_math.acos),
    "ATAN": _of_doubles(strict_math.atan),
    "ATAN2": _of_doubles(_atan2),
    "SINH": _of_doubles(strict_math.sinh),
    "COSH": _of_doubles(strict_math.cosh),
    "TANH": _of_doubles(strict_math.tanh),
    "DEGREES": lambda call: call.args[0] * (180.0 / math.pi),
    "RADIANS": lambda call: call.args[0] * (math.pi / 180.0),
    "PI": lambda _: pl.lit(math.pi),
    "E": lambda _: pl.lit(math.e),
    "TYPEOF": lambda call: pl.lit(str(call.type(0))),
}
