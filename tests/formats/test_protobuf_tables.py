"""Tables whose records are messages of Protocol Buffers: what of them is checked, and how."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.connectors.kafka.tables import encoded, kafka_table, rows_of
from tests.connectors.tables import files
from tests.formats.protobuf_examples import FILES, NEW, OLD, descriptor_file
from tidemark.connectors import registry
from tidemark.errors import SqlError
from tidemark.formats.protobuf_options import CLASS, DESCRIPTORS


@pytest.fixture(scope="module")
def shop(tmp_path_factory) -> str:
    return descriptor_file(tmp_path_factory.mktemp("protobuf"))


NAMES = {
    "com.fresh.NewShop$Everything": "com.fresh.NewShop$Everything",
    "with a dot": "com.fresh.NewShop.Everything",
    "full name of the message": "com.fresh.Everything",
    "simple name": "Nullable",
    "inside": "com.example.Everything$Inner",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_messages_are_found_by_class_and_by_name(shop, name):
    columns = {"Nullable": "n INT", "com.example.Everything$Inner": "v1 BIGINT"}

    registry.options_of(table(shop, columns.get(name, "a_int32 INT"), name))


def table(file: str, columns: str, class_: str = NEW, more: str = "") -> Any:
    return kafka_table(
        columns, f"'format' = 'protobuf', '{CLASS}' = '{class_}', '{DESCRIPTORS}' = '{file}'{more}"
    )


WRONG = {
    "no such class": (
        "a INT",
        "com.fresh.NewShop$Evrything",
        "did you mean `com.fresh.NewShop$Every",
    ),
    "another package": (
        "a INT",
        "org.other.Nothing",
        "com.example.Everything$Inner, com.example.Strict",
    ),
    "two of the name": ("a INT", "Everything", "several messages have the name 'Everything'"),
    "no such field": ("a_int23 INT", NEW, "did you mean `a_int32`?"),
    "a number of another size": (
        "a_int32 BIGINT",
        NEW,
        "`a_int32` is int32 in the message, and BIGINT",
    ),
    "not repeated": ("list_int32 INT", NEW, "declare `list_int32` as ARRAY<INT>"),
    "no map": ("by_uint ARRAY<INT>", NEW, "is map<uint32, string> in the message"),
    "a time": ("`at` TIMESTAMP(3)", NEW, "declare `at` as ROW<`seconds` BIGINT, `nanos` INT>"),
    "inside": ("`inner` ROW<again ROW<v2 INT>>", NEW, "`inner.again.v2` is string in the message"),
}


@pytest.mark.parametrize(("columns", "class_", "says"), WRONG.values(), ids=WRONG)
def test_what_does_not_fit_is_said_before_anything_is_read(shop, columns, class_, says):
    with pytest.raises(SqlError) as caught:
        registry.options_of(table(shop, columns, class_))

    assert says in str(caught.value)
    assert "^" in str(caught.value)


def test_files_of_descriptors_that_cannot_be_used_are_errors(tmp_path):
    missing = str(tmp_path / "none")
    (tmp_path / "text").write_text("syntax = 'proto3';")
    alone = descriptor_file(tmp_path, FILES[1:2])

    for file, why in (
        (missing, "No such file"),
        (str(tmp_path / "text"), "it is not a set of descriptors"),
        (alone, "imports google/protobuf/timestamp.proto, which is not in it"),
    ):
        with pytest.raises(SqlError, match=why) as caught:
            registry.options_of(table(file, "a_int32 INT", OLD))
        assert "--include_imports" in str(caught.value)


def test_a_file_that_has_changed_is_read_again(tmp_path):
    registry.options_of(table(descriptor_file(tmp_path), "a_int32 INT"))
    descriptor_file(tmp_path, [FILES[0], FILES[1]])

    with pytest.raises(SqlError, match="no message of the file has the class"):
        registry.options_of(table(str(tmp_path / "shop.desc"), "a_int32 INT"))


def test_keys_and_values_are_written_to_kafka_in_their_own_messages(shop):
    made = kafka_table(
        "k_id INT, a_string STRING",
        f"'key.format' = 'protobuf', 'key.{CLASS}' = 'com.fresh.NewShop$Strict', "
        f"'key.{DESCRIPTORS}' = '{shop}', 'key.fields' = 'k_id', 'key.fields-prefix' = 'k_', "
        f"'value.format' = 'protobuf', 'value.{CLASS}' = '{NEW}', 'value.{DESCRIPTORS}' = '{shop}', "
        "'value.fields-include' = 'EXCEPT_KEY'",
    )

    [record] = encoded(made, rows_of({"k_id": [7], "a_string": ["x"]}, {"k_id": pl.Int32}))

    assert (record["key"], record["value"]) == (b"\x08\x07", b"\x4a\x01x")


def test_files_do_not_have_messages_as_in_flink(shop):
    given_ = {
        "protobuf__message-class-name": NEW,
        "tidemark__protobuf__descriptor-file": shop,
    }
    with pytest.raises(SqlError, match="'protobuf' is a format of messages, not of files"):
        registry.options_of(files("a INT", Path("x"), "protobuf", **given_))
