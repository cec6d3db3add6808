"""Functions that no query can call: what set operations and subqueries are rewritten to."""

from __future__ import annotations

from tidemark import types as t
from tidemark.functions.registry import Argument, scalar
from tidemark.functions.spark_text import string

MORE_THAN_ONE = "a scalar subquery returned more than one row"


def _own(arguments: tuple[Argument, ...]) -> t.DataType:
    return arguments[0].type.with_nullable(True)


# A value, and the number of rows it is of: more than one is an error.
SINGLE_VALUE = scalar(
    "SINGLE_VALUE",
    "(any, bigint)",
    _own,
    f"if({{1}} > 1, raise_error({string(MORE_THAN_ONE)}), {{0}})",
    strict=False,
)

# An array of that many elements, which UNNEST makes as many rows of.
REPLICATED = scalar(
    "REPLICATED",
    "(bigint)",
    t.Array(t.Boolean(nullable=False), nullable=False),
    "array_repeat(true, cast({0} AS INT))",
)
