"""Times in the columns of an ORC file that Arrow is about to write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

_MICROSECONDS: Final = 1_000_000
# What Arrow reads again, as nanoseconds in 64 bits: from 1677 to 2262.
_MOST: Final = (2**63 - 1) // 1000


def with_times(rows: pa.Table) -> pa.Table:
    """The rows, whose times can all be written. Raises DataError."""
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        for chunk in column.chunks:
            _check(name, chunk)
    return rows


def _check(name: str, values: pa.Array) -> None:
    """Checks all times inside, at any depth."""
    import pyarrow as pa
    from pyarrow import compute

    type_ = values.type
    if pa.types.is_timestamp(type_):
        micros = values.cast(pa.timestamp("us")).cast(pa.int64())
        far = compute.greater(compute.abs_checked(micros), _MOST)
        whole = compute.multiply(compute.divide(micros, _MICROSECONDS), _MICROSECONDS)
        parted = compute.and_(compute.less(micros, 0), compute.not_equal(micros, whole))
        _refuse(name, values, far, "Arrow reads ORC's times from 1677 to 2262 only")
        _refuse(name, values, parted, "Arrow damages fractions of seconds before 1970 in ORC files")
    elif pa.types.is_struct(type_):
        for place in range(type_.num_fields):
            _check(name, compute.struct_field(values, [place]))
    elif pa.types.is_map(type_):
        entries = values.cast(pa.list_(pa.struct([type_.key_field, type_.item_field])))
        _check(name, entries.flatten())
    elif pa.types.is_list(type_) or pa.types.is_large_list(type_):
        _check(name, values.flatten())


def _refuse(name: str, values: pa.Array, bad: pa.BooleanArray, why: str) -> None:
    from pyarrow import compute

    found = compute.index(bad.fill_null(False), True).as_py()
    if found >= 0:
        raise DataError(
            f"cannot write {values[found]} in `{name}` with the orc format",
            notes={"why": why},
            hint="write such times to parquet or avro, or as STRING",
        )
