"""Values of expressions as values of a column's type."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from tidemark import types as t
from tidemark.errors import DataError
from tidemark.functions.arrow_types import to_arrow

_MICROS = pa.timestamp("us")


def converted(values: pa.Array, type_: t.DataType, key: str) -> pa.Array:
    """The values in the type; strings are read as it."""
    try:
        return _converted(values, type_)
    except pa.ArrowException as problem:
        example = pc.drop_null(values)[0] if len(values) else None
        raise DataError(
            f"option '{key}' makes values such as '{example}' that are not of the type"
            f" {type_.text()}",
            notes={"why": str(problem).splitlines()[0]},
        ) from None


def _converted(values: pa.Array, type_: t.DataType) -> pa.Array:
    match type_:
        case t.Char() | t.VarChar():
            return values.cast(pa.large_string())
        case t.Boolean():
            if pa.types.is_boolean(values.type):
                return values
            return pc.equal(pc.utf8_lower(values.cast(pa.large_string())), "true")
        case t.Decimal(scale=scale):
            wide = pa.decimal128(38, 18)
            exact = values.cast(pa.large_string()).cast(wide)
            return pc.round(exact, scale, "half_towards_infinity").cast(to_arrow(type_))
        case t.Timestamp() | t.TimestampLtz():
            return _instant(values).cast(to_arrow(type_), safe=False)
        case t.Date():
            return _instant(values).cast(pa.date32(), safe=False)
        case t.Time():
            return _instant(values).cast(pa.time64("us"), safe=False)
    return values.cast(to_arrow(type_))


def _instant(values: pa.Array) -> pa.Array:
    """Times as UTC's clock shows them, as in Flink."""
    return values.cast(_MICROS)
