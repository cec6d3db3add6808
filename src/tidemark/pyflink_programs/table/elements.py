"""Rows that a program has in a list, as SQL's VALUES."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from tidemark.dialect import quoted_name
from tidemark.pyflink.api.common.row import Row
from tidemark.pyflink.api.table.types import DataType, DataTypes, RowType, sql_of
from tidemark.pyflink_programs.table.literals import literal

_INFERRED: dict[type, DataType] = {
    bool: DataTypes.BOOLEAN(),
    int: DataTypes.BIGINT(),
    float: DataTypes.DOUBLE(),
    str: DataTypes.STRING(),
    bytearray: DataTypes.BYTES(),
    bytes: DataTypes.BYTES(),
    Decimal: DataTypes.DECIMAL(38, 18),
    date: DataTypes.DATE(),
    time: DataTypes.TIME(0),
    datetime: DataTypes.TIMESTAMP_LTZ(6),
}


def query_of(elements: Iterable[Any], schema: DataType | Sequence[str] | None) -> str:
    """The query with these rows. Types that the schema does not name are inferred."""
    rows = [_fields(element) for element in elements]
    types: Sequence[DataType | str]
    if isinstance(schema, RowType):
        names = [field.name for field in schema.fields]
        types = [field.data_type for field in schema.fields]
    elif isinstance(schema, DataType):
        names = ["value"]
        types = [schema]
    else:
        if not rows:
            raise ValueError("the types of no elements are unknown: pass DataTypes.ROW([...])")
        names = _names(rows[0], schema)
        types = _inferred(rows)
    # A row of NULLs that is not there makes the columns nullable.
    written = [_row([False, *(None for _ in types)], ["BOOLEAN", *map(_nullable, types)])]
    written += [_row([True, *row.values()], ["BOOLEAN", *types]) for row in rows]
    columns = ", ".join(map(quoted_name, names))
    values = ",\n".join(written)
    return f"SELECT {columns} FROM (VALUES\n{values}\n) AS t (`$there`, {columns}) WHERE `$there`"


def _fields(element: Any) -> dict[str, Any]:
    """The values of a row by their names; those that have none are numbered."""
    if isinstance(element, Mapping):
        return dict(sorted(element.items()))
    names = getattr(element, "_fields", None)
    if isinstance(element, tuple | list | Row):
        values = list(element)
        return dict(zip(names or (f"_{n}" for n in range(1, len(values) + 1)), values, strict=True))
    return {"_1": element}


def _names(row: Mapping[str, Any], given: Sequence[str] | None) -> list[str]:
    """The given names, and for the fields after them their own."""
    given = list(given or ())
    return [*given, *list(row)[len(given) :]]


def _inferred(rows: Sequence[Mapping[str, Any]]) -> list[DataType]:
    columns = zip(*(row.values() for row in rows), strict=True)
    return [_type_of(next((v for v in column if v is not None), None)) for column in columns]


def _type_of(value: Any) -> DataType:
    match value:
        case None:
            return DataTypes.STRING()
        case dict():
            key, item = next(iter(value.items()), (None, None))
            return DataTypes.MAP(_type_of(key).not_null(), _type_of(item))
        case list():
            return DataTypes.ARRAY(_type_of(next((v for v in value if v is not None), None)))
        case tuple() | Row():
            fields = _fields(value)
            return DataTypes.ROW([DataTypes.FIELD(n, _type_of(v)) for n, v in fields.items()])
    try:
        return _INFERRED[type(value)]
    except KeyError:
        raise TypeError(f"not supported type: {type(value)}") from None


def _nullable(type_: DataType | str) -> DataType | str:
    return type_.nullable() if isinstance(type_, DataType) else type_.removesuffix(" NOT NULL")


def _row(values: Sequence[Any], types: Sequence[DataType | str]) -> str:
    if len(values) != len(types):
        given, declared = len(values) - 1, len(types) - 1
        raise ValueError(f"a row has {given} values, but the schema {declared} columns")
    cast = (f"CAST({literal(v)} AS {sql_of(t)})" for v, t in zip(values, types, strict=True))
    return f"({', '.join(cast)})"
