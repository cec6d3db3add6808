"""Rows that a program has in a list: a few become SQL's VALUES, many a table in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.dialect import parse_type, quoted_name
from tidemark.pyflink.api.common.row import Row
from tidemark.pyflink.api.table.types import DataType, DataTypes, RowType, sql_of
from tidemark.pyflink_programs.table.literals import literal

if TYPE_CHECKING:
    import pyarrow as pa

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


# To plan a row of VALUES takes a millisecond.
FEW = 100


@dataclass(frozen=True, slots=True)
class Elements:
    """Rows with the names and types of their columns."""

    names: Sequence[str]
    types: Sequence[DataType | str]
    rows: list[list[Any]]

    @property
    def values(self) -> str:
        """The query with these rows."""
        # A row of NULLs that is not there makes the columns nullable, except those that may not be.
        first = self.rows[0] if self.rows else [None] * len(self.types)
        pairs = zip(first, self.types, strict=True)
        nulls = [None if type_ == _nullable(type_) else value for value, type_ in pairs]
        rows = [[False, *nulls], *([True, *row] for row in self.rows)]
        types = ["BOOLEAN", *map(_nullable, self.types)]
        written = [_row(row, types) for row in rows]
        columns, values = ", ".join(map(quoted_name, self.names)), ",\n".join(written)
        return (
            f"SELECT {columns} FROM (VALUES\n{values}\n) AS t (`$there`, {columns}) WHERE `$there`"
        )

    def arrow(self) -> pa.Table | None:
        """The rows as they are, with numbers for names, if Arrow has them as SQL does: collections
        and values of several types are written in SQL.
        """
        import pyarrow as pa

        columns = []
        for place in range(len(self.names)):
            values = [row[place] for row in self.rows]
            if not all(value is None or type(value) in _INFERRED for value in values):
                return None
            try:
                column = pa.array(values)
            except (pa.ArrowException, OverflowError):
                return None
            if pa.types.is_decimal256(column.type):
                return None
            columns.append(column)
        return pa.table(columns, [f"_{place}" for place in range(len(columns))])

    def of_table(self, name: str) -> str:
        """The query of a table with what `arrow` returns."""
        pairs = zip(self.names, self.types, strict=True)
        items = (
            f"CAST(`_{place}` AS {sql_of(_nullable(type_))}) AS {quoted_name(column)}"
            for place, (column, type_) in enumerate(pairs)
        )
        return f"SELECT {', '.join(items)} FROM {name}"


def elements_of(given: Iterable[Any], schema: DataType | Sequence[str] | None) -> Elements:
    """The elements as rows. Types that the schema does not name are inferred."""
    rows = [_fields(element) for element in given]
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
    for row in rows:
        if len(row) != len(types):
            raise ValueError(f"a row has {len(row)} values, but the schema {len(types)} columns")
        for name, type_, value in zip(names, types, row.values(), strict=True):
            if value is None and type_ != _nullable(type_):
                raise ValueError(f"column {name} is NOT NULL, but a row has None there")
    instants = [sql_of(type_).startswith("TIMESTAMP_LTZ") for type_ in types]
    values = [[*map(_in_zone, row.values(), instants)] for row in rows]
    return Elements(names, types, values)


def _in_zone(value: Any, is_instant: bool) -> Any:
    """Times as PyFlink takes them: where instants are wanted, a time without a zone is one of this
    machine, and has milliseconds.
    """
    if not isinstance(value, datetime):
        return value
    if not is_instant:
        return value.replace(tzinfo=None)
    instant = value.astimezone(UTC)
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)


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
    texts = map(sql_of, types)
    cast = (f"CAST({_of_type(v, text)} AS {text})" for v, text in zip(values, texts, strict=True))
    return f"({', '.join(cast)})"


def _of_type(value: Any, type_: str) -> str:
    has_parts = isinstance(value, list | dict | tuple | Row)
    return _literal(value, parse_type(type_) if has_parts else None)


def _literal(value: Any, type_: t.DataType | None) -> str:
    """The value, whose type has to be known only for what is empty."""
    match value, type_:
        case datetime(tzinfo=zone), _ if zone is not None:
            since = value - datetime(1970, 1, 1, tzinfo=UTC)
            return f"TO_TIMESTAMP_LTZ({since // timedelta(milliseconds=1)}, 3)"
        case list(), t.Array(element=element):
            elements = ", ".join(_literal(each, element) for each in value)
            return f"ARRAY[{elements}]" if value else _no_elements(element)
        case dict(), t.Map(key=key, value=item):
            pairs = ", ".join(f"{_literal(k, key)}, {_literal(v, item)}" for k, v in value.items())
            if value:
                return f"MAP[{pairs}]"
            return f"MAP_FROM_ARRAYS({_no_elements(key)}, {_no_elements(item)})"
        case tuple() | Row(), t.Row(fields=fields) if len(fields) == len(value):
            pairs_ = zip(value, fields, strict=True)
            return f"ROW({', '.join(_literal(each, field.type) for each, field in pairs_)})"
    return literal(value)


def _no_elements(type_: t.DataType) -> str:
    """SQL has no literal of an empty array."""
    return f"ARRAY_SLICE(ARRAY[CAST(NULL AS {type_.text()})], 2, 1)"
