"""TIME in the columns of a Parquet file that Arrow is about to write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tidemark import types as t

if TYPE_CHECKING:
    import pyarrow as pa

# Flink knows no more digits, and reads no TIME in another unit.
_MILLISECONDS: Final = 3


def in_milliseconds(rows: pa.Table, fields: Sequence[t.Field]) -> pa.Table:
    """The rows with milliseconds for TIME, where that is as exact."""
    import pyarrow as pa

    columns = zip(rows.schema, fields, strict=True)
    schema = pa.schema([each.with_type(_in_file(each.type, field.type)) for each, field in columns])
    return rows if schema == rows.schema else rows.cast(schema)


def _in_file(found: pa.DataType, type_: t.DataType) -> pa.DataType:
    import pyarrow as pa

    match type_:
        case t.Time(precision=precision) if precision <= _MILLISECONDS:
            return pa.time32("ms")
        case t.Array(element=element):
            list_ = pa.large_list if pa.types.is_large_list(found) else pa.list_
            return list_(found.value_field.with_type(_in_file(found.value_type, element)))
        case t.Map(key=key, value=value):
            inside = _in_file(found.key_type, key), _in_file(found.item_type, value)
            return pa.map_(
                found.key_field.with_type(inside[0]), found.item_field.with_type(inside[1])
            )
        case t.Row(fields=fields):
            pairs = zip(found, fields, strict=True)
            return pa.struct(
                [each.with_type(_in_file(each.type, field.type)) for each, field in pairs]
            )
    return found
