"""A schema that a user gives for reading: which table it is of, and how what was written with
another schema is read with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tidemark import types as t
from tidemark.formats.avro_schema import (
    LEAVES,
    NULL,
    Avro,
    BadSchema,
    Enum,
    Fixed,
    Items,
    MapOf,
    Optional,
    Record,
    Union,
    parsed,
    schema_of,
)

# --- the types of a table ----------------------------------------------------------------------


def table_type(schema: str) -> t.DataType:
    """What Flink makes of a schema. Raises BadSchema."""
    parsed(schema)  # is it one?
    try:
        return _Types().of(json.loads(schema))
    except RecursionError:
        raise BadSchema("its schema is nested too deeply") from None


def has_bytes_of_table(schema: str) -> bool:
    """Whether records of the schema have the same bytes as those of the one that Flink derives from
    the table.
    """
    row = table_type(schema)
    if not isinstance(row, t.Row):
        return False
    derived = schema_of(row.fields, in_files=row.nullable)
    return parsed(schema) == parsed(json.dumps(derived))


class _Types:
    """Knows the types that were named so far."""

    def __init__(self) -> None:
        self._named: dict[str, t.DataType] = {}

    def of(self, schema: Any) -> t.DataType:
        if isinstance(schema, list):
            return self._of_union(schema)
        if isinstance(schema, str):
            return self._named[schema.rpartition(".")[2]] if schema not in LEAVES else _leaf(schema)
        kind = schema["type"]
        if not isinstance(kind, str):
            return self.of(kind)
        match kind:
            case "array":
                return t.Array(self.of(schema["items"]), nullable=False)
            case "map":
                key = t.VarChar(nullable=False)
                return t.Map(key, self.of(schema["values"]), nullable=False)
            case "record" | "error" | "enum" | "fixed":
                made = self._of_named(kind, schema)
                self._named[schema["name"].rpartition(".")[2]] = made
                return made
        return _logical(kind, schema) or self.of(kind)

    def _of_union(self, branches: list[Any]) -> t.DataType:
        if len(branches) == 1:
            return self.of(branches[0])
        present = [each for each in branches if each != "null"]
        if len(branches) != 2 or len(present) != 1:
            raise BadSchema("it has a union of several types, which no column has")
        return self.of(present[0]).with_nullable(True)

    def _of_named(self, kind: str, schema: Mapping[str, Any]) -> t.DataType:
        if kind == "enum":
            return t.VarChar(nullable=False)
        if kind == "fixed":
            bytes_ = t.VarBinary(int(schema["size"]), nullable=False)
            return _logical("bytes", schema) or bytes_
        fields = [t.Field(each["name"], self.of(each["type"])) for each in schema["fields"]]
        return t.Row(tuple(fields), nullable=False)


def _leaf(kind: str) -> t.DataType:
    leaves: Mapping[str, t.DataType] = {
        "null": t.Null(),
        "boolean": t.Boolean(nullable=False),
        "int": t.Int(nullable=False),
        "long": t.BigInt(nullable=False),
        "float": t.Float(nullable=False),
        "double": t.Double(nullable=False),
        "bytes": t.VarBinary(nullable=False),
        "string": t.VarChar(nullable=False),
    }
    return leaves[kind]


def _logical(kind: str, schema: Mapping[str, Any]) -> t.DataType | None:
    match kind, schema.get("logicalType"):
        case "bytes", "decimal":
            scale = int(schema.get("scale", 0))
            return t.Decimal(int(schema["precision"]), scale, nullable=False)
        case "int", "date":
            return t.Date(nullable=False)
        case "int", "time-millis":
            return t.Time(3, nullable=False)
        case "long", "timestamp-millis":
            return t.Timestamp(3, nullable=False)
        case "long", "timestamp-micros":
            return t.Timestamp(6, nullable=False)
        case "long", "time-micros":
            return t.Time(6, nullable=False)
    return None


# --- what was written with another schema ------------------------------------------------------


def as_read(written: Avro, reader: Avro) -> Avro:
    """The schema of records, with what its reader may take for another type: enums for strings, and
    values of fixed size for bytes. Raises BadSchema if only the reader's defaults would do.
    """
    match written, reader:
        case Record(fields), Record(wanted):
            return _record(dict(fields), dict(wanted), fields)
        case Optional(present, null_first), Optional(wanted_present):
            return Optional(as_read(present, wanted_present), null_first)
        case Optional(present, null_first), _:
            return Optional(as_read(present, reader), null_first)
        case Union(branches), Optional(wanted_present):
            return Union(tuple(b if b == NULL else as_read(b, wanted_present) for b in branches))
        case _, Optional(wanted_present):
            return as_read(written, wanted_present)
        case Items(item), Items(wanted_item):
            return Items(as_read(item, wanted_item))
        case MapOf(value), MapOf(wanted_value):
            return MapOf(as_read(value, wanted_value))
        case Enum(symbols), Enum(known_symbols):
            return Enum(symbols, frozenset(known_symbols))
        case Fixed(size), Fixed(wanted_size) if size == wanted_size:
            return Fixed(size, is_bytes=True)
    return written


def _record(
    found: Mapping[str, Avro],
    wanted: Mapping[str, Avro],
    fields: tuple[tuple[str, Avro], ...],
) -> Record:
    for name, type_ in wanted.items():
        if name not in found and not isinstance(type_, Optional):
            raise BadSchema(f"`{name}` is missing, and defaults of schemas are not supported")
    return Record(
        tuple((n, as_read(each, wanted[n]) if n in wanted else each) for n, each in fields)
    )
