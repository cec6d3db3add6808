"""How a built-in function is declared: names, signatures, result type, and its Spark SQL.

A function is one value in one of the tables beside this file; `functions.BUILT_IN` holds them
all by name. Nothing here touches Spark: `spark` is text that Spark will read, either a template
(`{0}` is the first argument, `{*}` all of them joined by commas) or a callable that builds it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidemark import types as t


class Unknown:
    """Marks an argument whose value is not known while planning."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()


@dataclass(frozen=True, slots=True)
class Argument:
    """What the planner knows of an argument: its type, and its value if it is a literal."""

    type: t.DataType
    value: Any = UNKNOWN

    @property
    def is_literal(self) -> bool:
        return self.value is not UNKNOWN


@dataclass(frozen=True, slots=True)
class Call:
    """A call being written as Spark SQL: the arguments' Spark SQL, types and known values."""

    args: tuple[str, ...]
    arguments: tuple[Argument, ...]
    result: t.DataType
    zone: str  # table.local-time-zone

    def type(self, index: int) -> t.DataType:
        return self.arguments[index].type

    def literal(self, index: int, default: Any = None) -> Any:
        """The value of a literal argument; `default` where it is absent or not a literal."""
        if index >= len(self.arguments) or not self.arguments[index].is_literal:
            return default
        return self.arguments[index].value


class SignatureMismatch(Exception):
    """The arguments do not match; the message explains which and why."""


Returns = t.DataType | Callable[[tuple[Argument, ...]], t.DataType]
Converts = Callable[[tuple[Argument, ...]], tuple[t.DataType, ...]]
SparkText = str | Callable[[Call], str]


@dataclass(frozen=True, slots=True)
class Resolution:
    """A call whose signature was found: what each argument must be cast to, and the result."""

    parameters: tuple[t.DataType, ...]
    result: t.DataType


@dataclass(frozen=True, slots=True)
class Parameter:
    """One place of a signature: a family of types, or one type that others convert to."""

    family: str
    optional: bool = False
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Function:
    """A scalar function of the SQL language."""

    name: str
    signatures: tuple[tuple[Parameter, ...], ...]
    returns: Returns
    spark: SparkText
    aliases: tuple[str, ...] = ()
    # Null in, null out: the result is nullable if an argument is, unless `returns` is a type that
    # is NOT NULL. False: `returns` alone decides.
    strict: bool = True
    deterministic: bool = True
    # The types the arguments are converted to where these depend on one another, as in
    # `1 + 2.5`; asked after a signature fits, and may refuse with SignatureMismatch.
    converts: Converts | None = None
    # A vectorized fallback for what Spark SQL cannot express: Arrow arrays in, an Arrow array out.
    # `spark` then calls it by the name that `python_name` gives.
    python: Callable[..., Any] | None = field(default=None, compare=False)
    category: str = ""
    summary: str = ""

    def resolve(self, arguments: Sequence[Argument]) -> Resolution:
        """Match the arguments to a signature. Raises SignatureMismatch."""
        from tidemark.functions.signatures import resolve

        return resolve(self, tuple(arguments))

    def write(self, call: Call) -> str:
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
    from tidemark.functions.signatures import parse_signature

    texts = (signature,) if isinstance(signature, str) else tuple(signature)
    return Function(name, tuple(parse_signature(s) for s in texts), returns, spark, **more)
