"""Messages of Protocol Buffers are read and written as Flink does.

Flink 2.3 with flink-protobuf 2.3.0 and protobuf-java 4.32.1 has read the messages in
`protobuf_of_flink/cases.jsonl`, and written the rows again: each line has what came of it.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from hypothesis import given
from hypothesis import strategies as st

from tests.connectors.tables import files
from tests.formats.protobuf_examples import (
    DEEP,
    FIELDS,
    FILES,
    INNER,
    NEW,
    OLD,
    PROTO2,
    descriptor_file,
    message_class,
)
from tests.searching import searched
from tidemark import types as t
from tidemark.errors import DataError
from tidemark.formats.column_types import schema
from tidemark.formats.decoders import decoder
from tidemark.formats.encoders import messages as written
from tidemark.formats.protobuf_options import CLASS, DEFAULTS, DESCRIPTORS, IGNORE, NULL_LITERAL
from tidemark.formats.protobuf_types import ColumnMisfit

FULL = {OLD: "old.Everything", NEW: "com.fresh.Everything"}


@pytest.fixture(scope="module")
def shop(tmp_path_factory) -> str:
    return descriptor_file(tmp_path_factory.mktemp("protobuf"))


def options(file: str, class_: str, **more: Any) -> dict[str, Any]:
    return {DESCRIPTORS: file, CLASS: class_, **more}


def block(*values: bytes | None) -> pa.Array:
    return pa.array(values, pa.binary())


# --- as in Flink -------------------------------------------------------------------------------

RECORDED = Path(__file__).parent / "protobuf_of_flink"
CASES = [json.loads(line) for line in (RECORDED / "cases.jsonl").read_text().splitlines()]
# Flink accepts these types of columns, and fails when it reads or shows them.
ONLY_HERE = ("PbCodegenException", "ClassCastException")


def shown(value: Any, type_: t.DataType) -> str:
    """As Java shows it."""
    match value, type_:
        case None, _:
            return "null"
        case dict(), t.Map():
            pairs = value.items()
            return f"{{{', '.join(f'{k}={shown(v, type_.value)}' for k, v in pairs)}}}"
        case _, t.Row():
            fields = zip(value.values(), type_.fields, strict=True)
            return f"+I[{', '.join(shown(each, field.type) for each, field in fields)}]"
        case _, t.Array():
            return f"[{', '.join(shown(each, type_.element) for each in value)}]"
        case bytes(), _:
            return str([each - 256 * (each > 127) for each in value])
        case bool(), _:
            return str(value).lower()
    return str(value)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_messages_are_read_and_written_as_in_flink(case):
    given_ = options(str(RECORDED / "messages.desc"), case["class"], **{DEFAULTS: case["defaults"]})
    row = files(f"r {case['row']}", Path("x"), "json").columns[0].type
    values = block(bytes.fromhex(case["message"]))

    if case["flink"].startswith("FAIL ValidationException"):
        with pytest.raises(ColumnMisfit):
            decoder("protobuf", row.fields, given_)
    elif case["flink"].startswith("FAIL") and not any(each in case["flink"] for each in ONLY_HERE):
        with pytest.raises(DataError, match="cannot read the record as protobuf"):
            decoder("protobuf", row.fields, given_)(values)
    else:
        rows = decoder("protobuf", row.fields, given_)(values).rows
        again = written("protobuf", rows, row.fields, given_).to_pylist()
        if case["flink"].startswith("FAIL"):
            assert rows.row(0) == (5,)
        else:
            assert shown(rows.to_dicts()[0], row) == case["flink"]
            assert [each.hex() for each in again] == [case["written"]]


# --- one row at a time -------------------------------------------------------------------------


def plain(message: Any, fields: Any, *, defaults: bool, proto3: bool) -> dict[str, Any]:
    """The row of a message, by the rules of Flink's documentation."""
    return {
        each.name: plain_field(message, each, defaults=defaults, proto3=proto3) for each in fields
    }


def plain_field(message: Any, field: t.Field, **how: bool) -> Any:
    found, type_ = getattr(message, field.name), field.type
    descriptor = message.DESCRIPTOR.fields_by_name[field.name]
    if isinstance(type_, t.Map):
        value = descriptor.message_type.fields_by_name["value"]
        key = descriptor.message_type.fields_by_name["key"]
        pairs = {plain_value(k, key, type_.key, **how): found[k] for k in found}
        made = {k: plain_value(v, value, type_.value, **how) for k, v in pairs.items()}
        return made if made or how["defaults"] else None
    if isinstance(type_, t.Array):
        items = [plain_value(each, descriptor, type_.element, **how) for each in found]
        return items if items or how["defaults"] else None
    scalar_is_there = not isinstance(type_, t.Row) and (
        how["proto3"] or not descriptor.has_presence  # in a message of a file in proto3
    )
    if not how["defaults"] and not scalar_is_there and not message.HasField(field.name):
        return None
    return plain_value(found, descriptor, type_, **how)


def plain_value(value: Any, descriptor: Any, type_: t.DataType, **how: bool) -> Any:
    if isinstance(type_, t.Row):
        return plain(value, type_.fields, **how)
    if descriptor.enum_type is not None and isinstance(type_, t.CHARACTERS):
        names = [each.name for each in descriptor.enum_type.values if each.number == value]
        return names[0] if names else "UNRECOGNIZED"
    if isinstance(value, bytes) and isinstance(type_, t.CHARACTERS):
        return value.decode("utf-8", "replace")
    if isinstance(type_, t.Int) and isinstance(value, int):
        return (value + 2**31) % 2**32 - 2**31
    if isinstance(type_, t.BigInt) and isinstance(value, int):
        return (value + 2**63) % 2**64 - 2**63
    return value


def comparable(value: Any) -> Any:
    """Maps as they are in frames or as dicts, and NaN, which is not equal to itself."""
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, dict):
        return {key: comparable(each) for key, each in value.items()}
    if isinstance(value, list):
        pairs = [each for each in value if isinstance(each, dict) and set(each) == {"key", "value"}]
        if value and len(pairs) == len(value):
            return {each["key"]: comparable(each["value"]) for each in value}
        return [comparable(each) for each in value]
    return value


# --- random messages ---------------------------------------------------------------------------

_INTS = {32: (-(2**31), 2**31 - 1), 64: (-(2**63), 2**63 - 1)}


def scalar(name: str) -> st.SearchStrategy[Any]:
    match name:
        case "double":
            return st.floats()
        case "float":
            return st.floats(width=32)
        case "bool":
            return st.booleans()
        case "string":
            return st.text(max_size=5)
        case "bytes":
            return st.binary(max_size=5)
    bits = 64 if name.endswith("64") else 32
    if name.startswith(("uint", "fixed")):
        return st.integers(0, 2**bits - 1)
    return st.integers(*_INTS[bits])


INNERS = st.fixed_dictionaries(
    {},
    optional={
        "v1": st.integers(-5, 5),
        "v2": st.text(max_size=3),
        "again": st.fixed_dictionaries(
            {}, optional={"v1": st.just(0), "many": st.lists(st.integers(-3, 3), max_size=3)}
        ),
    },
)
COLORS = st.sampled_from([0, 1, -7])
_SCALAR_NAMES = [each.name[2:] for each in FIELDS if each.name.startswith("a_")]
CONTENTS = st.fixed_dictionaries(
    {},
    optional={
        **{f"a_{each}": scalar(each) for each in _SCALAR_NAMES},
        **{f"list_{each}": st.lists(scalar(each), max_size=3) for each in _SCALAR_NAMES},
        "color": COLORS,
        "color_number": COLORS,
        "inner": INNERS,
        "inners": st.lists(INNERS, max_size=3),
        "colors": st.lists(COLORS, max_size=3),
        "at": st.fixed_dictionaries(
            {}, optional={"seconds": st.integers(0, 9), "nanos": st.just(0)}
        ),
        "one_int": st.integers(0, 2),
        "one_text": st.text(max_size=2),
        "by_uint": st.dictionaries(st.integers(0, 2**32 - 1), st.text(max_size=2), max_size=3),
        "by_flag": st.dictionaries(st.booleans(), COLORS, max_size=2),
    },
)
CLASSES = st.sampled_from([OLD, NEW])


def message(class_: str, content: dict[str, Any], by_text: dict[str, Any] | None = None) -> Any:
    made = message_class(FULL[class_])(**content)
    for key, inner in (by_text or {}).items():
        made.by_text[key].MergeFrom(type(made.inner)(**inner))
    return made


def rows_read(shop: str, class_: str, values: Any, fields: Any = FIELDS, **more: Any) -> Any:
    decoded = decoder("protobuf", fields, options(shop, class_, **more))(values)
    return [comparable(row) for row in decoded.rows.to_dicts()], decoded


@searched(40)
@given(
    CLASSES,
    st.lists(
        st.tuples(CONTENTS, st.dictionaries(st.text(max_size=2), INNERS, max_size=2)), max_size=5
    ),
    st.booleans(),
)
def test_messages_are_read_as_one_by_one(shop, class_, contents, defaults):
    made = [message(class_, *each) for each in contents]
    values = block(*[each.SerializeToString() for each in made])

    rows, decoded = rows_read(shop, class_, values, **{DEFAULTS: defaults})

    again = [type(each).FromString(each.SerializeToString()) for each in made]
    how = {"defaults": defaults, "proto3": class_ == NEW}
    assert rows == [comparable(plain(each, FIELDS, **how)) for each in again]
    assert decoded.records == len(made)
    assert dict(decoded.rows.schema) == schema(FIELDS)


@searched(25)
@given(CLASSES, st.lists(CONTENTS, max_size=3))
def test_rows_are_read_as_they_were_written(shop, class_, contents):
    values = block(*[message(class_, each).SerializeToString() for each in contents])
    given_ = options(shop, class_)
    rows = decoder("protobuf", FIELDS, given_)(values).rows

    out = written("protobuf", rows, FIELDS, given_)
    again = decoder("protobuf", FIELDS, given_)(out).rows

    expected = [comparable(each) for each in rows.to_dicts()]
    if class_ == NEW:  # where all fields of a oneof are there, the last one is written
        expected = [each | {"one_int": 0} for each in expected]
    assert [comparable(each) for each in again.to_dicts()] == expected


@searched(50)
@given(
    CLASSES,
    st.lists(
        st.tuples(CONTENTS, st.integers(0, 60), st.binary(max_size=3), st.booleans()),
        min_size=1,
        max_size=6,
    ),
)
def test_damaged_messages_are_skipped_and_counted_and_no_others(shop, class_, damaged):
    kept, values, of = [], [], message_class(FULL[class_])
    for content, place, other, damages in damaged:
        value = message(class_, content).SerializeToString()
        value = value[:place] + other + value[place + 2 :] if damages else value
        values.append(value)
        try:
            found = plain(of.FromString(value), FIELDS, defaults=False, proto3=class_ == NEW)
        except Exception:
            continue
        if found["color_number"] in (None, 0, 1, -7) and all(
            each in (0, 1, -7) for each in (found["by_flag"] or {}).values()
        ):
            kept.append((len(values), comparable(found)))

    rows, decoded = rows_read(shop, class_, block(*values), **{IGNORE: True})

    assert rows == [row for _, row in kept]
    assert decoded.record.to_list() == [place for place, _ in kept]
    assert (decoded.skipped, decoded.records) == (len(values) - len(kept), len(values))
    if len(kept) < len(values):
        first = next(n for n in range(1, len(values) + 1) if n not in dict(kept))
        with pytest.raises(
            DataError, match=rf"^topic:{first + 4}  cannot read the record as proto"
        ):
            decoder("protobuf", FIELDS, options(shop, class_))(
                block(*values), file="topic", first=5
            )


# --- what is absent, and what Java makes of values ---------------------------------------------


def one(shop: str, class_: str, value: bytes, *names: str, **more: Any) -> tuple[Any, ...]:
    fields = [each for name in names for each in FIELDS if each.name == name]
    return decoder("protobuf", fields, options(shop, class_, **more))(block(value)).rows.row(0)


def test_nothing_is_null_in_proto2_and_zero_in_proto3_but_for_what_is_composed(shop):
    names = ("a_int32", "a_string", "color", "one_int", "inner", "list_int32", "by_uint")

    assert one(shop, OLD, b"", *names) == (None,) * 7
    assert one(shop, NEW, b"", *names) == (0, "", "RED", 0, None, None, None)


def test_defaults_are_read_if_asked_for(shop):
    names = ("a_int32", "inner", "list_int32", "by_uint")
    inside = {"v2": "", "again": {"v1": 0, "many": []}}

    assert one(shop, OLD, b"", *names, **{DEFAULTS: True}) == (0, inside, [], {})
    fields = [t.Field("name", t.STRING)]
    given_ = options(shop, "com.example.Strict", **{DEFAULTS: True})
    assert decoder("protobuf", fields, given_)(block(b"\x08\x01")).rows.row(0) == ("anonymous",)


def test_optional_fields_of_proto3_are_never_null_as_in_flink(shop):
    given_ = options(shop, "Nullable")

    assert decoder("protobuf", [t.Field("n", t.Int())], given_)(block(b"")).rows.row(0) == (0,)


def test_unknown_fields_are_passed_over(shop):
    assert one(shop, NEW, b"\xfa\x3f\x01x" + b"\x28\x07", "a_int32") == (7,)


def test_large_unsigned_numbers_are_negative_as_in_java(shop):
    value = message(NEW, {"a_uint32": 2**32 - 1, "a_fixed64": 2**63}).SerializeToString()

    assert one(shop, NEW, value, "a_uint32", "a_fixed64") == (-1, -(2**63))


def test_a_number_that_an_enum_does_not_have_is_unrecognized_or_an_error(shop):
    value = message(NEW, {"color": 5, "color_number": 5}).SerializeToString()

    assert one(shop, NEW, value, "color") == ("UNRECOGNIZED",)
    with pytest.raises(DataError, match=r"has the number 5, which com\.fresh\.Color does not"):
        one(shop, NEW, value, "color_number")


def test_a_string_that_is_not_utf_8_is_replaced_in_proto2_and_an_error_in_proto3(shop):
    value = b"\x4a\x03a\xffb"

    assert one(shop, OLD, value, "a_string") == ("a\ufffdb",)
    with pytest.raises(DataError, match="cannot read the record as protobuf"):
        one(shop, NEW, value, "a_string")


def test_half_a_surrogate_pair_is_one_character_in_proto2(shop):
    value = b"\x4a\x08a\xed\xa0\xbd\xed\xb8\x80b"

    assert one(shop, OLD, value, "a_string") == ("a\ufffd\ufffdb",)


# Fields 51 and 50 of the message; the parts of their entries are the fields 1 and 2.
NOT_UTF_8_IN_MAPS = {
    "value": ("by_uint", b"\x9a\x03\x05\x08\x01\x12\x01\xff"),
    "key": ("by_text", b"\x92\x03\x03\x0a\x01\xff"),
    "one key of two": ("by_text", b"\x92\x03\x03\x0a\x01a\x92\x03\x03\x0a\x01\xff"),
}


@pytest.mark.parametrize(("name", "value"), NOT_UTF_8_IN_MAPS.values(), ids=NOT_UTF_8_IN_MAPS)
def test_maps_with_a_string_that_is_not_utf_8_are_bad_in_proto2_as_well(shop, name, value):
    fields = [each for each in FIELDS if each.name == name]

    with pytest.raises(DataError, match=rf"a (key|value) of `{name}` is not UTF-8"):
        one(shop, OLD, value, name)
    read = decoder("protobuf", fields, options(shop, OLD, **{IGNORE: True}))
    decoded = read(block(b"", value, b""))
    assert (decoded.record.to_list(), decoded.skipped) == ([1, 3], 1)


def test_a_string_that_is_not_utf_8_is_bad_if_the_file_has_java_check_it(tmp_path):
    checked = FileDescriptorProto()
    checked.CopyFrom(PROTO2)
    checked.options.java_string_check_utf8 = True
    file = descriptor_file(tmp_path, [FILES[0], checked])

    assert one(file, OLD, b"\x4a\x02ab", "a_string") == ("ab",)
    with pytest.raises(DataError, match="`a_string` is not UTF-8"):
        one(file, OLD, b"\x4a\x03a\xffb", "a_string")


def test_messages_without_required_fields_are_bad(shop):
    fields = [t.Field("name", t.STRING)]

    with pytest.raises(DataError, match="does not have `id`, which the message requires"):
        decoder("protobuf", fields, options(shop, "com.example.Strict"))(block(b"\x12\x01a"))


def test_messages_inside_without_required_fields_are_bad_whatever_the_key_of_their_map(tmp_path):
    file = descriptor_file(tmp_path)
    read = decoder("protobuf", [t.Field("n", t.Int())], options(file, "com.example.Shelf"))

    for key in (b"a", b"\xff"):
        with pytest.raises(DataError, match="a message inside it does not have all fields that it"):
            read(block(b"\x12\x05\x0a\x01" + key + b"\x12\x00"))


def test_records_without_a_value_have_no_rows(shop):
    decoded = decoder("protobuf", FIELDS[:1], options(shop, NEW))(block(None, b"", None), first=3)

    assert (decoded.rows.height, decoded.record.to_list(), decoded.records) == (1, [4], 3)


def test_the_id_of_a_schema_is_suspected(shop):
    with pytest.raises(DataError, match="begins with the ID of its schema"):
        one(shop, NEW, b"\0\0\0\0\7\0\x28\x07", "a_int32")


# --- writing -----------------------------------------------------------------------------------


def sent(shop: str, class_: str, fields: Any, rows: Any, **more: Any) -> list[Any]:
    frame = pl.DataFrame(rows, schema(fields), orient="row")
    values = written("protobuf", frame, fields, options(shop, class_, **more)).to_pylist()
    full = FULL.get(class_, class_.replace("com.example.", "old."))
    return [message_class(full).FromString(each) for each in values]


def test_null_is_not_set_and_inside_of_arrays_it_is_a_default(shop):
    fields = [
        t.Field("a_int32", t.Int()),
        t.Field("list_string", t.Array(t.STRING)),
        t.Field("colors", t.Array(t.STRING)),
        t.Field("inners", t.Array(INNER)),
        t.Field("inner", DEEP),
    ]
    rows = [
        (None, ["a", None], [None, "BLUE", "pink"], [None, {"v1": 1, "v2": None}], None),
        (5, None, [], None, {"v2": "x", "again": {"v1": None, "many": [1, None]}}),
        (None,) * 5,
    ]

    first, second, nothing = sent(shop, OLD, fields, rows, **{NULL_LITERAL: "none"})

    assert not first.HasField("a_int32")
    assert list(first.list_string) == ["a", "none"]
    assert list(first.colors) == [0, -7, 0]
    assert [each.SerializeToString() for each in first.inners] == [b"", b"\x08\x01"]
    assert (second.a_int32, second.inner.v2, list(second.inner.again.many)) == (5, "x", [1, 0])
    assert not second.inner.again.HasField("v1")
    assert nothing.SerializeToString() == b""


def test_the_last_column_of_a_oneof_is_written(shop):
    fields = [t.Field("one_text", t.STRING), t.Field("one_int", t.Int())]

    both, text = sent(shop, NEW, fields, [("a", 1), ("a", None)])

    assert (both.WhichOneof("one"), text.WhichOneof("one")) == ("one_int", "one_text")


def test_maps_are_written_in_the_order_of_their_keys(shop):
    fields = [t.Field("by_text", t.Map(t.STRING, INNER))]
    rows = decoder("protobuf", fields, options(shop, NEW))(
        block(message(NEW, {}, {"b": {"v1": 1}, "a": {}}).SerializeToString())
    ).rows

    [value] = written("protobuf", rows, fields, options(shop, NEW)).to_pylist()

    assert value.index(b"\x01a") < value.index(b"\x01b")
    assert message_class(FULL[NEW]).FromString(value).by_text["b"].v1 == 1


def test_rows_without_required_fields_cannot_be_written(shop):
    with pytest.raises(DataError, match="cannot write a row as protobuf") as caught:
        sent(shop, "com.example.Strict", [t.Field("id", t.Int())], [(None,)])

    assert "missing required fields: id" in str(caught.value)
