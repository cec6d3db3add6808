"""Python functions as SQL functions: what they take and return, and where they come from."""

from __future__ import annotations

import datetime as dt
import importlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, TypeVar, get_type_hints

from tidemark import types as t
from tidemark.catalog.tables import UserFunction
from tidemark.dialect import parse_type
from tidemark.errors import PlanError, Span

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

    def mark(function: F) -> F:
        declared = declare(
            function.__name__,
            function,
            returns=returns,
            parameters=parameters,
            vectorized=vectorized,
            deterministic=deterministic,
        )
        setattr(function, _DECLARATION, declared)
        return function

    return mark


def declare(
    name: str,
    implementation: Callable[..., Any],
    *,
    returns: TypeLike | None = None,
    parameters: Sequence[TypeLike] | None = None,
    vectorized: bool | None = None,
    deterministic: bool | None = None,
) -> UserFunction:
    """A function with its types: those given, else those of `udf`, else the annotations."""
    marked: UserFunction | None = getattr(implementation, _DECLARATION, None)
    declared = marked or UserFunction(name, temporary=True, system=True)
    hints = _annotations(implementation)
    names = _positional(implementation)
    found_parameters = declared.parameters
    if parameters is not None:
        found_parameters = tuple(_type(p) for p in parameters)
    elif found_parameters is None and names and all(n in hints for n in names):
        found_parameters = tuple(hints[n] for n in names)
    found_returns = declared.returns
    if returns is not None:
        found_returns = _type(returns)
    elif found_returns is None:
        found_returns = hints.get("return")
    return replace(
        declared,
        name=name,
        implementation=implementation,
        returns=found_returns,
        parameters=found_parameters,
        vectorized=declared.vectorized if vectorized is None else vectorized,
        deterministic=declared.deterministic if deterministic is None else deterministic,
    )


def resolved(function: UserFunction, at: Span | None = None) -> UserFunction:
    """The function with its code and result type; imports it if it is known by name only."""
    if function.implementation is None:
        loaded = declare(function.name, _load(function, at))
        function = replace(
            loaded,
            identifier=function.identifier,
            temporary=function.temporary,
            system=function.system,
        )
    if function.returns is None:
        raise PlanError(
            f"the result type of function `{function.name}` is not known",
            at=at,
            hint='annotate it (`-> str`), or give returns="STRING" where it is declared',
        )
    return function


def _load(function: UserFunction, at: Span | None) -> Callable[..., Any]:
    module, _, attribute = (function.identifier or "").rpartition(".")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as problem:
        raise PlanError(
            f"function `{function.name}` cannot be loaded from '{function.identifier}': {problem}",
            at=at,
            hint="the name is 'module.function', importable from where Tidemark runs",
        ) from problem
    if not callable(found):
        raise PlanError(f"'{function.identifier}' is not a function", at=at)
    return found  # type: ignore[no-any-return]


def _type(given: TypeLike) -> t.DataType:
    return parse_type(given) if isinstance(given, str) else given


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
