"""Types of columns as PyFlink's objects."""

from __future__ import annotations

from typing import Final

from tidemark import types as t
from tidemark.pyflink.api.table.types import DataType, DataTypes

_SIMPLE: Final = {
    t.Null: DataTypes.NULL,
    t.Boolean: DataTypes.BOOLEAN,
    t.TinyInt: DataTypes.TINYINT,
    t.SmallInt: DataTypes.SMALLINT,
    t.Int: DataTypes.INT,
    t.BigInt: DataTypes.BIGINT,
    t.Float: DataTypes.FLOAT,
    t.Double: DataTypes.DOUBLE,
    t.Date: DataTypes.DATE,
}


def type_object(type_: t.DataType) -> DataType:
    made = _nullable(type_)
    return made if type_.nullable else made.not_null()


def _nullable(type_: t.DataType) -> DataType:
    match type_:
        case t.Char(length=length):
            return DataTypes.CHAR(length)
        case t.VarChar(length=length):
            return DataTypes.VARCHAR(length)
        case t.Binary(length=length):
            return DataTypes.BINARY(length)
        case t.VarBinary(length=length):
            return DataTypes.VARBINARY(length)
        case t.Decimal(precision=precision, scale=scale):
            return DataTypes.DECIMAL(precision, scale)
        case t.Time(precision=precision):
            return DataTypes.TIME(precision)
        case t.Timestamp(precision=precision):
            return DataTypes.TIMESTAMP(precision)
        case t.TimestampLtz(precision=precision):
            return DataTypes.TIMESTAMP_LTZ(precision)
        case t.Array(element=element):
            return DataTypes.ARRAY(type_object(element))
        case t.Multiset(element=element):
            return DataTypes.MULTISET(type_object(element))
        case t.Map(key=key, value=value):
            return DataTypes.MAP(type_object(key), type_object(value))
        case t.Row(fields=fields):
            return DataTypes.ROW([DataTypes.FIELD(f.name, type_object(f.type)) for f in fields])
    simple = _SIMPLE.get(type(type_))
    return simple() if simple is not None else _Other(type_.text())


class _Other(DataType):
    """A type that Python has no object for."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    @property
    def name(self) -> str:
        return self._text
