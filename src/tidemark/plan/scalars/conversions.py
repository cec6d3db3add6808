"""Calls of built-in functions, with the implicit casts that their signatures ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from sqlglot import exp

from tidemark import types as t
from tidemark.dialect import span_of
from tidemark.errors import NotSupported, PlanError, Span
from tidemark.functions import spark_text
from tidemark.functions.registry import UNKNOWN, Argument, Function, SignatureMismatch, describe
from tidemark.plan.expressions import Call, Cast, Expression, Literal
from tidemark.plan.scalars import literals


def apply(function: Function, args: Sequence[Expression], node: exp.Expression) -> Call:
    """A call of a built-in function, with its arguments converted to the parameters."""
    try:
        resolution = function.resolve([_argument(arg) for arg in args])
    except SignatureMismatch as mismatch:
        raise PlanError(
            f"invalid call of {function.name}: {mismatch}",
            at=span_of(node),
            notes={
                "given": ", ".join(arg.type.text() for arg in args) or "nothing",
                "expected": describe(function),
            },
            hint=_numbers_as_times(function, args),
        ) from None
    converted = tuple(
        convert(arg, type_) for arg, type_ in zip(args, resolution.parameters, strict=True)
    )
    return Call(function, converted, resolution.result)


def _numbers_as_times(function: Function, args: Sequence[Expression]) -> str | None:
    """A hint for TO_TIMESTAMP of a number, as other versions of Flink's SQL have it."""
    if function.name != "TO_TIMESTAMP" or not args or not isinstance(args[0].type, t.NUMERICS):
        return None
    return "write TO_TIMESTAMP_LTZ(n, 3) for milliseconds, or TO_TIMESTAMP_LTZ(n, 0) for seconds"


def _argument(expression: Expression) -> Argument:
    value = expression.value if isinstance(expression, Literal) else UNKNOWN
    return Argument(expression.type, value)


def convert(expression: Expression, type_: t.DataType) -> Expression:
    """The expression as a value of `type_`, with an implicit cast if the types differ."""
    if expression.type.same_as(type_) or isinstance(type_, t.KeywordType):
        return expression
    if isinstance(expression, Literal) and expression.value is None:
        return literals.null(type_)
    if _is_string_of(expression, type_):
        # Still a literal, so that a function can parse a pattern or a format during planning.
        return Literal(expression.value, type_.with_nullable(False))
    return Cast(expression, type_.with_nullable(expression.type.nullable), implicit=True)


def _is_string_of(expression: Expression, type_: t.DataType) -> TypeGuard[Literal]:
    """Whether it is a string literal that fits a VARCHAR type unchanged."""
    return (
        isinstance(expression, Literal)
        and isinstance(expression.value, str)
        and isinstance(expression.type, t.CHARACTERS)
        and isinstance(type_, t.VarChar)
        and len(expression.value) <= type_.length
    )


def check_can_be_held(type_: t.DataType, at: Span | None) -> None:
    """Reject, with its location, a type whose values Spark cannot represent."""
    try:
        spark_text.spark_type(type_)
    except NotSupported as refusal:
        raise NotSupported(refusal.message, at=at, hint=refusal.hint) from None


def common_type(values: Sequence[Expression], what: str, node: exp.Expression) -> t.DataType:
    """The common type of all values; if there is none, an error that lists their types."""
    common = t.common_type([value.type for value in values])
    if common is None:
        kinds = sorted({value.type.text() for value in values})
        raise PlanError(f"{what} do not have a common type: {', '.join(kinds)}", at=span_of(node))
    return common
