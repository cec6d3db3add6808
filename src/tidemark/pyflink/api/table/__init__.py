"""What is imported as `pyflink.table`."""

from tidemark.pyflink.api.common.row import Row, RowKind
from tidemark.pyflink.api.table.data_view import DataView, ListView, MapView
from tidemark.pyflink.api.table.types import DataTypes
from tidemark.pyflink.api.table.udf import (
    AggregateFunction,
    AsyncScalarFunction,
    FunctionContext,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
)

__all__ = [
    "AggregateFunction",
    "AsyncScalarFunction",
    "DataTypes",
    "DataView",
    "FunctionContext",
    "ListView",
    "MapView",
    "Row",
    "RowKind",
    "ScalarFunction",
    "TableAggregateFunction",
    "TableFunction",
]
