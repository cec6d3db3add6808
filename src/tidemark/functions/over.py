"""Functions that are only allowed with OVER: ranks, and values of other rows.

Kernels compute them by name, as they do aggregates.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidemark import types as t
from tidemark.functions.aggregates import never_written
from tidemark.functions.registry import Argument, Function, Returns, SignatureMismatch, scalar

_NUMBER = t.BigInt(nullable=False)
_SHARE = t.Double(nullable=False)


def _over(name: str, signature: str | Sequence[str], returns: Returns, summary: str) -> Function:
    return scalar(
        name,
        signature,
        returns,
        never_written,
        strict=False,
        category="over",
        summary=summary,
    )


def _of_another_row(arguments: tuple[Argument, ...]) -> t.DataType:
    """The value's type. Without a default it is NULL where there is no such row."""
    value = arguments[0].type
    if len(arguments) < 3:
        return value.with_nullable(True)
    if not _may_stand_for(value, arguments[2].type):
        raise SignatureMismatch(
            f"the default is {arguments[2].type.text()}, not {value.text()}: cast it"
        )
    return value.with_nullable(value.nullable or arguments[2].type.nullable)


def _may_stand_for(value: t.DataType, default: t.DataType) -> bool:
    """Whether a default is of the value's kind; it is converted to the value's type."""
    if isinstance(default, t.Null):
        return True
    families = (t.CHARACTERS, t.NUMERICS, type(value))
    same_kind = any(isinstance(value, kind) and isinstance(default, kind) for kind in families)
    return same_kind and t.common_type([value, default]) is not None


FUNCTIONS: tuple[Function, ...] = (
    _over("ROW_NUMBER", "()", _NUMBER, "the number of the row in its partition"),
    _over("RANK", "()", _NUMBER, "the number of the first row with the same values in ORDER BY"),
    _over("DENSE_RANK", "()", _NUMBER, "the rank without gaps"),
    _over("PERCENT_RANK", "()", _SHARE, "the rank, from 0 to 1"),
    _over("CUME_DIST", "()", _SHARE, "the share of rows that are not after the row"),
    _over("NTILE", "(integer)", _NUMBER, "the number of the row's group, of so many equal ones"),
    _over(
        "LAG",
        "(any, [integer], [any])",
        _of_another_row,
        "the value of the row so many before, or a default",
    ),
    _over(
        "LEAD",
        "(any, [integer], [any])",
        _of_another_row,
        "the value of the row so many after, or a default",
    ),
)

_BY_NAME = {function.name: function for function in FUNCTIONS}


def lookup(name: str) -> Function | None:
    """The function with this name in any case."""
    return _BY_NAME.get(name.upper())
