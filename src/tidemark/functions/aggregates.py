"""The built-in aggregate functions: their signatures and result types.

They are declared like scalar functions but never written as Spark SQL: kernels compute them by
name, in batches and streams alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from tidemark import types as t
from tidemark.functions.registry import (
    Argument,
    Function,
    Returns,
    SignatureMismatch,
    SparkCall,
    scalar,
)

_ORDERED = (
    t.Boolean,
    *t.NUMERICS,
    *t.CHARACTERS,
    t.Date,
    t.Time,
    *t.TIMESTAMPS,
)
AVERAGE_SCALE = 6


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """An aggregate function. If it is `never_null`, it has a value even for no rows; the others
    are NULL then, whatever their arguments.
    """

    function: Function
    never_null: bool = False

    @property
    def name(self) -> str:
        return self.function.name


def _aggregate(
    name: str,
    signature: str | Sequence[str],
    returns: Returns,
    summary: str,
    *,
    never_null: bool = False,
) -> AggregateFunction:
    function = scalar(
        name,
        signature,
        returns,
        never_written,
        strict=False,
        category="aggregates",
        summary=summary,
    )
    return AggregateFunction(function, never_null)


def never_written(call: SparkCall) -> NoReturn:
    raise AssertionError("aggregate functions have no Spark SQL; a kernel computes them")


# --- result types ------------------------------------------------------------------------------


def _own(arguments: tuple[Argument, ...]) -> t.DataType:
    return arguments[0].type


def _typed(arguments: tuple[Argument, ...]) -> t.DataType:
    type_ = arguments[0].type
    if isinstance(type_, t.Null):
        raise SignatureMismatch("argument 1 is NULL, which has no type here; CAST it to one")
    return type_


def _extreme(arguments: tuple[Argument, ...]) -> t.DataType:
    type_ = _typed(arguments)
    if not isinstance(type_, _ORDERED):
        raise SignatureMismatch(f"{type_.text()} values cannot be ordered")
    return type_


def _sum(arguments: tuple[Argument, ...]) -> t.DataType:
    """The argument's own type, in which sums of integers wrap around; decimals get the maximum
    precision.
    """
    type_ = arguments[0].type
    if isinstance(type_, t.Decimal):
        return t.Decimal(t.MAX_DECIMAL_PRECISION, type_.scale, nullable=type_.nullable)
    return type_


def _average(arguments: tuple[Argument, ...]) -> t.DataType:
    """The argument's own type: the average of integers is an integer, truncated toward zero."""
    type_ = arguments[0].type
    if isinstance(type_, t.Decimal):
        scale = max(type_.scale, AVERAGE_SCALE)
        return t.Decimal(t.MAX_DECIMAL_PRECISION, scale, nullable=type_.nullable)
    return type_


def _of_a_sample(arguments: tuple[Argument, ...]) -> t.DataType:
    """NULL for a single value, which is not a sample."""
    return _average(arguments).with_nullable(True)


def _string(arguments: tuple[Argument, ...]) -> t.DataType:
    return t.VarChar(nullable=arguments[0].type.nullable)


def _array(arguments: tuple[Argument, ...]) -> t.DataType:
    return t.Array(arguments[0].type, nullable=arguments[0].type.nullable)


def _multiset(arguments: tuple[Argument, ...]) -> t.DataType:
    return t.Multiset(_typed(arguments), nullable=False)


def _percentile(arguments: tuple[Argument, ...]) -> t.DataType:
    return t.Array(t.Double()) if isinstance(arguments[1].type, t.Array) else t.Double()


_COUNT = t.BigInt(nullable=False)
_JSON = t.VarChar(nullable=False)


# --- the table ---------------------------------------------------------------------------------

FUNCTIONS: tuple[AggregateFunction, ...] = (
    _aggregate("COUNT", "([any])", _COUNT, "the number of rows or values", never_null=True),
    _aggregate("SUM", "(numeric)", _sum, "the sum"),
    _aggregate("$SUM0", "(numeric)", _sum, "the sum, or 0 if there is none", never_null=True),
    _aggregate("AVG", "(numeric)", _average, "the average"),
    _aggregate("MIN", "(any)", _extreme, "the smallest value"),
    _aggregate("MAX", "(any)", _extreme, "the largest value"),
    _aggregate("STDDEV_POP", "(numeric)", _average, "the population standard deviation"),
    _aggregate("STDDEV_SAMP", "(numeric)", _of_a_sample, "the sample standard deviation"),
    _aggregate("VAR_POP", "(numeric)", _average, "the population variance"),
    _aggregate("VAR_SAMP", "(numeric)", _of_a_sample, "the sample variance"),
    _aggregate("FIRST_VALUE", "(any)", _own, "the first value that arrived"),
    _aggregate("LAST_VALUE", "(any)", _own, "the last value that arrived"),
    _aggregate(
        "LISTAGG", "(character, [character])", _string, "the strings, joined by a separator"
    ),
    _aggregate("COLLECT", "(any)", _multiset, "a multiset of the values", never_null=True),
    _aggregate("ARRAY_AGG", "(any)", _array, "an array of the values, including NULLs"),
    _aggregate(
        "PERCENTILE",
        "(numeric, any, [integer])",
        _percentile,
        "the value below which this share of the values lies, interpolated; of an array of shares, "
        "an array; a third argument says how often a value counts",
    ),
    _aggregate("JSON_OBJECTAGG", "(any, any)", _JSON, "a JSON object", never_null=True),
    _aggregate("JSON_ARRAYAGG", "(any)", _JSON, "a JSON array", never_null=True),
    _aggregate(
        "APPROX_COUNT_DISTINCT", "(any)", _COUNT, "the number of distinct values", never_null=True
    ),
)

# Synonyms.
SYNONYMS = {"STDDEV": "STDDEV_SAMP", "VARIANCE": "VAR_SAMP"}

_BY_NAME = {aggregate.name: aggregate for aggregate in FUNCTIONS}


def named(name: str) -> AggregateFunction:
    """The aggregate function with exactly this name."""
    return _BY_NAME[name]


def lookup(name: str) -> AggregateFunction | None:
    """The aggregate function with this name in any case."""
    folded = name.upper()
    return _BY_NAME.get(SYNONYMS.get(folded, folded))
