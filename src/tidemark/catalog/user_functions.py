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
from tidemark.pyflink.declaring import called, parameters_of, result_of
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
    marked: UserFunction | None = getattr(implementation, _DECLARATION, None)
    if isinstance(implementation, Declared):
        marked = _declared_for_pyflink(name, implementation)
    if marked is not None:
        implementation = marked.implementation
    declared = marked or UserFunction(name, temporary=True, system=True)
    if accumulates(implementation):
        implementation, aggregate, vectorized = _accumulating(name, implementation, at), True, False
    elif aggregate:
        vectorized = True
    found_parameters = declared.parameters
    if parameters is not None:
        found_parameters = tuple(_type(p) for p in parameters)
    elif found_parameters is None:
        found_parameters = _parameters(implementation)
    found_returns = declared.returns
    if returns is not None:
        found_returns = _type(returns)
    elif found_returns is None:
        gives = implementation.get_value if accumulates(implementation) else implementation
        found_returns = _annotations(gives).get("return")
    table = declared.table if table is None else table
    vectorized = declared.vectorized if vectorized is None else vectorized
    if table and not vectorized and not isinstance(implementation, TableCall):
        implementation = TableCall(implementation)
    return replace(
        declared,
        name=name,
        implementation=implementation,
        returns=found_returns,
        parameters=found_parameters,
        vectorized=vectorized,
        deterministic=declared.deterministic if deterministic is None else deterministic,
        aggregate=declared.aggregate if aggregate is None else aggregate,
        table=table,
    )


def _declared_for_pyflink(name: str, declared: Declared) -> UserFunction:
    parameters = parameters_of(declared)
    return UserFunction(
        name,
        parameters=None if parameters is None else tuple(map(_type, parameters)),
        returns=_type(result_of(declared)),
        implementation=called(declared),
        vectorized=declared.pandas,
        deterministic=declared.deterministic,
        aggregate=declared.kind == "aggregate",
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
