"""Which columns fit which fields of a message, as in Flink."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from tidemark import types as t
from tidemark.errors import did_you_mean
from tidemark.formats.protobuf_schema import Descriptor, FieldDescriptor

_TEXT, _BYTES, _INT, _LONG = t.CHARACTERS, t.BINARIES, (t.Int,), (t.BigInt,)
# By type of field. Java has no unsigned numbers: large ones are negative.
_SCALARS: Final[Mapping[str, tuple[type[t.DataType], ...]]] = {
    "double": (t.Double,),
    "float": (t.Float,),
    "bool": (t.Boolean,),
    "string": _TEXT,
    "bytes": _BYTES,
    **dict.fromkeys(("int32", "uint32", "sint32", "fixed32", "sfixed32"), _INT),
    **dict.fromkeys(("int64", "uint64", "sint64", "fixed64", "sfixed64"), _LONG),
    "enum": (*_TEXT, t.TinyInt, t.SmallInt, t.Int, t.BigInt),
}
_BITS: Final[Mapping[type[t.DataType], int]] = {t.TinyInt: 8, t.SmallInt: 16}
_IN_SQL: Final[Mapping[type[t.DataType], str]] = {t.Char: "STRING", t.Binary: "BYTES"}
_SHOWN: Final = 20
_DEPTH: Final = 2  # how far messages in messages are shown


class ColumnMisfit(Exception):
    """Why a column does not fit a message, and what would."""

    def __init__(self, column: str, why: str, hint: str) -> None:
        super().__init__(why)
        self.column, self.why, self.hint = column, why, hint


class _Bad(Exception):
    def __init__(self, why: str, hint: str) -> None:
        super().__init__(why)
        self.why, self.hint = why, hint


def check_fields(message: Descriptor, fields: Sequence[t.Field]) -> None:
    """Raises ColumnMisfit for the first column that does not fit."""
    for field in fields:
        try:
            _check_field(message, field, ())
        except _Bad as bad:
            raise ColumnMisfit(field.name, bad.why, bad.hint) from None


def _check_field(message: Descriptor, field: t.Field, inside: tuple[str, ...]) -> None:
    names = list(message.fields_by_name)
    if field.name not in names:
        listed = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
        hint = did_you_mean(field.name, names) or f"its fields are {listed or 'none'}"
        raise _Bad(f"the message `{message.full_name}` has no field `{field.name}`", hint)
    _check(message.fields_by_name[field.name], field.type, (*inside, field.name))


def _check(field: FieldDescriptor, type_: t.DataType, path: tuple[str, ...]) -> None:
    if is_map(field):
        key, value = map_fields(field)
        if not isinstance(type_, t.Map):
            raise _differs(field, type_, path)
        _check_one(key, type_.key, field, (*path, "key"))
        _check_one(value, type_.value, field, (*path, "value"))
    elif field.is_repeated:
        if not isinstance(type_, t.Array):
            raise _differs(field, type_, path)
        _check_one(field, type_.element, field, path)
    else:
        _check_one(field, type_, field, path)


def _check_one(
    field: FieldDescriptor, type_: t.DataType, whole: FieldDescriptor, path: tuple[str, ...]
) -> None:
    """A value of a field, or of its elements."""
    if field.message_type is not None:
        if not isinstance(type_, t.Row):
            raise _differs(whole, type_, path)
        for inner in type_.fields:
            _check_field(field.message_type, inner, path)
    elif not isinstance(type_, _SCALARS[kind(field)]):
        raise _differs(whole, type_, path)
    elif type(type_) in _BITS and field.enum_type is not None:
        most = 1 << _BITS[type(type_)] - 1
        if any(not -most <= each.number < most for each in field.enum_type.values):
            name = field.enum_type.full_name
            raise _Bad(f"`{'.'.join(path)}`: numbers of the enum {name} are no {type_}", "use INT")


def _differs(field: FieldDescriptor, type_: t.DataType, path: tuple[str, ...]) -> _Bad:
    name = ".".join(path)
    return _Bad(
        f"`{name}` is {_described(field)} in the message, and {type_.text()} in the table",
        f"declare `{field.name}` as {_sql(field, _DEPTH)}",
    )


# --- what fields are ---------------------------------------------------------------------------


def is_map(field: FieldDescriptor) -> bool:
    message = field.message_type
    return bool(field.is_repeated and message is not None and message.GetOptions().map_entry)


def map_fields(field: FieldDescriptor) -> tuple[FieldDescriptor, FieldDescriptor]:
    entry = field.message_type.fields_by_name
    return entry["key"], entry["value"]


def kind(field: FieldDescriptor) -> str:
    """The type of a field as in a `.proto` file."""
    number: int = field.type
    return FieldDescriptorProto.Type.Name(number).removeprefix("TYPE_").lower()  # type: ignore[no-any-return]


def _described(field: FieldDescriptor) -> str:
    if is_map(field):
        return "map<{}, {}>".format(*map(_described, map_fields(field)))
    name = kind(field)
    if field.message_type is not None or field.enum_type is not None:
        name = f"{name} {(field.message_type or field.enum_type).full_name}"
    return f"repeated {name}" if field.is_repeated else name


def _sql(field: FieldDescriptor, depth: int) -> str:
    """The type that a column has to have."""
    if is_map(field):
        key, value = map_fields(field)
        return f"MAP<{_sql(key, depth)}, {_sql(value, depth)}>"
    if field.message_type is None:
        first = _SCALARS[kind(field)][0]
        one = _IN_SQL.get(first, first.name)
    elif not depth:
        one = "ROW<...>"
    else:
        inner = field.message_type.fields
        one = f"ROW<{', '.join(f'`{each.name}` {_sql(each, depth - 1)}' for each in inner)}>"
    return f"ARRAY<{one}>" if field.is_repeated else one
