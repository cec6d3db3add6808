"""The datagen connector: generates random or sequential rows.

`made` makes their values in columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tidemark.catalog.tables import Table
from tidemark.connectors import made_rows
from tidemark.connectors.datagen.options import OPTIONS, check, is_sequence
from tidemark.connectors.datagen.sizes import bytes_of
from tidemark.connectors.made_rows import Generator, physical
from tidemark.types import DataType

if TYPE_CHECKING:
    from tidemark.connectors.made_rows.columns.rows import ColumnMaker


def count_of_rows(table: Table, options: Mapping[str, Any]) -> int | None:
    """The number of rows: the shortest sequence ends the table."""
    counts = [
        int(Decimal(options[f"fields.{c.name}.end"]) - Decimal(options[f"fields.{c.name}.start"]))
        + 1
        for c in physical(table)
        if is_sequence(c.name, options)
    ]
    if options["number-of-rows"] is not None:
        counts.append(options["number-of-rows"])
    return min(counts, default=None)


def _rate(options: Mapping[str, Any]) -> int:
    rate: int = options["rows-per-second"]
    return rate


def _row_bytes(types: Mapping[str, DataType], options: Mapping[str, Any]) -> int:
    return sum(bytes_of(type_, f"fields.{name}", options) for name, type_ in types.items())


def _values(table: Table, options: Mapping[str, Any], seed: str, zone: str) -> ColumnMaker:
    from tidemark.connectors.datagen.made.values import DatagenValues

    return DatagenValues(options, seed, zone)


DATAGEN = made_rows.connector(
    "datagen",
    "generates random or sequential rows",
    OPTIONS,
    check,
    Generator(count_of_rows, _rate, _row_bytes, _values),
)
