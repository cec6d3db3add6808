"""Functions declared with PyFlink's API, as Tidemark calls them.

Each is opened once per process. Unpickling one of these imports `tidemark.pyflink`, so that a
worker can then import the user's module, which imports `pyflink`.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterator
from functools import partial
from numbers import Real
from typing import Any, Final

from tidemark.pyflink.api.common.row import Row
from tidemark.pyflink.api.table.udf import FunctionContext, UserDefinedFunction
from tidemark.pyflink.waiting import awaited

# Several threads may call a function for the first time.
_OPENING: Final = threading.RLock()


class Opened:
    """A function that is opened before it is first used in a process."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._is_open = False

    @property
    def __signature__(self) -> inspect.Signature:
        """Of the user's code, so that a wrong number of arguments is found when planning."""
        accumulate = getattr(self._function, "accumulate", None)
        if accumulate is not None:
            return inspect.signature(partial(accumulate, None))
        return inspect.signature(getattr(self._function, "eval", self._function))

    def opened(self) -> Any:
        with _OPENING:
            if not self._is_open:
                if isinstance(self._function, UserDefinedFunction):
                    self._function.open(FunctionContext())
                self._is_open = True
        return self._function

    def __getstate__(self) -> dict[str, Any]:
        # A connection or a model that `open` made belongs to this process.
        return {**self.__dict__, "_is_open": False}


class OfRow(UserDefinedFunction):
    """A function of one row, which is made of the arguments."""

    def __init__(self, function: Any, names: list[str]) -> None:
        self._function, self._names = function, names

    def open(self, function_context: FunctionContext) -> None:
        if isinstance(self._function, UserDefinedFunction):
            self._function.open(function_context)

    def row(self, values: tuple[Any, ...]) -> Row:
        row = Row(*values)
        row.set_field_names(self._names)
        return row

    def eval(self, *values: Any) -> Any:
        return self._function(self.row(values))

    __call__ = eval


class AccumulatingOfRow:
    """The same for an aggregate function. It has `retract` and `merge` if the other has."""

    def __init__(self, function: Any, names: list[str]) -> None:
        self._of_row, self._function = OfRow(function, names), function
        self._names = names

    def open(self, function_context: FunctionContext) -> None:
        self._of_row.open(function_context)

    def accumulate(self, accumulator: Any, *values: Any) -> None:
        self._function.accumulate(accumulator, self._of_row.row(values))

    def _retract(self, accumulator: Any, *values: Any) -> None:
        self._function.retract(accumulator, self._of_row.row(values))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._function, name)
        return self._retract if name == "retract" else found


class OfFrame(OfRow):
    """A function of a frame of pandas with all rows, which is made of the arguments."""

    def eval(self, *values: Any) -> Any:
        return self._function(_frame(self._names, values))

    __call__ = eval


def _frame(names: list[str], series: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(dict(zip(names, series, strict=True)))


class AccumulatingOfFrame(AccumulatingOfRow):
    """The same for an aggregate function that takes frames of pandas."""

    def accumulate(self, accumulator: Any, *values: Any) -> None:
        self._function.accumulate(accumulator, _frame(self._names, values))


class ScalarCall(Opened):
    """A value for each row."""

    def __call__(self, *args: Any) -> Any:
        return plain(self.opened()(*args))


class TableCall(Opened):
    """A list of rows for each row."""

    def __call__(self, *args: Any) -> list[Any]:
        return rows_of(self.opened()(*args))


class PandasCall(Opened):
    """A Series for Series of equal length. A DataFrame is a column of rows with these fields."""

    def __init__(self, function: Any, fields: list[str]) -> None:
        super().__init__(function)
        self._fields = fields

    def __call__(self, *arrays: Any) -> Any:
        import pandas as pd
        import pyarrow as pa

        found = self.opened()(*(as_series(array) for array in arrays))
        if not isinstance(found, pd.Series | pd.DataFrame):
            raise TypeError(f"a pandas function must return a Series, not {type(found).__name__}")
        if len(found) != len(arrays[0]):
            raise ValueError(f"got {len(arrays[0])} values and returned {len(found)}")
        if isinstance(found, pd.Series):
            return pa.Array.from_pandas(found)
        if len(found.columns) != len(self._fields):
            raise TypeError(
                f"a DataFrame with {len(found.columns)} columns was returned, but result_type is "
                f"DataTypes.ROW([...]) with {len(self._fields)} fields"
            )
        columns = [pa.Array.from_pandas(column) for _, column in found.items()]
        return pa.StructArray.from_arrays(columns, self._fields)


class AsyncCall(Opened):
    """Values for many rows: as many at once as Flink waits for."""

    def __init__(self, function: Any, fields: list[str]) -> None:
        super().__init__(function)
        self._fields = fields

    def __call__(self, *arrays: Any) -> Any:
        import pyarrow as pa

        self.opened()
        rows = zip(*(array.to_pylist() for array in arrays), strict=True)
        values = awaited(self._function, rows)
        return pa.array([self._stored(value) for value in values])

    def _stored(self, value: Any) -> Any:
        if not self._fields or value is None:
            return value
        return dict(zip(self._fields, plain(value), strict=True))


class PandasAggregateCall(Opened):
    """A value for Series with the arguments of a group's rows."""

    def __call__(self, *arrays: Any) -> Any:
        function = self.opened()
        series = [as_series(array) for array in arrays]
        if not hasattr(function, "create_accumulator"):
            return _or_null(function(*series))
        accumulator = function.create_accumulator()
        function.accumulate(accumulator, *series)
        return _or_null(function.get_value(accumulator))


class AccumulatingCall(Opened):
    """An accumulating object. It has `retract` and `merge` if the user's object has."""

    def create_accumulator(self) -> Any:
        return self.opened().create_accumulator()

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        self.opened().accumulate(accumulator, *args)

    def get_value(self, accumulator: Any) -> Any:
        return plain(self.opened().get_value(accumulator))

    def __getattr__(self, name: str) -> Any:
        if name in ("retract", "merge"):
            return getattr(self._function, name)
        raise AttributeError(name)


class TableAggregateCall(AccumulatingCall):
    """The same for a function that emits rows: they are the value."""

    def get_value(self, accumulator: Any) -> Any:
        return rows_of(self.opened().emit_value(accumulator))


def _or_null(value: Any) -> Any:
    """NaN is what pandas has for NULL."""
    return None if isinstance(value, Real) and value != value else plain(value)


def rows_of(result: Any) -> list[Any]:
    """The rows that a table function returned, as tuples: several, one, or none for None."""
    if result is None:
        return []
    several = result if isinstance(result, list | range | Iterator) else (result,)
    return [tuple(row) if isinstance(row := plain(each), tuple) else (row,) for each in several]


def plain(value: Any) -> Any:
    """The value with rows as tuples."""
    match value:
        case Row() | tuple():
            return tuple(plain(part) for part in value)
        case list():
            return [plain(part) for part in value]
        case dict():
            return {key: plain(part) for key, part in value.items()}
    return value


def as_series(array: Any) -> Any:
    """Dates as objects, as in PyFlink."""
    return array.to_pandas(date_as_object=True)
