"""Avro: read and written as Flink does, quick and exact alike, and nothing else than fastavro does."""

from __future__ import annotations

import io
import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import fastavro
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.formats.avro_examples import FIELDS, FOLDER, ROWS
from tests.searching import searched
from tidemark import types as t
from tidemark.errors import DataError
from tidemark.formats import avro_container as container
from tidemark.formats import avro_exact, avro_quick
from tidemark.formats.avro import AvroColumns, BadBlock
from tidemark.formats.avro_encode import in_blocks, records
from tidemark.formats.avro_messages import AvroDecoder
from tidemark.formats.avro_quick import NotQuick, name
from tidemark.formats.avro_schema import BadSchema, NotInAvro, Record, parsed, schema_of

Blocks = list[tuple[int, bytes]]


def blocks_in(file: bytes) -> tuple[Any, Blocks]:
    """The schema of a file, and its blocks."""
    opened = io.BytesIO(file)
    header = container.header_of(opened)
    blocks = [(each.count, each.content) for each in container.blocks_of(opened, header)]
    return header.schema, blocks


# --- files of Flink ----------------------------------------------------------------------------


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.avro")), ids=lambda file: file.stem)
def test_files_of_flink_are_read_and_written_byte_for_byte(file):
    schema, blocks = blocks_in(file.read_bytes())

    rows = AvroColumns(parsed(schema), FIELDS)(blocks)

    assert rows.to_dicts() == ROWS
    legacy = file.stem != "new-timestamps"
    assert json.loads(schema) == schema_of(FIELDS, legacy=legacy, in_files=True)
    written = records(rows, FIELDS, in_files=True)
    assert b"".join(written.to_pylist()) == b"".join(content for _, content in blocks)


def test_only_the_fields_of_the_table_are_read():
    schema, blocks = blocks_in((FOLDER / "snappy.avro").read_bytes())
    fields = [t.Field("nn", t.BigInt()), t.Field("i4", t.Double()), t.Field("new", t.Date())]

    rows = AvroColumns(parsed(schema), fields)(blocks)

    assert rows.rows() == [(7, -5.0, None), (8, None, None)]


# --- quick, exact and fastavro -----------------------------------------------------------------

INTS, LONGS = st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
LEAVES = {
    "boolean": st.booleans(),
    "int": INTS | st.integers(-70, 70),
    "long": LONGS | st.integers(-70, 70),
    "float": st.floats(width=32, allow_nan=False),
    "double": st.floats(allow_nan=False),
    "bytes": st.binary(max_size=5),
    "string": TEXTS,
}


@st.composite
def schemas(draw: st.DrawFn, depth: int = 2, named: list[int] | None = None) -> Any:
    """A schema without its name, if it has one."""
    named = [] if named is None else named
    named.append(0)
    own = f"n{len(named)}"
    kinds = [*LEAVES, "null", "fixed", "enum", "optional"]
    kind = draw(st.sampled_from([*kinds, "array", "map", "record", "union"] if depth else kinds))

    def inner() -> Any:
        return draw(schemas(depth=max(0, depth - 1), named=named))

    match kind:
        case "fixed":
            return {"type": "fixed", "name": own, "size": draw(st.integers(1, 4))}
        case "enum":
            return {"type": "enum", "name": own, "symbols": ["A", "B", "C"]}
        case "optional":
            union = ["null", draw(st.sampled_from([*LEAVES]))]
            return union if draw(st.booleans()) else union[::-1]
        case "union":
            return draw(st.permutations(["null", "long", "string", "boolean"]))
        case "array":
            items = inner()
            assume(items != "null")
            return {"type": "array", "items": items}
        case "map":
            return {"type": "map", "values": inner()}
        case "record":
            return record(own, [inner() for _ in range(draw(st.integers(1, 3)))])
    return kind


def record(own: str, types: list[Any]) -> dict[str, Any]:
    fields = [{"name": f"x{i}", "type": each} for i, each in enumerate(types)]
    return {"type": "record", "name": own, "fields": fields}


def values(schema: Any) -> st.SearchStrategy[Any]:
    if isinstance(schema, list):
        return st.one_of(*map(values, schema))
    if isinstance(schema, str):
        return st.none() if schema == "null" else LEAVES[schema]
    match schema["type"]:
        case "fixed":
            return st.binary(min_size=schema["size"], max_size=schema["size"])
        case "enum":
            return st.sampled_from(schema["symbols"])
        case "array":
            return st.lists(values(schema["items"]), max_size=3)
        case "map":
            return st.dictionaries(TEXTS, values(schema["values"]), max_size=3)
    return st.fixed_dictionaries({f["name"]: values(f["type"]) for f in schema["fields"]})


def raw(value: Any, schema: Any) -> Any:
    """A value of fastavro as the decoders make it, before it becomes one of a table."""
    if value is None:
        return None
    if isinstance(schema, list) and len(schema) == 2:
        [present] = [each for each in schema if each != "null"]
        return raw(value, present)
    if isinstance(schema, list):
        [place] = [i for i, each in enumerate(schema) if PYTHON.get(each) is type(value)]
        made = [None] * len(schema)
        made[place] = raw(value, schema[place])
        return {name(i): each for i, each in enumerate(made)}
    if isinstance(schema, str):
        return value.encode() if schema == "string" else value
    match schema["type"]:
        case "enum":
            return schema["symbols"].index(value)
        case "array":
            return [raw(item, schema["items"]) for item in value]
        case "map":
            pairs = value.items()
            return [{name(0): k.encode(), name(1): raw(v, schema["values"])} for k, v in pairs]
        case "record":
            fields = [(f["name"], f["type"]) for f in schema["fields"]]
            return {name(i): raw(value[own], type_) for i, (own, type_) in enumerate(fields)}
    return value


PYTHON = {"long": int, "string": str, "boolean": bool}


@st.composite
def files(draw: st.DrawFn) -> tuple[Any, list[Any], bytes]:
    """A schema, values, and a file of them that fastavro has written."""
    named: list[int] = []
    types = [draw(schemas(named=named)) for _ in range(draw(st.integers(1, 3)))]
    schema = record("top", types)
    rows = draw(st.lists(values(schema), max_size=6))
    made = io.BytesIO()
    fastavro.writer(made, schema, rows, codec="deflate", sync_interval=draw(st.integers(1, 40)))
    return schema, rows, made.getvalue()


@searched(120)
@given(file=files())
def test_records_are_read_as_fastavro_wrote_them(file):
    schema, rows, data = file
    header, blocks = blocks_in(data)
    type_ = parsed(header)
    assert isinstance(type_, Record)
    expected = [raw(row, schema) for row in rows]

    exact = [avro_exact.read(count, content, type_) for count, content in blocks]

    assert [row for frame in exact for row in frame.to_dicts()] == expected
    if avro_quick.can_read(type_) and blocks:
        quick = avro_quick.read(blocks, type_, range(len(type_.fields)))
        assert quick.equals(pl.concat(exact))


@searched(120)
@given(file=files(), data=st.data())
def test_damaged_records_are_an_error_or_the_same_both_ways(file, data):
    _, _, content = file
    header, blocks = blocks_in(content)
    assume(blocks)
    type_ = parsed(header)
    count, block = blocks[0]
    assume(block)
    at = data.draw(st.integers(0, len(block) - 1))
    other = data.draw(st.binary(max_size=3))
    damaged = block[:at] + other + block[at + data.draw(st.integers(0, 3)) :]

    try:
        quick = avro_quick.read([(count, damaged)], type_, range(len(type_.fields)))
        exact = avro_exact.read(count, damaged, type_)
    except (NotQuick, avro_exact.BadRecord):
        return
    assert quick.equals(exact)


# --- what is written ---------------------------------------------------------------------------


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[t.Field], pl.DataFrame]:
    """Some of all types, and rows that are like those of the examples or NULL."""
    fields = draw(st.lists(st.sampled_from(FIELDS), min_size=1, max_size=6, unique=True))
    full = AvroColumns(*_first_file())(_first_blocks())
    places = draw(st.lists(st.integers(0, 1), max_size=6))
    return fields, full.select(field.name for field in fields)[places]


def _first_file() -> tuple[Any, list[t.Field]]:
    schema, _ = blocks_in((FOLDER / "deflate.avro").read_bytes())
    return parsed(schema), FIELDS


def _first_blocks() -> Blocks:
    return blocks_in((FOLDER / "deflate.avro").read_bytes())[1]


@searched(40)
@given(table=tables())
def test_fastavro_reads_records_that_were_written(table):
    fields, rows = table
    schema = fastavro.parse_schema(schema_of(fields))
    written = records(rows, fields).to_pylist()

    found = [fastavro.schemaless_reader(io.BytesIO(each), schema) for each in written]

    def as_fastavro(value: Any) -> Any:
        match value:
            case dict():
                return {key: as_fastavro(each) for key, each in value.items()}
            case list():
                return [as_fastavro(each) for each in value]
        return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value

    assert found == [as_fastavro(row) for row in rows.to_dicts()]
    assert AvroDecoder(fields, {})(pa.array(written, pa.binary())).rows.equals(rows)


@searched(80)
@given(numbers=st.lists(LONGS | st.integers(-200, 200) | st.none(), max_size=20))
def test_numbers_are_written_as_they_are_read(numbers):
    fields = [t.Field("n", t.BigInt()), t.Field("d", t.Decimal(38, 0))]
    rows = pl.DataFrame(
        {"n": numbers, "d": numbers}, schema={"n": pl.Int64(), "d": pl.Decimal(38, 0)}
    )
    schema = fastavro.parse_schema(schema_of(fields))

    written = records(rows, fields).to_pylist()

    found = [fastavro.schemaless_reader(io.BytesIO(each), schema) for each in written]
    assert found == rows.to_dicts()
    assert AvroDecoder(fields, {})(pa.array(written, pa.binary())).rows.equals(rows)


def test_blocks_are_full_and_hold_all_records():
    rows = pa.array([bytes([n]) * n for n in range(100)], pa.large_binary())

    blocks = [*in_blocks(rows, 1000)]

    assert sum(count for count, _ in blocks) == 100
    assert b"".join(content for _, content in blocks) == b"".join(rows.to_pylist())
    assert all(len(content) < 1100 for _, content in blocks)


def test_null_in_a_column_that_is_not_null_is_not_written():
    fields = [t.Field("a", t.Array(t.Int(nullable=False)))]

    with pytest.raises(DataError, match="cannot write NULL in `a` with the avro format"):
        records(pl.DataFrame({"a": [[1, None]]}), fields)


@pytest.mark.parametrize(
    ("type_", "why"),
    [
        (t.Timestamp(6), "no more than milliseconds"),
        (t.TimestampLtz(3), "does not write instants"),
        (t.Array(t.TimestampLtz(3)), "does not write instants"),
        (t.Map(t.Int(), t.Int()), "keys of Avro's maps are strings"),
        (t.DayTimeInterval(), "Avro has no INTERVAL"),
        (t.Row((t.Field("a b", t.Int()),)), "`a b` is not a name in Avro"),
    ],
    ids=str,
)
def test_types_that_flink_does_not_write_have_no_schema(type_, why):
    with pytest.raises(NotInAvro, match=why):
        schema_of([t.Field("x", type_)])


# --- schemas that differ -----------------------------------------------------------------------


def read_one(schema: Any, value: Any, type_: t.DataType, field: str = "v") -> Any:
    """What a column of a table is where another one was written."""
    made = io.BytesIO()
    whole = {"type": "record", "name": "other", "fields": [{"name": "v", "type": schema}]}
    fastavro.writer(made, whole, [{"v": value}])
    header, blocks = blocks_in(made.getvalue())
    return AvroColumns(parsed(header), [t.Field(field, type_)])(blocks).to_series()[0]


def of_decimal(precision: int, scale: int) -> dict[str, Any]:
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}


def of_long(logical: str) -> dict[str, Any]:
    return {"type": "long", "logicalType": logical}


def of_row(*names: str, nullable: bool = True) -> t.Row:
    return t.Row(tuple(t.Field(each, t.Int(nullable=nullable)) for each in names))


X = record("other2", ["int"])
MS = 1704164645123
TIME = datetime(2024, 1, 2, 3, 4, 5, 123000)


@pytest.mark.parametrize(
    ("schema", "value", "type_", "expected"),
    [
        ("int", 5, t.BigInt(), 5),
        ("int", 16777217, t.Float(), 16777216.0),
        ("long", 2**53 + 1, t.Double(), float(2**53)),
        ("float", 0.5, t.Double(), 0.5),
        ("string", "é", t.BYTES, b"\xc3\xa9"),
        ("bytes", b"a\xff\xc3(b", t.STRING, "a\ufffd\ufffd(b"),
        ("int", 300, t.TinyInt(), 44),
        ("int", 70000, t.SmallInt(), 4464),
        (["int", "null"], 3, t.Int(), 3),
        (["null", "int"], 3, t.Int(nullable=False), 3),
        (["null", "int", "string"], 3, t.Int(), 3),
        (["null", "int", "long"], 2**40, t.BigInt(), 2**40),
        (["int"], 3, t.Int(), 3),
        ("null", None, t.Int(), None),
        (of_decimal(10, 3), Decimal("1.234"), t.Decimal(10, 2), Decimal("12.34")),
        (of_decimal(20, 2), Decimal("123456789012.34"), t.Decimal(10, 2), None),
        ("bytes", b"\x01\x00", t.Decimal(10, 2), Decimal("2.56")),
        ("bytes", b"\x7f" * 20, t.Decimal(20, 2), None),
        ("bytes", b"\xff" * 20, t.Decimal(20, 2), Decimal("-0.01")),
        ("string", "12", t.Decimal(10, 2), Decimal("125.94")),
        (of_long("timestamp-millis"), MS, t.Timestamp(0), TIME),
        (of_long("local-timestamp-millis"), TIME, t.Timestamp(3), TIME),
        (of_long("timestamp-millis"), MS, t.BigInt(), MS),
        ("int", 86400, t.Timestamp(3), datetime(1970, 1, 1, 0, 1, 26, 400000)),
        ("int", 5, t.Date(), date(1970, 1, 6)),
        ("int", 45296789, t.Time(0), time(12, 34, 56, 789000)),
        (X, {"x0": 1}, of_row("x0", "y"), {"x0": 1, "y": None}),
        (X, {"x0": 1}, of_row("z"), {"z": None}),
        ({"type": "map", "values": "int"}, {"a": 2}, t.Multiset(t.STRING), {"a": 2}),
        ({"type": "map", "values": "int"}, {"a": 2}, t.Map(t.STRING, t.Double()), {"a": 2.0}),
        ("string", "abcdef", t.Char(3), "abcdef"),
    ],
    ids=str,
)
def test_another_type_is_read_as_in_flink(schema, value, type_, expected):
    found = read_one(schema, value, type_)

    assert (found.to_list() if isinstance(found, pl.Series) else found) == expected


@pytest.mark.parametrize(
    ("schema", "value", "type_", "why"),
    [
        ("long", 5, t.Int(), "it is long"),
        ("double", 0.5, t.Float(), "it is double"),
        ({"type": "enum", "name": "e", "symbols": ["A"]}, "A", t.STRING, "it is an enum"),
        ({"type": "fixed", "name": "f", "size": 2}, b"ab", t.BYTES, "it is fixed"),
        ("boolean", True, t.Int(), "it is boolean"),
        ("null", None, t.Int(nullable=False), "it is always null"),
        (["null", "int"], None, t.Int(nullable=False), "it is null, and the column is NOT NULL"),
        (["null", "int", "string"], "x", t.Int(), "it is string"),
        ("bytes", b"", t.Decimal(10, 2), "a decimal has no bytes"),
        (of_long("time-micros"), 5, t.Time(3), "it is long"),
        (X, {"x0": 1}, of_row("x0", "y", nullable=False), "`y`: it is missing"),
        (
            {"type": "array", "items": ["null", "int"]},
            [1, None],
            t.Array(t.Int(nullable=False)),
            "it is null",
        ),
        (X, {"x0": 1}, t.Map(t.STRING, t.Int()), "it is record"),
    ],
    ids=str,
)
def test_a_type_that_does_not_fit_is_an_error_as_in_flink(schema, value, type_, why):
    with pytest.raises((BadSchema, BadBlock), match=why):
        read_one(schema, value, type_)


def test_names_differ_in_case():
    assert read_one("int", 1, t.Int(), "V") is None


# --- messages ----------------------------------------------------------------------------------


def test_bytes_after_a_single_record_are_ignored_as_in_flink():
    fields = [t.Field("s", t.STRING), t.Field("n", t.Int())]
    rows = pl.DataFrame(
        {"s": ["ab", None, ""], "n": [1, 2, None]}, schema_overrides={"n": pl.Int32}
    )
    first, *others = records(rows, fields).to_pylist()

    decoded = AvroDecoder(fields, {})(pa.array([first + b"more", None, *others], pa.binary()))

    assert decoded.rows.rows() == rows.rows()
    assert decoded.record.to_list() == [1, 3, 4]


def test_a_bad_message_is_named():
    messages = pa.array([b"\x02\x04ab", b"\x02\x08ab"], pa.binary())

    with pytest.raises(DataError) as caught:
        AvroDecoder([t.Field("s", t.STRING)], {})(messages, file="topic", first=7)

    assert str(caught.value).startswith("topic:8  cannot read the record as avro")
    assert caught.value.notes["why"] == "`s`: it claims 4 bytes where 2 are left"
