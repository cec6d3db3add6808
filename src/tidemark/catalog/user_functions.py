"""Python functions as SQL functions: their parameter and result types."""

from __future__ import annotations

import datetime as dt
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, TypeVar, get_type_hints

from tidemark import types as t
from tidemark.catalog.tables import UserFunction
from tidemark.dialect import parse_type
from tidemark.errors import CatalogError, Span
from tidemark.pyflink.api.table.udf import Declared
from tidemark.pyflink.declaring import called, parameters_of, result_of, takes_columns
from tidemark.pyflink.running import TableCall

F = TypeVar("F", bound=Callable[..., Any])
TypeLike = t.DataType | str

_BY_ANNOTATION: dict[Any, t.DataType] = {
    bool: t.Boolean(),
    int: t.BigInt(),
    float: t.Double(),
    str: t.STRING,
    bytes: t.BYTES,
    Decimal: t.Decimal(38, 18),
    dt.date: t.Date(),
    dt.time: t.Time(6),
    dt.datetime: t.Timestamp(6),
}

_DECLARATION = "__tidemark_function__"


# The methods of an object that accumulates the rows of a group, with Flink's names.
_AGGREGATE_METHODS = ("create_accumulator", "accumulate", "get_value")


def udf(
    *,
    returns: TypeLike | None = None,
    parameters: Sequence[TypeLike] | None = None,
    vectorized: bool = False,
    deterministic: bool = True,
) -> Callable[[F], F]:
    """Mark a function with its SQL types, for `CREATE FUNCTION f AS 'module.f' LANGUAGE PYTHON`.

    A vectorized function takes and returns Arrow arrays.

    >>> @udf(returns="STRING")
    ... def shout(text):
    ...     return text.upper() + "!"
    """

    return _mark(
        returns=returns, parameters=parameters, vectorized=vectorized, deterministic=deterministic
    )


def udtf(
    *,
    returns: TypeLike,
    parameters: Sequence[TypeLike] | None = None,
    vectorized: bool = False,
    deterministic: bool = True,
) -> Callable[[F], F]:
    """Mark a table function, which returns or yields rows; its result type is that of a row.

    A vectorized one takes Arrow arrays and returns an Arrow array of lists of rows.

    >>> @udtf(returns="ROW<word STRING, length INT>")
    ... def words(text):
    ...     for word in text.split():
    ...         yield word, len(word)
    """
    return _mark(
        returns=returns,
        parameters=parameters,
        vectorized=vectorized,
        deterministic=deterministic,
        table=True,
    )


def udaf(
    *, returns: TypeLike | None = None, parameters: Sequence[TypeLike] | None = None
) -> Callable[[F], F]:
    """Mark an aggregate function: a class that accumulates, or a function that takes Arrow arrays,
    each with the values of a group, and returns one value.

    >>> @udaf(returns="BIGINT")
    ... def distance(values):
    ...     return max(values.to_pylist()) - min(values.to_pylist())
    """
    return _mark(returns=returns, parameters=parameters, aggregate=True)


def _mark(**known: Any) -> Callable[[F], F]:
    def mark(function: F) -> F:
        setattr(function, _DECLARATION, declare(function.__name__, function, **known))
        return function

    return mark


def declare(
    name: str,
    implementation: Any,
    *,
    returns: TypeLike | None = None,
    parameters: Sequence[TypeLike] | None = None,
    vectorized: bool | None = None,
    deterministic: bool | None = None,
    aggregate: bool | None = None,
    table: bool | None = None,
    at: Span | None = None,
) -> UserFunction:
    """A function with its types: those given, or those of its declaration, or the annotations.

    An object that accumulates is always an aggregate function; a class is instantiated.
    """
    declared = _declaration(name, implementation)
    code = declared.implementation
    if accumulates(code):
        code, aggregate, vectorized = _accumulating(name, code, at), True, False
    elif aggregate:
        vectorized = True
    kind: dict[str, Any] = {
        "vectorized": vectorized,
        "deterministic": deterministic,
        "aggregate": aggregate,
        "table": table,
    }
    function = replace(
        declared,
        name=name,
        implementation=code,
        parameters=_parameter_types(parameters, declared, code),
        returns=_result_type(returns, declared, code),
        **{key: value for key, value in kind.items() if value is not None},
    )
    if function.table and not function.vectorized and not isinstance(code, TableCall):
        return replace(function, implementation=TableCall(code))
    return function


def _declaration(name: str, implementation: Any) -> UserFunction:
    """What is known from a decorator, ours or PyFlink's."""
    if isinstance(implementation, Declared):
        return _declared_for_pyflink(name, implementation)
    marked: UserFunction | None = getattr(implementation, _DECLARATION, None)
    return marked or UserFunction(name, implementation=implementation, temporary=True, system=True)


def _parameter_types(
    given: Sequence[TypeLike] | None, declared: UserFunction, code: Any
) -> tuple[t.DataType, ...] | None:
    if given is not None:
        return tuple(_type(parameter) for parameter in given)
    return _parameters(code) if declared.parameters is None else declared.parameters


def _result_type(given: TypeLike | None, declared: UserFunction, code: Any) -> t.DataType | None:
    if given is not None:
        return _type(given)
    if declared.returns is not None:
        return declared.returns
    return _annotations(code.get_value if accumulates(code) else code).get("return")


def _declared_for_pyflink(name: str, declared: Declared) -> UserFunction:
    parameters = parameters_of(declared)
    return UserFunction(
        name,
        parameters=None if parameters is None else tuple(map(_type, parameters)),
        returns=_type(result_of(declared)),
        implementation=called(declared),
        vectorized=declared.pandas or takes_columns(declared),
        deterministic=declared.deterministic,
        aggregate=declared.kind in ("aggregate", "table aggregate"),
        table=declared.kind == "table",
        temporary=True,
        system=True,
    )


def accumulates(implementation: Any) -> bool:
    return any(hasattr(implementation, part) for part in _AGGREGATE_METHODS)


def _accumulating(name: str, implementation: Any, at: Span | None) -> Any:
    """The accumulating object, with a check that it has all required methods."""
    missing = [part for part in _AGGREGATE_METHODS if not hasattr(implementation, part)]
    if missing:
        raise CatalogError(
            f"aggregate function `{name}` is missing {' and '.join(missing)}",
            at=at,
            hint=f"an aggregate function needs the methods {', '.join(_AGGREGATE_METHODS)}",
        )
    if not isinstance(implementation, type):
        return implementation
    try:
        return implementation()
    except TypeError as problem:
        raise CatalogError(
            f"cannot create an instance of aggregate function `{name}`: {problem}",
            at=at,
            hint="pass an object instead of the class",
        ) from problem


def argument_problem(function: UserFunction, count: int) -> str | None:
    """Why the function cannot be called with this many arguments; None if it can."""
    accumulate = getattr(function.implementation, "accumulate", None)
    called = accumulate or function.implementation
    assert called is not None
    given = [None] * (count + (accumulate is not None))
    try:
        inspect.signature(called).bind(*given)
    except TypeError as problem:
        return str(problem)
    except ValueError:
        return None  # a C function without a signature
    return None


def _type(given: TypeLike) -> t.DataType:
    return parse_type(given) if isinstance(given, str) else given


def _parameters(implementation: Any) -> tuple[t.DataType, ...] | None:
    """The types from annotations; None unless every argument's annotation maps to a type."""
    if accumulates(implementation):
        called, names = implementation.accumulate, _positional(implementation.accumulate)[1:]
    else:
        called, names = implementation, _positional(implementation)
    hints = _annotations(called)
    known = names and all(name in hints for name in names)
    return tuple(hints[name] for name in names) if known else None


def _annotations(function: Callable[..., Any]) -> dict[str, t.DataType]:
    try:
        hints = get_type_hints(function)
    except (NameError, TypeError):
        return {}
    return {name: _BY_ANNOTATION[hint] for name, hint in hints.items() if hint in _BY_ANNOTATION}


def _positional(function: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return []
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in parameters if p.kind in plain]
