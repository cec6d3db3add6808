"""What each Flink type is in Arrow, and back; the table is in `spark/types.py`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.errors import NotSupported
from tidemark.functions.spark_text import check_precision, safe_names

if TYPE_CHECKING:
    import pyarrow as pa

_ARROW_NAMES: dict[type[t.DataType], str] = {
    t.Null: "null",
    t.Boolean: "bool_",
    t.TinyInt: "int8",
    t.SmallInt: "int16",
    t.Int: "int32",
    t.BigInt: "int64",
    t.Float: "float32",
    t.Double: "float64",
    t.Char: "string",
    t.VarChar: "string",
    t.Binary: "binary",
    t.VarBinary: "binary",
    t.Date: "date32",
    t.YearMonthInterval: "month_day_nano_interval",
}


def to_arrow(type_: t.DataType) -> pa.DataType:
    """The Arrow type of a Flink type; fields of rows keep the names that the user gave them."""
    import pyarrow as pa

    check_precision(type_)
    match type_:
        case t.Decimal(precision=precision, scale=scale):
            return pa.decimal128(precision, scale)
        case t.Time():
            return pa.time64("us")
        case t.Timestamp():
            return pa.timestamp("us")
        case t.TimestampLtz():
            return pa.timestamp("us", tz="UTC")
        case t.DayTimeInterval():
            return pa.duration("us")
        case t.Array(element=element):
            return pa.list_(_arrow_field("element", element))
        case t.Multiset(element=element):
            return _arrow_map(element, t.Int(nullable=False))
        case t.Map(key=key, value=value):
            return _arrow_map(key, value)
        case t.Row(fields=fields):
            return pa.struct([_arrow_field(field.name, field.type) for field in fields])
    return getattr(pa, _ARROW_NAMES[type(type_)])()


def loose_arrow(type_: t.DataType) -> pa.DataType:
    """The Arrow type with safe names inside rows, whose parts may be NULL: neither Spark nor a
    format checks that.
    """
    return to_arrow(_loose(type_))


def _loose(type_: t.DataType) -> t.DataType:
    match type_:
        case t.Array(element=element):
            return t.Array(_loose(element))
        case t.Multiset(element=element):
            return t.Multiset(_loose(element))
        case t.Map(key=key, value=value):
            return t.Map(_loose(key), _loose(value))
        case t.Row(fields=fields):
            names = safe_names([field.name for field in fields])
            return t.Row(
                tuple(
                    replace(field, name=name, type=_loose(field.type))
                    for name, field in zip(names, fields, strict=True)
                )
            )
    return type_.with_nullable(True)


def _arrow_map(key: t.DataType, value: t.DataType) -> pa.DataType:
    import pyarrow as pa

    return pa.map_(to_arrow(key), _arrow_field("value", value))


def _arrow_field(name: str, type_: t.DataType) -> pa.Field:
    import pyarrow as pa

    return pa.field(name, to_arrow(type_), nullable=type_.nullable)


def renamed(type_: Any, names: Any) -> Any:
    """The type with the names of fields that another one has, which fits it."""
    import pyarrow as pa
    from pyarrow import types as p

    if p.is_struct(type_):
        fields = [
            pa.field(names.field(i).name, renamed(type_.field(i).type, names.field(i).type))
            for i in range(type_.num_fields)
        ]
        return pa.struct(fields)
    if p.is_map(type_):
        return pa.map_(
            renamed(type_.key_type, names.key_type), renamed(type_.item_type, names.item_type)
        )
    if p.is_list(type_) or p.is_large_list(type_):
        list_of = pa.list_ if p.is_list(type_) else pa.large_list
        return list_of(renamed(type_.value_type, names.value_type))
    return type_


def safely_named(type_: Any) -> Any:
    """The type with the names that fields of rows have in frames."""
    import pyarrow as pa
    from pyarrow import types as p

    if p.is_struct(type_):
        inside = [type_.field(i) for i in range(type_.num_fields)]
        names = safe_names([field.name for field in inside])
        fields = zip(names, inside, strict=True)
        return pa.struct(
            [field.with_name(n).with_type(safely_named(field.type)) for n, field in fields]
        )
    if p.is_map(type_):
        return pa.map_(safely_named(type_.key_type), safely_named(type_.item_type))
    if p.is_list(type_) or p.is_large_list(type_):
        list_of = pa.list_ if p.is_list(type_) else pa.large_list
        return list_of(safely_named(type_.value_type))
    return type_


# --- Arrow to Flink ----------------------------------------------------------------------------

_FLINK_OF_ARROW: dict[str, t.DataType] = {
    "null": t.Null(),
    "bool": t.Boolean(),
    "int8": t.TinyInt(),
    "int16": t.SmallInt(),
    "int32": t.Int(),
    "int64": t.BigInt(),
    # Unsigned integers need the next wider type.
    "uint8": t.SmallInt(),
    "uint16": t.Int(),
    "uint32": t.BigInt(),
    "uint64": t.Decimal(20, 0),
    "float": t.Float(),
    "double": t.Double(),
    "string": t.STRING,
    "large_string": t.STRING,
    "string_view": t.STRING,
    "binary": t.BYTES,
    "large_binary": t.BYTES,
    "binary_view": t.BYTES,
    "date32[day]": t.Date(),
    "month_day_nano_interval": t.YearMonthInterval(),
}
_PRECISION_OF_UNIT = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def from_arrow(type_: pa.DataType, *, nullable: bool = True) -> t.DataType:
    """The Flink type of an Arrow column, with the same precision."""
    return _from_arrow(type_).with_nullable(nullable)


def _from_arrow(type_: Any) -> t.DataType:
    from pyarrow import types as p

    if p.is_timestamp(type_):
        precision = _PRECISION_OF_UNIT[type_.unit]
        return t.Timestamp(precision) if type_.tz is None else t.TimestampLtz(precision)
    if p.is_time(type_):
        return t.Time(_PRECISION_OF_UNIT[type_.unit])
    if p.is_duration(type_):
        return t.DayTimeInterval()
    if p.is_decimal(type_):
        return t.Decimal(type_.precision, type_.scale)
    if p.is_fixed_size_binary(type_):
        return t.Binary(type_.byte_width)
    if p.is_dictionary(type_):
        return _from_arrow(type_.value_type)
    return _nested_from_arrow(type_)


def _nested_from_arrow(type_: Any) -> t.DataType:
    from pyarrow import types as p

    if p.is_map(type_):
        value = from_arrow(type_.item_type, nullable=type_.item_field.nullable)
        return t.Map(from_arrow(type_.key_type, nullable=False), value)
    if p.is_list(type_) or p.is_large_list(type_) or p.is_fixed_size_list(type_):
        return t.Array(from_arrow(type_.value_type, nullable=type_.value_field.nullable))
    if p.is_struct(type_):
        fields = (type_.field(i) for i in range(type_.num_fields))
        return t.Row(
            tuple(t.Field(f.name, from_arrow(f.type, nullable=f.nullable)) for f in fields)
        )
    if str(type_) not in _FLINK_OF_ARROW:
        raise NotSupported(f"Arrow's type {type_} is not supported in Flink SQL")
    return _FLINK_OF_ARROW[str(type_)]
