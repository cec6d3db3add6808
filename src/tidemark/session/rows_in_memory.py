"""Rows that a user has in memory, in frames of any library, as an Arrow table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tidemark.errors import PlanError
from tidemark.functions.arrow_types import from_arrow, to_arrow

if TYPE_CHECKING:
    import pyarrow as pa

_KINDS: Final = ("+I", "-U", "+U", "-D")


def library_of(frame: Any) -> str:
    return type(frame).__module__.partition(".")[0]


def is_of_spark(frame: Any) -> bool:
    return library_of(frame) == "pyspark"


def arrow_table(frame: Any, row_kind: str | None) -> pa.Table:
    """The rows of a frame, with the Arrow types of Flink's types. Nanoseconds are cut off, and
    categories are strings.
    """
    rows = _as_table(frame)
    if row_kind is not None and row_kind in rows.column_names:
        _check_kinds(rows[row_kind], row_kind)
    import pyarrow as pa

    fields = []
    for field, values in zip(rows.schema, rows.columns, strict=True):
        type_ = from_arrow(_in_microseconds(field.type))
        is_nullable = field.nullable or values.null_count > 0
        fields.append(pa.field(field.name, to_arrow(type_), is_nullable))
    return rows.cast(pa.schema(fields), safe=False)


def _as_table(frame: Any) -> pa.Table:
    import pyarrow as pa

    try:
        if library_of(frame) == "pandas":
            return pa.Table.from_pandas(frame, preserve_index=False)
        return pa.table(frame)
    except pa.ArrowException as problem:
        raise PlanError(
            "the rows cannot be read as Arrow",
            notes={"reason": " ".join(map(str, problem.args))},
            hint="give each column values of one type",
        ) from None
    except (TypeError, ValueError):
        hint = "a DataFrame of Spark, pandas or Polars, or a table of Arrow"
        if library_of(frame) == "polars":
            hint = "collect() it first"
        raise PlanError(f"cannot register a {type(frame).__name__}", hint=hint) from None


def _check_kinds(kinds: pa.ChunkedArray, name: str) -> None:
    wrong = [str(kind) for kind in kinds.unique().to_pylist() if kind not in _KINDS]
    if wrong:
        raise PlanError(
            f"row_kind column `{name}` contains {', '.join(wrong[:3])}",
            hint=f"row kinds are {', '.join(_KINDS)}",
        )


def _in_microseconds(type_: pa.DataType) -> pa.DataType:
    """The type with times as precise as tables have them, also inside other types."""
    import pyarrow as pa
    from pyarrow import types as p

    if p.is_timestamp(type_) and type_.unit == "ns":
        return pa.timestamp("us", type_.tz)
    if p.is_time(type_) and type_.unit == "ns":
        return pa.time64("us")
    if p.is_list(type_) or p.is_large_list(type_):
        return pa.list_(type_.value_field.with_type(_in_microseconds(type_.value_type)))
    if p.is_struct(type_):
        inside = [type_.field(i) for i in range(type_.num_fields)]
        return pa.struct([field.with_type(_in_microseconds(field.type)) for field in inside])
    return type_
