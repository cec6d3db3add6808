"""The faker connector: rows of expressions such as `#{Name.firstName}`.

Names, cities and the like are of the library Faker, which has values of its own; they are not those
of Datafaker, which are random too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tidemark import types as t
from tidemark.catalog.tables import Table
from tidemark.connectors import made_rows
from tidemark.connectors.faker.options import OPTIONS, check
from tidemark.connectors.made_rows import Generator

if TYPE_CHECKING:
    from tidemark.connectors.made_rows.columns.rows import ColumnMaker

# About as many bytes has a value.
_STRING, _OTHER = 32, 8
_COLLECTIONS: Final = (t.Array, t.Map, t.Multiset)


def _count(table: Table, options: Mapping[str, Any]) -> int | None:
    rows: int = options["number-of-rows"]
    return None if rows < 0 else rows


def _rate(options: Mapping[str, Any]) -> int:
    rate: int = options["rows-per-second"]
    return rate


def _row_bytes(types: Mapping[str, t.DataType], options: Mapping[str, Any]) -> int:
    def size(name: str, type_: t.DataType) -> int:
        if isinstance(type_, _COLLECTIONS):
            return 2 * _STRING * int(options.get(f"fields.{name}.length") or 1)
        if isinstance(type_, t.Row):
            return _STRING * len(type_.fields)
        return _STRING if isinstance(type_, t.CHARACTERS) else _OTHER

    return sum(size(name, type_) for name, type_ in types.items())


def _values(table: Table, options: Mapping[str, Any], seed: str, zone: str) -> ColumnMaker:
    from tidemark.connectors.faker.made.columns import FakerColumns

    return FakerColumns(options, seed)


FAKER = made_rows.connector(
    "faker",
    "generates rows from Datafaker expressions",
    OPTIONS,
    check,
    Generator(_count, _rate, _row_bytes, _values),
)
