"""Messages for tests: a file in proto2 and one in proto3, as `protoc` describes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from google.protobuf import text_format, timestamp_pb2
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from tidemark import types as t

# Fields by number, as both files have them.
_SCALARS = [
    "double",
    "float",
    "int64",
    "uint64",
    "int32",
    "fixed64",
    "fixed32",
    "bool",
    "string",
    "bytes",
    "uint32",
    "sfixed32",
    "sfixed64",
    "sint32",
    "sint64",
]
_ENUM = """
enum_type { name: "Color"
  value { name: "RED" number: 0 } value { name: "GREEN" number: 1 } value { name: "BLUE" number: -7 }
  value { name: "VERT" number: 1 } options { allow_alias: true }
}"""


def _field(name: str, number: int, type_: str, label: str = "OPTIONAL", more: str = "") -> str:
    of = ""
    if type_.startswith((".", "enum ")):
        kind = "ENUM" if type_.startswith("enum ") else "MESSAGE"
        of, type_ = f'type_name: "{type_.removeprefix("enum ")}"', kind
    return (
        f'field {{ name: "{name}" number: {number} label: LABEL_{label} '
        f"type: TYPE_{type_.upper()} {of} {more} }}"
    )


def _map(message: str, name: str, number: int, key: str, value: str) -> str:
    entry = f"{name.title().replace('_', '')}Entry"
    fields = _field("key", 1, key) + _field("value", 2, value)
    return f'nested_type {{ name: "{entry}" {fields} options {{ map_entry: true }} }}' + _field(
        name, number, f".{message}.{entry}", "REPEATED"
    )


def _everything(package: str) -> str:
    own = f"{package}.Everything"
    inner = f".{own}.Inner"
    scalars = "".join(_field(f"a_{each}", n, each) for n, each in enumerate(_SCALARS, start=1))
    lists = "".join(
        _field(f"list_{each}", n, each, "REPEATED") for n, each in enumerate(_SCALARS, start=31)
    )
    return f"""
message_type {{ name: "Everything"
  nested_type {{ name: "Inner"
    {_field("v1", 1, "int64")} {_field("v2", 2, "string")}
    {_field("again", 3, inner)} {_field("many", 4, "int32", "REPEATED")}
  }}
  {scalars} {lists}
  {_field("color", 20, f"enum .{package}.Color")}
  {_field("color_number", 21, f"enum .{package}.Color")}
  {_field("inner", 22, inner)}
  {_field("inners", 23, inner, "REPEATED")}
  {_field("colors", 24, f"enum .{package}.Color", "REPEATED")}
  {_field("at", 25, ".google.protobuf.Timestamp")}
  {_field("one_int", 26, "int32", more="oneof_index: 0")}
  {_field("one_text", 27, "string", more="oneof_index: 0")}
  {_map(own, "by_text", 50, "string", inner)}
  {_map(own, "by_uint", 51, "uint32", "string")}
  {_map(own, "by_flag", 52, "bool", f"enum .{package}.Color")}
  oneof_decl {{ name: "one" }}
}}"""


def _file(name: str, content: str) -> FileDescriptorProto:
    made = FileDescriptorProto(name=name, dependency=["google/protobuf/timestamp.proto"])
    text_format.Parse(content, made)
    return made


PROTO2 = _file(
    "shop/old_shop.proto",
    f"""package: "old" options {{ java_package: "com.example" java_multiple_files: true }}
    {_everything("old")} {_ENUM}
    message_type {{ name: "Strict" {_field("id", 1, "int32", "REQUIRED")}
      {_field("name", 2, "string", more='default_value: "anonymous"')} }}
    message_type {{ name: "Shelf" {_field("n", 1, "int32")}
      {_map("old.Shelf", "by_text", 2, "string", ".old.Strict")} }}""",
)
PROTO3 = _file(
    "shop/new_shop.proto",
    f"""package: "com.fresh" syntax: "proto3" {_everything("com.fresh")} {_ENUM}
    message_type {{ name: "Strict" {_field("id", 1, "int32")} }}
    message_type {{ name: "Nullable" {_field("n", 1, "int32", more="proto3_optional: true oneof_index: 0")}
      oneof_decl {{ name: "_n" }} }}""",
)
FILES = [FileDescriptorProto.FromString(timestamp_pb2.DESCRIPTOR.serialized_pb), PROTO2, PROTO3]
# The classes of the message that has a field of each kind.
OLD, NEW = "com.example.Everything", "com.fresh.NewShop$Everything"
POOL = DescriptorPool()
for each in FILES:
    POOL.AddSerializedFile(each.SerializeToString())


def message_class(full_name: str) -> Any:
    return GetMessageClass(POOL.FindMessageTypeByName(full_name))


def descriptor_file(folder: Path, files: list[FileDescriptorProto] | None = None) -> str:
    path = folder / "shop.desc"
    # Not in the order of imports, which nothing promises.
    found = FILES[::-1] if files is None else files
    path.write_bytes(FileDescriptorSet(file=found).SerializeToString())
    return str(path)


# --- the table ---------------------------------------------------------------------------------

_OF_SCALARS: dict[str, t.DataType] = {
    "double": t.Double(),
    "float": t.Float(),
    "bool": t.Boolean(),
    "string": t.STRING,
    "bytes": t.VarBinary(),
}
DEEP = t.Row(
    (
        t.Field("v2", t.STRING),
        t.Field("again", t.Row((t.Field("v1", t.BigInt()), t.Field("many", t.Array(t.Int()))))),
    )
)
INNER = t.Row((t.Field("v1", t.BigInt()), t.Field("v2", t.STRING)))


def _of(name: str) -> t.DataType:
    return _OF_SCALARS.get(name, t.BigInt() if name.endswith("64") else t.Int())


FIELDS = [
    *(t.Field(f"a_{each}", _of(each)) for each in _SCALARS),
    *(t.Field(f"list_{each}", t.Array(_of(each))) for each in _SCALARS),
    t.Field("inners", t.Array(INNER)),
    t.Field("inner", DEEP),
    t.Field("color", t.STRING),
    t.Field("color_number", t.SmallInt()),
    t.Field("colors", t.Array(t.STRING)),
    t.Field("at", t.Row((t.Field("seconds", t.BigInt()), t.Field("nanos", t.Int())))),
    t.Field("one_int", t.Int()),
    t.Field("one_text", t.STRING),
    t.Field("by_text", t.Map(t.STRING, INNER)),
    t.Field("by_uint", t.Map(t.Int(), t.STRING)),
    t.Field("by_flag", t.Map(t.Boolean(), t.BigInt())),
]
