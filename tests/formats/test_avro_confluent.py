"""Messages with the ID of their schema are read and written as Flink does.

Flink 2.3 with flink-sql-avro-confluent-registry 2.3.0 has read the messages in `confluent_of_flink.jsonl`:
each line has what the message is, and what came of it.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import fastavro
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.connectors.tables import files
from tests.formats.avro_examples import FIELDS, ROWS
from tests.registry import FakeRegistry, running
from tests.searching import searched
from tidemark import types as t
from tidemark.connectors.formats import FORMATS
from tidemark.connectors.formats.base import FormatField
from tidemark.connectors.registry import options_of
from tidemark.errors import DataError, JobError, SqlError
from tidemark.formats.avro_confluent import NAME, confluent_messages
from tidemark.formats.avro_debezium import NAME as DEBEZIUM
from tidemark.formats.avro_debezium import debezium_messages
from tidemark.formats.column_types import schema
from tidemark.formats.decoders import decoder
from tidemark.schema_registry import client
from tidemark.schema_registry.settings import RegistrySettings

RECORDED = Path(__file__).parent / "confluent_of_flink.jsonl"
CASES = [json.loads(line) for line in RECORDED.read_text().splitlines()]


@pytest.fixture
def registry() -> Iterator[FakeRegistry]:
    with running() as made:
        yield made


def options(registry: FakeRegistry, format_: str = NAME, **more: Any) -> dict[str, Any]:
    return {f"{format_}.{key}": value for key, value in {"url": registry.url, **more}.items()}


def messages(*values: bytes | None) -> pa.Array:
    return pa.array(values, pa.binary())


def message(number: int, schema: Any, value: Any) -> bytes:
    content = io.BytesIO()
    fastavro.schemaless_writer(
        content, fastavro.parse_schema(json.loads(json.dumps(schema))), value
    )
    return b"\0" + number.to_bytes(4, "big") + content.getvalue()


def record(*fields: tuple[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": [{"name": n, "type": s} for n, s in fields]}


# --- as in Flink -------------------------------------------------------------------------------

# Schemas whose fields have defaults are refused where these would be needed, and no value of Python is
# that far in the future.
OTHERWISE = {"default0", "default_other_name0", "times0"}
# By the check of the table, before anything is read.
REFUSED = (
    "IllegalArgumentException: Schema provided",
    "UnsupportedOperationException: Unsupported to",
)


def shown(value: Any) -> str:
    """As Java shows it."""
    match value:
        case None:
            return "null"
        case bytes():
            return str([*value])
        case datetime():
            return value.isoformat(timespec="milliseconds")
        case {"b": _}:
            return f"+I({','.join(map(shown, value.values()))})"
        case list() | dict():
            return "..."
    return str(value)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_messages_are_read_as_in_flink(registry, case):
    format_ = case["format"]
    if case["written"]:
        registry.add(case["written"], case["id"])
    table = files(case["columns"], Path("x"), "json")
    fields = [t.Field(each.name, each.type) for each in table.columns]
    own = None if case["schema"] is None else json.dumps(case["schema"])
    given = options(registry, format_, schema=own)
    value = None if case["message"] == "null" else bytes.fromhex(case["message"])
    flink = case["flink"].removeprefix("FAIL ")

    if flink.startswith(REFUSED):
        with pytest.raises(SqlError, match=r"not that of the table|cannot represent"):
            FORMATS[format_].check(
                table, tuple(FormatField(f.name, f.name, f.type) for f in fields), given
            )
    elif case["name"] in OTHERWISE or flink != case["flink"]:
        with pytest.raises((DataError, pl.exceptions.PolarsError, ValueError)):
            decoder(format_, fields, given)(messages(value)).rows.rows()
    else:
        decoded = decoder(format_, fields, given)(messages(value))
        kinds = ["+I"] * decoded.rows.height if decoded.kinds is None else decoded.kinds
        rows = zip(kinds, decoded.rows.rows(), strict=True)
        lines = [f"{kind}({','.join(map(shown, row))})" for kind, row in rows]
        known = re.sub(r"org\.apache\.flink\.table\.data\.Generic\w+@\w+", "...", flink)
        assert f"[{', '.join(lines)}]" == known


# What Flink has written, a line for each event, and the schema that it has registered.
EVENTS = "000000006502000202020202610a0202630a00000000650200020204000c0202630a"
EVENT = (
    '["null",{"type":"record","name":"record","namespace":"org.apache.flink.avro.generated","fields":['
    '{"name":"before","type":["null",{"type":"record","name":"record_before","fields":['
    '{"name":"id","type":["null","int"],"default":null},{"name":"s","type":["null","string"],"default":null},'
    '{"name":"n","type":"long"}]}],"default":null},'
    '{"name":"after","type":["null",{"type":"record","name":"record_after","fields":['
    '{"name":"id","type":["null","int"],"default":null},{"name":"s","type":["null","string"],"default":null},'
    '{"name":"n","type":"long"}]}],"default":null},{"name":"op","type":["null","string"],"default":null}]}]'
)


def test_events_are_written_and_registered_byte_for_byte_as_by_flink(registry):
    registry.add('"string"')  # 100
    fields = [
        t.Field("id", t.Int()),
        t.Field("s", t.STRING),
        t.Field("n", t.BigInt(nullable=False)),
    ]
    rows = pl.DataFrame(
        {"id": [1, 2], "s": ["a", None], "n": [5, 6]},
        {"id": pl.Int32, "s": pl.String, "n": pl.Int64},
    )

    written = debezium_messages(rows, fields, options(registry, DEBEZIUM, subject="dbz-value"))

    assert b"\n".join([*written.to_pylist(), b""]).hex() == EVENTS
    assert registry.schemas[101]["schema"] == EVENT
    assert registry.subjects == {"dbz-value": [101]}


def test_a_record_of_all_types_is_read_as_it_was_written(registry):
    given = options(registry, subject="all value/x")
    rows = pl.DataFrame(ROWS, schema=schema(FIELDS))

    written = confluent_messages(rows, FIELDS, given)
    again = confluent_messages(rows, FIELDS, given)

    assert decoder(NAME, FIELDS, given)(written).rows.to_dicts() == ROWS
    assert written.equals(again)
    assert registry.asked == [
        ("POST", "/subjects/all%20value%2Fx/versions"),
        ("GET", "/schemas/ids/100"),
    ]


@searched(30)
@given(st.lists(st.sampled_from(["+I", "-U", "+U", "-D"]), max_size=5))
def test_changes_are_read_as_they_were_written(kinds):
    fields = [t.Field("id", t.Int()), t.Field("s", t.STRING)]
    rows = pl.DataFrame(
        {
            "id": [*range(len(kinds))],
            "s": [None if i % 2 else f"{i}" for i in range(len(kinds))],
            "kind": kinds,
        },
        {"id": pl.Int32, "s": pl.String, "kind": pl.String},
    )
    with running() as registry:
        given = options(registry, DEBEZIUM, subject="x")
        decoded = decoder(DEBEZIUM, fields, given)(debezium_messages(rows, fields, given))

    assert decoded.rows.rows() == rows[:, :2].rows()
    assert decoded.kinds.to_list() == [{"-U": "-D", "+U": "+I"}.get(kind, kind) for kind in kinds]


# --- several schemas ---------------------------------------------------------------------------

VERSIONS = (
    record(("a", "int")),
    record(("b", ["null", "string"]), ("a", "long")),
    record(("a", ["int", "string", "null"]), ("c", "double")),  # which Polars does not read
)
NULLABLE = [t.Field("a", t.BigInt()), t.Field("b", t.STRING)]
NUMBERS = st.integers(-100, 100)
WRITTEN = st.one_of(
    st.tuples(st.just(0), st.fixed_dictionaries({"a": NUMBERS})),
    st.tuples(
        st.just(1), st.fixed_dictionaries({"a": NUMBERS, "b": st.none() | st.text(max_size=3)})
    ),
    st.tuples(st.just(2), st.fixed_dictionaries({"a": NUMBERS | st.none(), "c": st.just(1.5)})),
    st.none(),
)


@searched(60)
@given(st.lists(WRITTEN, max_size=20), st.booleans())
def test_messages_of_several_schemas_are_read_in_order(written, longer):
    with running() as registry:
        for each in VERSIONS:
            registry.add(each)
        values = [
            None
            if each is None
            else message(100 + each[0], VERSIONS[each[0]], each[1]) + b"more" * longer
            for each in written
        ]
        decoded = decoder(NAME, NULLABLE, options(registry))(messages(*values), first=5)

    there = [(place, each[1]) for place, each in enumerate(written) if each is not None]
    assert decoded.rows.rows() == [(each.get("a"), each.get("b")) for _, each in there]
    assert decoded.record.to_list() == [place + 5 for place, _ in there]
    assert decoded.records == len(written)


# What is nothing in a type, and what is something that the column cannot have.
OTHER_TYPES: dict[str, tuple[Any, Any, Any]] = {
    "INT": (["null", "string"], None, "x"),
    "STRING": (["long", "null"], None, 5),
    "ROW<x INT>": (["null", record(("x", "string"))], None, {"x": "a"}),
    "ROW<x INT, y STRING>": (record(("x", ["null", "string"])), {"x": None}, {"x": "a"}),
    "ARRAY<STRING>": ({"type": "array", "items": "int"}, [], [5]),
    "ARRAY<INT NOT NULL>": ({"type": "array", "items": "null"}, [], [None]),
    "MAP<STRING, INT>": ({"type": "map", "values": "string"}, {}, {"k": "x"}),
    "MULTISET<STRING>": ({"type": "map", "values": "string"}, {}, {"k": "x"}),
}


@pytest.mark.parametrize(("column", "found"), OTHER_TYPES.items(), ids=OTHER_TYPES)
def test_nothing_can_be_read_whatever_else_its_type_has(registry, column, found):
    """Flink 2.3 reads NULLs, empty arrays and empty maps of types that the column cannot have."""
    type_, nothing, something = found
    written = {**record(("n", "int"), ("a", type_)), "name": "Outer"}
    number = registry.add(written)
    table = files(f"n INT, a {column}", Path("x"), "json")
    read = decoder(NAME, [t.Field(e.name, e.type) for e in table.columns], options(registry))
    good = [message(number, written, {"n": n, "a": nothing}) for n in (1, 2)]
    bad = message(number, written, {"n": 3, "a": something})

    assert read(messages(*good)).rows["n"].to_list() == [1, 2]
    with pytest.raises(DataError, match=r"^topic:3  cannot read `a` as ") as caught:
        read(messages(*good, bad), file="topic")
    assert "it is " in str(caught.value)


@pytest.mark.parametrize("millis", [-(2**63), 2**63 - 1])
def test_a_time_that_no_column_can_have_is_bad(registry, millis):
    number = registry.add(record(("a", "long")))
    read = decoder(NAME, [t.Field("a", t.Timestamp(3))], options(registry))

    with pytest.raises(DataError, match=f"{millis} is not a time of this calendar"):
        read(messages(message(number, record(("a", "long")), {"a": millis})))


def test_the_first_bad_message_is_named_whatever_its_schema(registry):
    one, two = (registry.add(each) for each in VERSIONS[:2])
    right = message(two, VERSIONS[1], {"a": 1, "b": None})
    short = b"\0" + one.to_bytes(4, "big")
    values = messages(right, right[:-1], None, short, right)

    with pytest.raises(DataError) as caught:
        decoder(NAME, NULLABLE, options(registry))(values, file="topic", first=10)

    assert str(caught.value).startswith("topic:11  cannot read the record as avro")


def test_schemas_that_refer_to_others_are_followed(registry):
    registry.subjects["inner"] = [registry.add(record(("x", "int")) | {"name": "Inner"}, 7)]
    outer = record(("r", "Inner"))
    number = registry.add(
        outer, 8, references=[{"name": "Inner", "subject": "inner", "version": 1}]
    )
    fields = [t.Field("r", t.Row((t.Field("x", t.Int()),)))]

    decoded = decoder(NAME, fields, options(registry))(
        messages(b"\0" + number.to_bytes(4, "big") + b"\4")
    )

    assert decoded.rows.rows() == [({"x": 2},)]


# --- what the registry says --------------------------------------------------------------------


def test_a_registry_that_fails_for_a_moment_is_asked_again(registry):
    number = registry.add(VERSIONS[0])
    registry.failures = [503, 500]

    rows = decoder(NAME, NULLABLE, options(registry))(
        messages(message(number, VERSIONS[0], {"a": 3}))
    ).rows

    assert rows.rows() == [(3, None)]
    assert len(registry.asked) == 3


def test_the_next_url_is_asked_if_one_does_not_answer(registry):
    number = registry.add(VERSIONS[0])
    given = options(registry, url=f"http://127.0.0.1:1, {registry.url}/")

    assert (
        decoder(NAME, NULLABLE, given)(messages(message(number, VERSIONS[0], {"a": 3}))).rows.height
        == 1
    )


def test_a_registry_that_is_not_there_is_named(registry, monkeypatch):
    monkeypatch.setattr(client, "_WAITS_S", ())
    value = messages(message(1, VERSIONS[0], {"a": 3}))

    with pytest.raises(JobError, match="cannot get a schema from the registry") as caught:
        decoder(NAME, NULLABLE, options(registry, url="http://user:word@127.0.0.1:1"))(value)

    assert "http://127.0.0.1:1 does not answer" in str(caught.value)
    assert "word" not in str(caught.value)


AUTHORIZATIONS = {
    "user": ({"basic-auth.user-info": "me:word"}, "Basic bWU6d29yZA=="),
    "token": ({"bearer-auth.token": "abc"}, "Bearer abc"),
    "property": ({"properties": "bearer.auth.token: t,http.read.timeout.ms:900"}, "Bearer t"),
    "stronger than its property": (
        {"bearer-auth.token": "a", "properties": "bearer.auth.token:t"},
        "Bearer a",
    ),
}


@pytest.mark.parametrize(("given_", "sent"), AUTHORIZATIONS.values(), ids=AUTHORIZATIONS)
def test_users_and_tokens_are_sent(registry, given_, sent):
    number = registry.add(VERSIONS[0])

    decoder(NAME, NULLABLE, options(registry, **given_))(
        messages(message(number, VERSIONS[0], {"a": 3}))
    )

    assert registry.authorization == [sent]


WRONG = {
    "no URL": ({"url": "x:1"}, "url", "does not begin with http"),
    "two ways to sign in": (
        {"basic-auth.user-info": "a:b", "bearer-auth.token": "t"},
        "bearer-auth.token",
        "only one can be sent",
    ),
    "a way that only Java knows": (
        {"basic-auth.credentials-source": "SASL_INHERIT"},
        "basic-auth.credentials-source",
        "SASL_INHERIT is not supported",
    ),
    "an unknown property": ({"properties": "proxy.host:x"}, "properties", "'proxy.host' is not"),
    "no pairs": ({"properties": "abc"}, "properties", "is not of the form"),
}


@pytest.mark.parametrize(("more", "option", "why"), WRONG.values(), ids=WRONG)
def test_wrong_settings_name_the_option(more, option, why):
    table = files("a INT", Path("x"), "json")
    fields = (FormatField("a", "a", t.Int()),)
    given = dict.fromkeys(each.name for each in FORMATS[NAME].options) | {f"{NAME}.url": "http://x"}

    with pytest.raises(SqlError, match=re.escape(why)) as caught:
        FORMATS[NAME].check(table, fields, given | {f"{NAME}.{key}": v for key, v in more.items()})

    assert f"'{NAME}.{option}'" in str(caught.value)


def test_a_user_in_the_url_is_sent_apart_from_it(registry):
    number = registry.add(VERSIONS[0])
    given = options(registry, url=registry.url.replace("//", "//me:w%40rd@"))

    decoder(NAME, NULLABLE, given)(messages(message(number, VERSIONS[0], {"a": 3})))

    assert registry.authorization == ["Basic bWU6d0ByZA=="]


def test_refused_access_says_what_to_set(registry):
    registry.failures = [401]

    with pytest.raises(JobError, match=r"basic-auth\.user-info"):
        decoder(NAME, NULLABLE, options(registry))(messages(message(1, VERSIONS[0], {"a": 3})))


def test_a_schema_that_cannot_be_registered_names_its_subject(registry):
    registry.failures = [409]

    with pytest.raises(JobError, match="cannot register the schema of subject 'x'") as caught:
        confluent_messages(
            pl.DataFrame({"a": [1], "b": ["b"]}), NULLABLE, options(registry, subject="x")
        )

    assert "says: not now (409)" in str(caught.value)


def test_secrets_are_not_in_what_is_shown_of_settings():
    given = {
        f"{NAME}.{key}": "hidden"
        for key in ("basic-auth.user-info", "ssl.truststore.password", "ssl.keystore.password")
    } | {
        f"{NAME}.url": "http://x",
        f"{NAME}.ssl.truststore.location": "t",
        f"{NAME}.ssl.keystore.location": "k",
    }

    assert "hidden" not in repr(RegistrySettings.of(NAME, given))


# --- files and schemas of tables ---------------------------------------------------------------


def test_files_do_not_have_formats_of_messages():
    table = files("a INT", Path("x"), NAME, avro_confluent__url="http://x")

    with pytest.raises(SqlError, match="'avro-confluent' is a format of messages, not of files"):
        options_of(table)


# Schemas as one writes them oneself, and whether their records have the bytes of the table's.
OWN = {
    "the same with other names": (record(("a", "int"), ("b", ["null", "string"])), True),
    "null last": (record(("a", "int"), ("b", ["string", "null"])), False),
    "an enum": (record(("a", {"type": "enum", "name": "E", "symbols": ["A"]})), False),
    "fixed size": (record(("a", {"type": "fixed", "name": "F", "size": 4})), False),
}


@pytest.mark.parametrize(("own", "can_be_written"), OWN.values(), ids=OWN)
def test_schemas_that_would_be_written_otherwise_are_refused(own, can_be_written):
    table, given = files("a INT", Path("x"), "json"), {f"{NAME}.schema": json.dumps(own)}

    if can_be_written:
        FORMATS[NAME].check_sink(table, given)
    else:
        with pytest.raises(SqlError, match="writing with the schema given is not supported yet"):
            FORMATS[NAME].check_sink(table, given)
