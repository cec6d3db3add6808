"""What is imported as `pyflink.table.udf`: the base classes of functions, and what declares them.

A declared function can also be called from Python, as the function it is.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from tidemark.pyflink.api.table.types import DataType

__all__ = [
    "AggregateFunction",
    "AsyncScalarFunction",
    "FunctionContext",
    "ImperativeAggregateFunction",
    "ScalarFunction",
    "TableAggregateFunction",
    "TableFunction",
    "UserDefinedFunction",
    "udaf",
    "udf",
    "udtaf",
    "udtf",
]

T = TypeVar("T")
ACC = TypeVar("ACC")
Types = DataType | str | Sequence[DataType | str]


class FunctionContext:
    """What `open` gets."""

    def get_job_parameter(self, key: str, default_value: str) -> str:
        """The default value: jobs have no parameters here."""
        return default_value

    def get_metric_group(self) -> Any:
        raise RuntimeError("Tidemark has no metrics of user-defined functions")


class UserDefinedFunction:
    """The base of all functions."""

    def open(self, function_context: FunctionContext) -> None:
        """Called once in each process that runs the function, before its first row."""

    def close(self) -> None:
        """Never called: Spark ends its workers without notice."""

    def is_deterministic(self) -> bool:
        return True


class ScalarFunction(UserDefinedFunction):
    """A value for each row: `eval(self, ...)`."""

    def __call__(self, *args: Any) -> Any:
        return self.eval(*args)  # type: ignore[attr-defined]


class AsyncScalarFunction(UserDefinedFunction):
    """A value for each row: `async def eval(self, ...)`. Several are waited for at once."""

    async def __call__(self, *args: Any) -> Any:
        return await self.eval(*args)  # type: ignore[attr-defined]


class TableFunction(UserDefinedFunction):
    """Any number of rows for each row: `eval(self, ...)`."""

    def __call__(self, *args: Any) -> Any:
        return self.eval(*args)  # type: ignore[attr-defined]


class ImperativeAggregateFunction(UserDefinedFunction, Generic[T, ACC]):
    """The base of aggregate functions. Those without `retract` cannot run over a changelog, and
    without `merge` the arguments of merging sessions are kept.
    """

    def get_result_type(self) -> DataType | str:
        raise NotImplementedError("declare result_type=..., or define get_result_type")

    def get_accumulator_type(self) -> DataType | str:
        raise NotImplementedError


class AggregateFunction(ImperativeAggregateFunction[T, ACC]):
    """A value for each group: `create_accumulator`, `accumulate` and `get_value`."""


class TableAggregateFunction(ImperativeAggregateFunction[T, ACC]):
    """Any number of rows for each group: `create_accumulator`, `accumulate` and `emit_value`."""


@dataclass(frozen=True)
class Declared:
    """A function and its types, as `udf`, `udtf`, `udaf` and `udtaf` return it."""

    kind: str  # scalar, async, table, aggregate or table aggregate
    function: Any
    result_type: Types | None
    input_types: Types | None = None
    pandas: bool = False
    deterministic: bool = True
    name: str | None = None
    aliases: tuple[str, ...] = ()

    def alias(self, *alias_names: str) -> Declared:
        """With names for the columns of its result, where `aggregate` calls it for whole rows."""
        return replace(self, aliases=alias_names)

    def __call__(self, *args: Any) -> Any:
        """In a query of the Table API, a part of that query."""
        of_query = next((arg for arg in args if hasattr(type(arg), "_argument_of")), None)
        if of_query is not None:
            return of_query._argument_of(self, args)
        return self.function(*args)


def udf(
    f: Any = None,
    input_types: Types | None = None,
    result_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
    udf_type: str | None = None,
) -> Any:
    """Declare a scalar function."""
    if result_type is None:
        raise TypeError("udf requires result_type=...")
    return _declared(
        "scalar", f, result_type, input_types, udf_type or func_type, deterministic, name
    )


def udtf(
    f: Any = None,
    input_types: Types | None = None,
    result_types: Types | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
) -> Any:
    """Declare a table function."""
    if result_types is None:
        raise TypeError("udtf requires result_types=...")
    return _declared("table", f, result_types, input_types, "general", deterministic, name)


def udaf(
    f: Any = None,
    input_types: Types | None = None,
    result_type: DataType | str | None = None,
    accumulator_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Declare an aggregate function. Accumulators need no type: they are kept as they are."""
    return _declared("aggregate", f, result_type, input_types, func_type, deterministic, name)


def udtaf(
    f: Any = None,
    input_types: Types | None = None,
    result_type: DataType | str | None = None,
    accumulator_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Declare a table aggregate function, for `flat_aggregate`."""
    if func_type != "general":
        raise ValueError(f"func_type of a table aggregate function is 'general', not {func_type!r}")
    return _declared("table aggregate", f, result_type, input_types, func_type, deterministic, name)


def declared_by_itself(function: Any) -> Any:
    """A function that knows its types: an aggregate function may be registered as it is."""
    if isinstance(function, TableAggregateFunction):
        return udtaf(function)
    return udaf(function) if isinstance(function, AggregateFunction) else function


def _declared(
    kind: str,
    f: Any,
    result_type: Types | None,
    input_types: Types | None,
    func_type: str,
    deterministic: bool | None,
    name: str | None,
) -> Any:
    """The declared function, or a decorator that declares one."""
    if func_type not in ("general", "pandas"):
        raise ValueError(f"func_type is 'general' or 'pandas', not {func_type!r}")

    def declare(function: Callable[..., Any] | UserDefinedFunction | type) -> Declared:
        made = function() if isinstance(function, type) else function
        if not callable(made) and not isinstance(made, UserDefinedFunction):
            raise TypeError(f"a value of type {type(made).__name__} cannot be called")
        constant = made.is_deterministic() if isinstance(made, UserDefinedFunction) else True
        if deterministic is not None and isinstance(made, UserDefinedFunction):
            _check_consistent(deterministic, constant)
        result = result_type
        if result is None:
            if not isinstance(made, ImperativeAggregateFunction):
                raise TypeError("an aggregate function requires result_type=...")
            result = made.get_result_type()
        is_async = kind == "scalar" and _is_async(made)
        if is_async and func_type == "pandas":
            raise TypeError("an async function takes values: func_type is 'general'")
        return Declared(
            "async" if is_async else kind,
            made,
            result,
            input_types,
            func_type == "pandas",
            constant if deterministic is None else deterministic,
            name or getattr(made, "__name__", type(made).__name__),
        )

    return declare if f is None else declare(f)


def _is_async(function: Any) -> bool:
    return isinstance(function, AsyncScalarFunction) or inspect.iscoroutinefunction(function)


def _check_consistent(declared: bool, defined: bool) -> None:
    if declared != defined:
        raise ValueError(
            f"deterministic={declared} contradicts is_deterministic(), which returns {defined}"
        )
