"""What is imported as `pyflink.table`."""

from tidemark.pyflink.api.common.row import Row, RowKind
from tidemark.pyflink.api.table.data_view import DataView, ListView, MapView
from tidemark.pyflink.api.table.types import DataTypes
from tidemark.pyflink.api.table.udf import (
    AggregateFunction,
    FunctionContext,
    ScalarFunction,
    TableFunction,
)

__all__ = [
    "AggregateFunction",
    "DataTypes",
    "DataView",
    "FunctionContext",
    "ListView",
    "MapView",
    "Row",
    "RowKind",
    "ScalarFunction",
    "TableFunction",
]
