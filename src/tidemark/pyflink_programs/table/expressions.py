"""What is imported as `pyflink.table.expressions`: functions that make expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tidemark.dialect import parse_expression
from tidemark.errors import NotSupported
from tidemark.pyflink.api.table.types import DataType, sql_of
from tidemark.pyflink.api.table.udf import Declared
from tidemark.pyflink_programs.table.column_choices import (
    range_,
    with_all_columns,
    with_columns,
    without_columns,
)
from tidemark.pyflink_programs.table.expression import (
    Expression,
    TimePointUnit,
    Writing,
    called,
    column,
    expression_of,
    python_call,
    spelled,
)
from tidemark.pyflink_programs.table.json_options import JsonOnNull

# The bounds of OVER windows.
UNBOUNDED_ROW: Final = "ROWS UNBOUNDED"
UNBOUNDED_RANGE: Final = "RANGE UNBOUNDED"
CURRENT_ROW: Final = "ROWS CURRENT ROW"
CURRENT_RANGE: Final = "RANGE CURRENT ROW"

col = column


def lit(v: Any, data_type: DataType | None = None) -> Expression:
    made = expression_of(v)
    return made if data_type is None else made.cast(data_type)


def and_(predicate0: Any, predicate1: Any, *predicates: Any) -> Expression:
    return _joined("AND", predicate0, predicate1, *predicates)


def or_(predicate0: Any, predicate1: Any, *predicates: Any) -> Expression:
    return _joined("OR", predicate0, predicate1, *predicates)


def _joined(word: str, *predicates: Any) -> Expression:
    return spelled(f"({f' {word} '.join(['{}'] * len(predicates))})", *predicates)


def not_(expression: Any) -> Expression:
    return spelled("(NOT {})", expression)


def call(f: str | Declared, *args: Any) -> Expression:
    """A function by its name, or one of Python."""
    if isinstance(f, Declared):
        return python_call(f, *args)
    return Expression(called(f, *args)._write, function=f)


def call_sql(sql_expression: str) -> Expression:
    """An expression in SQL."""
    parse_expression(sql_expression)
    return Expression(lambda _: f"({sql_expression})")


def null_of(data_type: DataType) -> Expression:
    return Expression(lambda _: f"CAST(NULL AS {sql_of(data_type)})")


def if_then_else(condition: Any, if_true: Any, if_false: Any) -> Expression:
    return expression_of(condition).then(if_true, if_false)


def array(head: Any, *tail: Any) -> Expression:
    elements = [head, *tail]
    return spelled(f"ARRAY[{', '.join(['{}'] * len(elements))}]", *elements)


def map_(key: Any, value: Any, *tail: Any) -> Expression:
    parts = [key, value, *tail]
    return spelled(f"MAP[{', '.join(['{}'] * len(parts))}]", *parts)


def row(head: Any, *tail: Any) -> Expression:
    parts = tuple(map(expression_of, (head, *tail)))
    return Expression(called("ROW", *parts)._write, parts=parts)


def negative(v: Any) -> Expression:
    return -expression_of(v)


def timestamp_diff(
    time_point_unit: TimePointUnit, time_point1: Any, time_point2: Any
) -> Expression:
    spelling = f"TIMESTAMPDIFF({time_point_unit.value}, {{}}, {{}})"
    return spelled(spelling, time_point1, time_point2)


def temporal_overlaps(
    left_time_point: Any, left_temporal: Any, right_time_point: Any, right_temporal: Any
) -> Expression:
    sides = (left_time_point, left_temporal, right_time_point, right_temporal)
    return spelled("(({}, {}) OVERLAPS ({}, {}))", *sides)


def to_date(date_str: Any, *format: Any) -> Expression:
    return called("TO_DATE", date_str, *format)


def row_interval(rows: int) -> Expression:
    """How many rows an OVER window has before the current one."""

    def write(_: Writing) -> str:
        raise NotSupported("windows of a number of rows", hint="use an OVER window")

    return Expression(write, value=rows)


def source_watermark() -> Expression:
    return called("SOURCE_WATERMARK")


def json(value: Any) -> Expression:
    """What is JSON already, for `json_object` and `json_array`."""
    return called("JSON", value)


def json_object(on_null: JsonOnNull = JsonOnNull.NULL, *args: Any) -> Expression:
    if len(args) % 2:
        raise TypeError("json_object() takes a value for each key")
    pairs = ", ".join(["KEY {} VALUE {}"] * (len(args) // 2))
    return spelled(f"JSON_OBJECT({pairs}{_on_null(on_null, args)})", *args)


def json_array(on_null: JsonOnNull = JsonOnNull.ABSENT, *args: Any) -> Expression:
    items = ", ".join(["{}"] * len(args))
    return spelled(f"JSON_ARRAY({items}{_on_null(on_null, args)})", *args)


def json_object_agg(on_null: JsonOnNull, key_expr: Any, value_expr: Any) -> Expression:
    spelling = f"JSON_OBJECTAGG(KEY {{}} VALUE {{}} {on_null.value} ON NULL)"
    return Expression(spelled(spelling, key_expr, value_expr)._write, counted=True)


def json_array_agg(on_null: JsonOnNull, item_expr: Any) -> Expression:
    spelling = f"JSON_ARRAYAGG({{}} {on_null.value} ON NULL)"
    return Expression(spelled(spelling, item_expr)._write, counted=True)


def _on_null(on_null: JsonOnNull, arguments: tuple[Any, ...]) -> str:
    return f" {on_null.value} ON NULL" if arguments else ""


def _constant(text: str) -> Callable[[], Expression]:
    return lambda: Expression(lambda _: text)


def _function(name: str) -> Callable[..., Expression]:
    return lambda *args: called(name, *args)


current_database = _function("CURRENT_DATABASE")
current_date = _constant("CURRENT_DATE")
current_time = _constant("CURRENT_TIME")
current_timestamp = _constant("CURRENT_TIMESTAMP")
local_time = _constant("LOCALTIME")
local_timestamp = _constant("LOCALTIMESTAMP")
current_watermark = _function("CURRENT_WATERMARK")
to_timestamp = _function("TO_TIMESTAMP")
to_timestamp_ltz = _function("TO_TIMESTAMP_LTZ")
date_format = _function("DATE_FORMAT")
convert_tz = _function("CONVERT_TZ")
from_unixtime = _function("FROM_UNIXTIME")
unix_timestamp = _function("UNIX_TIMESTAMP")
map_from_arrays = _function("MAP_FROM_ARRAYS")
pi = _function("PI")
e = _function("E")
rand = _function("RAND")
rand_integer = _function("RAND_INTEGER")
atan2 = _function("ATAN2")
concat = _function("CONCAT")
concat_ws = _function("CONCAT_WS")
uuid = _function("UUID")
coalesce = _function("COALESCE")
json_string = _function("JSON_STRING")
lag = _function("LAG")
lead = _function("LEAD")


def log(v: Any, base: Any = None) -> Expression:
    return called("LN", v) if base is None else called("LOG", base, v)


__all__ = [
    "CURRENT_RANGE",
    "CURRENT_ROW",
    "UNBOUNDED_RANGE",
    "UNBOUNDED_ROW",
    "Expression",
    "TimePointUnit",
    "and_",
    "array",
    "atan2",
    "call",
    "call_sql",
    "coalesce",
    "col",
    "concat",
    "concat_ws",
    "convert_tz",
    "current_database",
    "current_date",
    "current_time",
    "current_timestamp",
    "current_watermark",
    "date_format",
    "e",
    "from_unixtime",
    "if_then_else",
    "json",
    "json_array",
    "json_array_agg",
    "json_object",
    "json_object_agg",
    "json_string",
    "lag",
    "lead",
    "lit",
    "local_time",
    "local_timestamp",
    "log",
    "map_",
    "map_from_arrays",
    "negative",
    "not_",
    "null_of",
    "or_",
    "pi",
    "rand",
    "rand_integer",
    "range_",
    "row",
    "row_interval",
    "source_watermark",
    "temporal_overlaps",
    "timestamp_diff",
    "to_date",
    "to_timestamp",
    "to_timestamp_ltz",
    "unix_timestamp",
    "uuid",
    "with_all_columns",
    "with_columns",
    "without_columns",
]
