"""How a built-in function is declared: names, signatures, result type, and its Spark SQL.

A function is one value in one of the tables in this folder; `functions.BUILT_IN` has them all by
name. Nothing here depends on Spark: `spark` is SQL for Spark, either a template (`{0}` is the first
argument, `{*}` all of them joined by commas) or a callable that builds it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidemark import types as t
from tidemark.functions.signatures import (
    UNKNOWN,
    Argument,
    Parameter,
    SignatureMismatch,
    match,
    parse_signature,
    retyped,
)

__all__ = [
    "UNKNOWN",
    "Argument",
    "Function",
    "Parameter",
    "Resolution",
    "SignatureMismatch",
    "SparkCall",
    "describe",
    "python_name",
    "scalar",
]


@dataclass(frozen=True, slots=True)
class SparkCall:
    """A call being written as Spark SQL: the arguments' Spark SQL, types and known values."""

    args: tuple[str, ...]
    arguments: tuple[Argument, ...]
    result: t.DataType
    zone: str  # table.local-time-zone

    def type(self, index: int) -> t.DataType:
        return self.arguments[index].type

    def literal(self, index: int, default: Any = None) -> Any:
        """The value of a literal argument; `default` if it is absent or not a literal."""
        if index >= len(self.arguments) or not self.arguments[index].is_literal:
            return default
        return self.arguments[index].value


Returns = t.DataType | Callable[[tuple[Argument, ...]], t.DataType]
Converts = Callable[[tuple[Argument, ...]], tuple[t.DataType, ...]]
SparkText = str | Callable[[SparkCall], str]


@dataclass(frozen=True, slots=True)
class Resolution:
    """A call with a matching signature: what each argument must be cast to, and the result."""

    parameters: tuple[t.DataType, ...]
    result: t.DataType


@dataclass(frozen=True, slots=True)
class Function:
    """A scalar function of the SQL language."""

    name: str
    signatures: tuple[tuple[Parameter, ...], ...]
    returns: Returns
    spark: SparkText
    aliases: tuple[str, ...] = ()
    # NULL in, NULL out: the result is nullable if an argument is, unless `returns` is a type that
    # is NOT NULL. If False, `returns` alone decides.
    strict: bool = True
    deterministic: bool = True
    # The types that the arguments are converted to if these depend on one another, as in `1 + 2.5`;
    # called after a signature matches, and may raise SignatureMismatch.
    converts: Converts | None = None
    # A vectorized fallback for what Spark SQL cannot express: Arrow arrays in, an Arrow array out.
    # `spark` then calls it by the name that `python_name` returns.
    python: Callable[..., Any] | None = field(default=None, compare=False)
    # Whether `python` raises ValueError for some rows. Spark then calls it as `outcomes.Outcomes`,
    # and `spark` takes the value out with `outcomes.value_of`.
    may_fail: bool = False
    # What the call says besides its arguments, as in `JSON_VALUE(... NULL ON EMPTY)`.
    clauses: Any = field(default=None, compare=False)
    category: str = ""
    summary: str = ""

    def resolve(self, arguments: Sequence[Argument]) -> Resolution:
        """Match the arguments to a signature. Raises SignatureMismatch."""
        failures = []
        for signature in self.signatures:
            try:
                matched = match(signature, tuple(arguments))
            except SignatureMismatch as mismatch:
                failures.append(str(mismatch))
                continue
            parameters = self._converted(retyped(arguments, matched))
            return Resolution(parameters, self._result(retyped(arguments, parameters)))
        raise SignatureMismatch(failures[0] if len({*failures}) == 1 else "no signature fits")

    def _converted(self, arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
        if self.converts is None:
            return tuple(argument.type for argument in arguments)
        return self.converts(arguments)

    def _result(self, arguments: tuple[Argument, ...]) -> t.DataType:
        computed = callable(self.returns)
        result = self.returns(arguments) if callable(self.returns) else self.returns
        if not self.strict:
            return result
        return result.with_nullable((computed or result.nullable) and _nullable(arguments))

    def write(self, call: SparkCall) -> str:
        """The call as Spark SQL, safe to use wherever an expression is allowed."""
        if callable(self.spark):
            return self.spark(call)
        return self.spark.format(*call.args, **{"*": ", ".join(call.args)})


def python_name(function_name: str) -> str:
    """The name under which a function's Python kernel is registered with Spark."""
    return f"tidemark_{function_name.lower().replace(' ', '_')}"


def scalar(
    name: str,
    signature: str | Sequence[str],
    returns: Returns,
    spark: SparkText,
    **more: Any,
) -> Function:
    """Declare a function. A signature reads like `(string, int, [int])` or `(any...)`.

    >>> scalar("UPPER", "(string)", t.STRING, "upper({0})").name
    'UPPER'
    """
    signatures = (signature,) if isinstance(signature, str) else tuple(signature)
    return Function(name, tuple(parse_signature(s) for s in signatures), returns, spark, **more)


def describe(function: Function) -> str:
    """The function's signatures in readable form."""
    return " or ".join(
        f"{function.name}({', '.join(parameter.words for parameter in signature)})"
        for signature in function.signatures
    )


def _nullable(arguments: tuple[Argument, ...]) -> bool:
    return any(argument.type.nullable for argument in arguments) or not arguments
