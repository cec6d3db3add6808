"""Avro schemas: what a file says of its records, and what Flink makes of a table's columns."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from tidemark import types as t

LEAVES: Final = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")


class BadSchema(Exception):
    """Why a schema cannot be used."""


@dataclass(frozen=True, slots=True)
class Primitive:
    kind: str


@dataclass(frozen=True, slots=True)
class Fixed:
    size: int
    is_bytes: bool = False  # whether the reader takes it for bytes, which it does not by itself


@dataclass(frozen=True, slots=True)
class Enum:
    symbols: tuple[str, ...]
    known: frozenset[str] | None = None  # to a reader that takes them for strings


@dataclass(frozen=True, slots=True)
class Items:
    """An array."""

    item: Avro


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map, whose keys are strings."""

    value: Avro


@dataclass(frozen=True, slots=True)
class Record:
    fields: tuple[tuple[str, Avro], ...]


@dataclass(frozen=True, slots=True)
class Optional:
    """A union of null and another type."""

    present: Avro
    null_first: bool = True


@dataclass(frozen=True, slots=True)
class Union:
    """A union of other types."""

    branches: tuple[Avro, ...]


@dataclass(frozen=True, slots=True)
class Tag:
    """The branch of a union that every record takes, as if it were their first field."""

    branch: int


Avro: TypeAlias = Primitive | Fixed | Enum | Items | MapOf | Record | Optional | Union | Tag

NULL: Final = Primitive("null")
INT: Final = Primitive("int")
LONG: Final = Primitive("long")
STRING: Final = Primitive("string")
BYTES: Final = Primitive("bytes")


def describe(type_: Avro) -> str:
    match type_:
        case Primitive(kind):
            return kind
        case Optional(present):
            return f"{describe(present)} or null"
        case Union(branches):
            return f"a union of {', '.join(map(describe, branches))}"
        case Items(item):
            return f"an array of {describe(item)}"
        case MapOf(value):
            return f"a map of {describe(value)}"
        case _:
            return "an enum" if isinstance(type_, Enum) else type(type_).__name__.lower()


# --- reading schemas ---------------------------------------------------------------------------


def parsed(schema: bytes | str, before: Sequence[str] = ()) -> Avro:
    """The type that a schema's JSON describes. Logical types are left to the reader's columns.

    It may refer to types in the schemas `before` it.
    """
    parser = _Parser()
    for each in before:
        _type_in(parser, each)
    return _type_in(parser, schema)


def _type_in(parser: _Parser, schema: bytes | str) -> Avro:
    try:
        document = json.loads(schema)
    except (ValueError, RecursionError) as problem:
        raise BadSchema(f"its schema is not JSON: {problem}") from None
    try:
        return parser.type_of(document, "")
    except (KeyError, TypeError, ValueError) as problem:
        raise BadSchema(f"its schema is not one of Avro: {problem!r}") from None
    except RecursionError:
        raise BadSchema("its schema is nested too deeply") from None


class _Parser:
    """Knows the types that were named so far."""

    def __init__(self) -> None:
        self._named: dict[str, Avro | None] = {}  # None while its fields are read

    def type_of(self, schema: Any, namespace: str) -> Avro:
        if isinstance(schema, str):
            return self._known(schema, namespace)
        if isinstance(schema, list):
            return _union([self.type_of(branch, namespace) for branch in schema])
        kind = schema["type"]
        if isinstance(kind, (dict, list)) or kind in LEAVES:
            return self.type_of(kind, namespace)
        if kind == "array":
            return Items(self.type_of(schema["items"], namespace))
        if kind == "map":
            return MapOf(self.type_of(schema["values"], namespace))
        if kind not in ("record", "error", "enum", "fixed"):
            return self._known(kind, namespace)
        return self._define(schema, kind, namespace)

    def _known(self, name: str, namespace: str) -> Avro:
        if name in LEAVES:
            return Primitive(name)
        full = name if "." in name or not namespace else f"{namespace}.{name}"
        found = self._named.get(full, self._named.get(name))
        if found is None:
            if full in self._named or name in self._named:
                raise BadSchema(f"records of type `{name}` contain themselves")
            raise BadSchema(f"its schema has no type `{name}`")
        return found

    def _define(self, schema: Mapping[str, Any], kind: str, namespace: str) -> Avro:
        name = schema["name"]
        if "." in name:
            namespace = name.rpartition(".")[0]
        else:
            namespace = schema.get("namespace", namespace) or ""
            name = f"{namespace}.{name}" if namespace else name
        if name in self._named:
            raise BadSchema(f"its schema has two types of the name `{name}`")
        self._named[name] = None
        made: Avro
        if kind == "enum":
            made = Enum(tuple(schema["symbols"]))
        elif kind == "fixed":
            made = Fixed(int(schema["size"]))
        else:
            fields = [(f["name"], self.type_of(f["type"], namespace)) for f in schema["fields"]]
            made = Record(tuple(fields))
        self._named[name] = made
        return made


def _union(branches: Sequence[Avro]) -> Avro:
    if len(branches) == 2 and NULL in branches and branches[0] != branches[1]:
        null_first = branches[0] == NULL
        return Optional(branches[1 if null_first else 0], null_first)
    return Union(tuple(branches))


# --- the schema of a table ---------------------------------------------------------------------

_FIELD: Final = re.compile(r"[^\W\d]\w*")
_NAMES: Final = "names have letters, digits and underscores, and no digit at first"
_NAME: Final = "org.apache.flink.avro.generated.record"
_KINDS: Final[Mapping[type[t.DataType], str]] = {
    t.Boolean: "boolean",
    t.TinyInt: "int",
    t.SmallInt: "int",
    t.Int: "int",
    t.BigInt: "long",
    t.Float: "float",
    t.Double: "double",
    t.Char: "string",
    t.VarChar: "string",
    t.Binary: "bytes",
    t.VarBinary: "bytes",
}


class NotInAvro(Exception):
    """Why a type has no schema in Flink, what to do, and the column that has the type, if known."""

    column = ""

    def __init__(self, why: str, hint: str | None = None) -> None:
        super().__init__(why)
        self.hint = hint


def schema_of(fields: Sequence[t.Field], *, legacy: bool = True, in_files: bool = False) -> Any:
    """What Flink makes of the columns of a table. Raises NotInAvro for what it does not write.

    `legacy` is the option 'timestamp_mapping.legacy'. In files, records are in a union with null.
    """
    return _schema(t.Row(tuple(fields), nullable=in_files), _NAME, legacy)


def _schema(type_: t.DataType, name: str, legacy: bool) -> Any:
    if isinstance(type_, t.Null):
        return "null"
    made = _present(type_, name, legacy)
    return ["null", made] if type_.nullable else made


def _present(type_: t.DataType, name: str, legacy: bool) -> Any:
    match type_:
        case t.Row(fields=fields):
            return _record(fields, name, legacy)
        # Flink uses the legacy mapping for what is inside of arrays and maps.
        case t.Array(element=element):
            return {"type": "array", "items": _schema(element, name, legacy=True)}
        case t.Map(key=key, value=value):
            return _map(key, value, name)
        case t.Multiset(element=element):
            return _map(element, t.Int(), name)
        case t.Decimal(precision=precision, scale=scale):
            decimal = {"type": "bytes", "logicalType": "decimal", "precision": precision}
            return decimal | ({"scale": scale} if scale else {"scale": 0})
        case t.Date():
            return {"type": "int", "logicalType": "date"}
        case t.Time():
            return {"type": "int", "logicalType": "time-millis"}
        case t.Timestamp() | t.TimestampLtz():
            return {"type": "long", "logicalType": _time(type_, legacy)}
    if type(type_) not in _KINDS:
        raise NotInAvro(f"Avro has no {type_.text()}")
    return _KINDS[type(type_)]


def _record(fields: Sequence[t.Field], name: str, legacy: bool) -> dict[str, Any]:
    namespace, _, own = name.rpartition(".")
    inside = []
    for field in fields:
        try:
            type_ = _schema(field.type, f"{name}_{_checked(field.name)}", legacy)
        except NotInAvro as problem:
            problem.column = field.name  # the outermost is the last
            raise
        made = {"name": field.name, "type": type_}
        inside.append(made | ({"default": None} if field.type.nullable else {}))
    about = {"type": "record", "name": own}
    if name == _NAME:
        about["namespace"] = namespace
    return {**about, "fields": inside}


def _checked(name: str) -> str:
    if not _FIELD.fullmatch(name):
        raise NotInAvro(f"`{name}` is not a name in Avro: {_NAMES}")
    return name


def _map(key: t.DataType, value: t.DataType, name: str) -> dict[str, Any]:
    if not isinstance(key, t.CHARACTERS):
        raise NotInAvro(f"the keys of Avro's maps are strings, not {key.text()}")
    return {"type": "map", "values": _schema(value, name, legacy=True)}


def _time(type_: t.Timestamp | t.TimestampLtz, legacy: bool) -> str:
    if legacy and isinstance(type_, t.TimestampLtz):
        raise NotInAvro("Flink does not write instants with 'timestamp_mapping.legacy' = 'true'")
    if legacy and type_.precision > 3:
        raise NotInAvro(
            "Flink writes no more than milliseconds to Avro",
            f"declare it as {replace(type_, precision=3).text()}",
        )
    unit = "millis" if type_.precision <= 3 else "micros"
    local = isinstance(type_, t.Timestamp) and not legacy
    return f"local-timestamp-{unit}" if local else f"timestamp-{unit}"
