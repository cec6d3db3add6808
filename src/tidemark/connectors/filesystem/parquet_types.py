"""Which columns of Parquet files are read into which types: those that Flink reads, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from tidemark import types as t
from tidemark.connectors.columns_by_name import reads

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    Times = TypeVar("Times", pl.Expr, pl.Series)

# Integers that files have in 32 bits, of which Flink takes as many as the column has.
_IN_32_BITS: Final = ("int8", "int16", "int32", "uint8", "uint16", "uint32")


def fits(found: pa.DataType, wanted: t.DataType) -> bool:
    """Whether a column of the one type is read into the other. Integers may turn out not to fit."""
    return reads(_as_read(found, wanted), wanted)


def _as_read(found: pa.DataType, wanted: t.DataType) -> pa.DataType:
    """The type with what is wanted in place of what is read as it: times of any unit, with or
    without a zone, which are those of UTC; integers of other widths; and columns of NULLs only.
    """
    import pyarrow as pa
    from pyarrow import types as p

    from tidemark.functions.arrow_types import to_arrow

    match wanted:
        case _ if p.is_null(found):
            return to_arrow(wanted)
        case t.Timestamp() | t.TimestampLtz() | t.BigInt() if p.is_timestamp(found):
            return to_arrow(wanted)
        case t.BigInt() if p.is_uint64(found):
            return to_arrow(wanted)
        case t.TinyInt() | t.SmallInt() | t.Int() if str(found) in _IN_32_BITS:
            return to_arrow(wanted)
        case t.Array(element=element) if p.is_list(found):
            return pa.list_(_as_read(found.value_type, element))
        case t.Map(key=key, value=value) if p.is_map(found):
            return pa.map_(_as_read(found.key_type, key), _as_read(found.item_type, value))
        case t.Row(fields=fields) if p.is_struct(found) and found.num_fields == len(fields):
            pairs = zip(found, fields, strict=True)
            return pa.struct([own.with_type(_as_read(own.type, f.type)) for own, f in pairs])
    return found


def at_precision(times: Times, type_: t.DataType) -> Times:
    """Times with the digits of their type: files may have more, which Flink cuts off."""
    if not isinstance(type_, t.Timestamp | t.TimestampLtz) or type_.precision >= 6:
        return times
    return times.dt.truncate(f"{10 ** (6 - type_.precision)}us")


def in_nanoseconds(schema: pa.Schema, names: Sequence[str | None]) -> bool:
    """Whether some of the columns have such times, which Spark does not read."""
    return any(name is not None and "[ns" in str(schema.field(name).type) for name in names)
