"""What PyFlink's declarations say, in the words of Tidemark's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tidemark.pyflink.api.table.types import DataType, RowType, sql_of
from tidemark.pyflink.api.table.udf import Declared, Types
from tidemark.pyflink.running import (
    AccumulatingCall,
    AsyncCall,
    PandasAggregateCall,
    PandasCall,
    ScalarCall,
    TableAggregateCall,
    TableCall,
)

_CALLED: dict[tuple[str, bool], Callable[[Any], Any]] = {
    ("scalar", False): ScalarCall,
    ("table", False): TableCall,
    ("aggregate", False): AccumulatingCall,
    ("aggregate", True): PandasAggregateCall,
    ("table aggregate", False): TableAggregateCall,
}


def called(declared: Declared) -> Any:
    """The object that Tidemark calls."""
    if takes_columns(declared):
        result = declared.result_type
        fields = result.names if isinstance(result, RowType) else []
        call = AsyncCall if declared.kind == "async" else PandasCall
        return call(declared.function, fields)
    return _CALLED[declared.kind, declared.pandas](declared.function)


def takes_columns(declared: Declared) -> bool:
    """Whether it is a scalar function that is called for many rows at once."""
    return declared.kind == "async" or (declared.kind == "scalar" and declared.pandas)


def result_of(declared: Declared) -> str:
    """The SQL type of the result; of a table function that of its rows, and of a table aggregate
    function an array of them.
    """
    result = declared.result_type
    assert result is not None
    if declared.kind == "table aggregate":
        return f"ARRAY<{_row(result)}>"
    if declared.kind != "table":
        assert isinstance(result, DataType | str)
        return sql_of(result)
    return _row(result)


def _row(result: Types) -> str:
    if isinstance(result, RowType) or (
        isinstance(result, str) and result.lstrip().upper().startswith("ROW")
    ):
        return sql_of(result)
    fields = (f"f{i} {type_}" for i, type_ in enumerate(_listed(result)))
    return f"ROW<{', '.join(fields)}>"


def parameters_of(declared: Declared) -> list[str] | None:
    """The SQL types of the parameters; None if they are not declared."""
    given = declared.input_types
    return None if given is None else _listed(given)


def _listed(types: Types) -> list[str]:
    several: Sequence[DataType | str] = [types] if isinstance(types, DataType | str) else types
    return [sql_of(type_) for type_ in several]
