"""Rows that a user has in memory, in frames of any library, as an Arrow table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tidemark.errors import PlanError
from tidemark.functions.arrow_types import from_arrow, to_arrow

if TYPE_CHECKING:
    import pyarrow as pa

_KINDS: Final = ("+I", "-U", "+U", "-D")
_LITTLE: Final = 1 << 16  # bytes that do not matter


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
    if not fields:
        raise PlanError("the rows have no columns", hint="give them at least one")
    return _without_others(rows.cast(pa.schema(fields), safe=False))


def _without_others(rows: pa.Table) -> pa.Table:
    """The rows alone: a piece of a large table holds all of it, also on the way to workers."""
    import pyarrow as pa

    if rows.get_total_buffer_size() <= 2 * rows.nbytes + _LITTLE:
        return rows
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    return pa.ipc.open_stream(sink.getvalue()).read_all()


def _as_table(frame: Any) -> pa.Table:
    import pyarrow as pa

    _check_no_objects(frame)
    try:
        if _is_pandas(frame):
            return pa.Table.from_pandas(frame, preserve_index=False)
        return pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError) as problem:
        if isinstance(problem, pa.ArrowException) or _is_pandas(frame):
            raise PlanError(
                "the rows cannot be read as Arrow",
                notes={"reason": " ".join(map(str, problem.args))},
                hint="give each column a name of its own, and values of one type",
            ) from None
        hint = "a DataFrame of Spark, pandas or Polars, or a table of Arrow"
        if library_of(frame) == "polars":
            hint = "collect() it first"
        raise PlanError(f"cannot register a {type(frame).__name__}", hint=hint) from None


def _is_pandas(frame: Any) -> bool:
    return library_of(frame) == "pandas" and hasattr(frame, "columns")


def _check_no_objects(frame: Any) -> None:
    """Polars hands out objects of Python as the bytes of their addresses."""
    for name, dtype in getattr(frame, "schema", {}).items() if _is_polars(frame) else ():
        if "Object" in str(dtype):
            raise PlanError(
                f"column `{name}` has objects of Python",
                hint="cast it to a type of Polars, such as String",
            )


def _is_polars(frame: Any) -> bool:
    return library_of(frame) == "polars" and type(frame).__name__ == "DataFrame"


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
