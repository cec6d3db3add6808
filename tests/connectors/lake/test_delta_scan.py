"""Tables of Delta as sources."""

from __future__ import annotations

import datetime as dt
import json
import os
import struct
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, write_deltalake
from pyroaring import BitMap

from tests.connectors import tables
from tidemark.errors import DataError, NotSupported, OptionError, PlanError

UTC = dt.UTC
# Types of Flink SQL, Arrow's, and two values.
VALUES: dict[str, tuple[str, pa.DataType, Any]] = {
    "a": ("TINYINT", pa.int8(), -7),
    "b": ("SMALLINT", pa.int16(), 8),
    "c": ("INT", pa.int32(), -9),
    "d": ("BIGINT", pa.int64(), 2**63 - 1),
    "wider": ("BIGINT", pa.int32(), 5),
    "e": ("FLOAT", pa.float32(), 1.5),
    "f": ("DOUBLE", pa.float64(), float("nan")),
    "g": ("DECIMAL(20, 2)", pa.decimal128(20, 2), Decimal("-12345678901234567.30")),
    "h": ("BOOLEAN", pa.bool_(), True),
    "i": ("STRING", pa.string(), "é's"),
    "j": ("BYTES", pa.binary(), b"\x00\xff"),
    "k": ("DATE", pa.date32(), dt.date(1, 1, 1)),
    "l": ("TIMESTAMP(6)", pa.timestamp("us"), dt.datetime(1969, 12, 31, 23, 59, 59, 999_999)),
    "m": ("TIMESTAMP_LTZ(6)", pa.timestamp("us", "UTC"),
          dt.datetime(2024, 5, 1, 10, 0, 0, 1, tzinfo=UTC)),
    "n": ("ARRAY<INT>", pa.list_(pa.int32()), [1, None]),
    "o": ("ROW<x INT, `Y z` STRING>", pa.struct([("x", pa.int32()), ("Y z", pa.string())]),
          {"x": 1, "Y z": "b"}),
}  # fmt: skip


def folder(path: Path, rows: pa.Table, **more: Any) -> str:
    write_deltalake(str(path), rows, mode="append", **more)
    return str(path)


def numbers(*values: int) -> pa.Table:
    return pa.table({"id": pa.array(values, pa.int64())})


def table(path: object, columns: str = "id BIGINT", tail: str = "", **options: str) -> Any:
    more = "".join(f", '{key}' = '{value}'" for key, value in options.items())
    return tables.declared(
        f"CREATE TABLE t ({columns}) {tail} WITH ('connector' = 'delta', 'table-path' = '{path}'{more})"
    )


def ids(path: object, **options: str) -> list[int]:
    return sorted(tables.frame(table(path, **options))["id"])


def test_values_of_each_type_are_read(tmp_path):
    columns = {name: pa.array([value, None], type_) for name, (_, type_, value) in VALUES.items()}
    path = folder(tmp_path / "t", pa.table(columns))
    declared = ", ".join(f"`{name}` {value[0]}" for name, value in VALUES.items())

    first, nulls = tables.frame(table(path, declared)).rows()

    expected = {**{name: value[2] for name, value in VALUES.items()}}
    got = dict(zip(VALUES, first, strict=True))
    assert [*got.pop("o").values()] == [*expected.pop("o").values()]
    assert repr(got) == repr(expected).replace(
        "datetime.timezone.utc", "zoneinfo.ZoneInfo(key='UTC')"
    )
    assert set(nulls) == {None}


PARTITIONS: dict[str, tuple[str, pa.DataType, Any]] = {
    "p": ("STRING", pa.string(), "a b/ü%=#'\"{}"),
    "q": ("DATE", pa.date32(), dt.date(2024, 2, 29)),
    "r": ("TIMESTAMP(6)", pa.timestamp("us"), dt.datetime(2024, 5, 1, 10, 0, 0, 7)),
    "s": ("DECIMAL(5, 2)", pa.decimal128(5, 2), Decimal("1.50")),
    "t": ("BOOLEAN", pa.bool_(), False),
    "u": ("INT", pa.int32(), -3),
    "v": ("TIMESTAMP_LTZ(6)", pa.timestamp("us", "UTC"), dt.datetime(2024, 5, 1, 10, tzinfo=UTC)),
}  # fmt: skip


def test_partition_columns_are_read_from_the_log(tmp_path):
    columns = {
        name: pa.array([value, None], type_) for name, (_, type_, value) in PARTITIONS.items()
    }
    rows = pa.table({"id": [1, 2], **columns})
    path = folder(tmp_path / "t", rows, partition_by=[*PARTITIONS])
    # Case does not matter, for the names of these columns neither.
    declared = ", ".join(f"{name.upper()} {value[0]}" for name, value in PARTITIONS.items())

    found = tables.frame(table(path, f"id BIGINT, {declared}")).sort("id").rows()

    assert found == [(1, *(value[2] for value in PARTITIONS.values())), (2, *[None] * 7)]


def test_only_the_columns_that_are_read_are_read(tmp_path):
    path = folder(tmp_path / "t", pa.table({"a": [1, 2], "b": ["x", "y"]}))
    asked = table(path, "a BIGINT, b STRING")

    assert tables.frame(asked, read=frozenset({"b"})).rows() == [(None, "x"), (None, "y")]
    assert tables.frame(asked, read=frozenset()).height == 2
    assert tables.frame(table(path, "x AS 1")).height == 2


def test_the_newest_version_or_an_older_one_is_read(tmp_path):
    path = folder(tmp_path / "t", numbers(1))
    folder(tmp_path / "t", numbers(2))
    DeltaTable(path).delete("id = 1")

    assert ids(path) == [2]
    assert ids(path, versionAsOf="0") == [1]
    assert ids(path, versionAsOf="1") == [1, 2]
    with pytest.raises(DataError, match="has no version 9") as raised:
        ids(path, versionAsOf="9")
    assert raised.value.notes["newest"] == 2


def made_at(path: str, *times: str) -> None:
    """Sets the times of versions, which are those of their files."""
    for version, time in enumerate(times):
        seconds = dt.datetime.fromisoformat(time).replace(tzinfo=UTC).timestamp()
        os.utime(f"{path}/_delta_log/{version:020d}.json", (seconds, seconds))


def test_a_version_is_found_by_its_time(tmp_path):
    path = folder(tmp_path / "t", numbers(1))
    folder(tmp_path / "t", numbers(2))
    made_at(path, "2024-05-01T10:00", "2024-05-02T10:00")

    assert ids(path, timestampAsOf="2024-05-01 10:00:00") == [1]
    assert ids(path, timestampAsOf="2024-05-02T09:59:59.999Z") == [1]
    assert ids(path, timestampAsOf="2024-05-02T10:00:00+00:00") == [1, 2]
    with pytest.raises(DataError, match="no version at 2024-05-01 09:59:59 UTC or before"):
        ids(path, timestampAsOf="2024-05-01 09:59:59")
    with pytest.raises(DataError, match="is after version 1"):
        ids(path, timestampAsOf="2024-05-03 00:00:00")


def z85(content: bytes) -> str:
    digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    text = ""
    for start in range(0, len(content), 4):
        number, word = int.from_bytes(content[start : start + 4], "big"), ""
        for _ in range(5):
            number, digit = divmod(number, 85)
            word = digits[digit] + word
        text += word
    return text


def delete_by_vector(path: str, rows: list[int], version: int = 1) -> None:
    """Adds a version in which rows of the only file are deleted, as other writers do it."""
    log = Path(path) / "_delta_log"
    first = [json.loads(line) for line in (log / f"{0:020d}.json").read_text().splitlines()]
    [add] = [action["add"] for action in first if "add" in action]
    body = struct.pack("<iqi", 1681511377, 1, 0) + BitMap(rows).serialize()
    vector = {
        "storageType": "i",
        "pathOrInlineDv": z85(body + b"\0" * (-len(body) % 4)),
        "sizeInBytes": len(body),
        "cardinality": len(rows),
    }
    features = ["deletionVectors"]
    actions = [
        {"commitInfo": {"timestamp": 1, "operation": "DELETE"}},
        {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": features,
                      "writerFeatures": features}},
        {"remove": {"path": add["path"], "deletionTimestamp": 1, "dataChange": True}},
        {"add": {**add, "deletionVector": vector, "dataChange": True}},
    ]  # fmt: skip
    (log / f"{version:020d}.json").write_text("\n".join(map(json.dumps, actions)))


@pytest.mark.parametrize("partitioned", [False, True])
def test_rows_of_deletion_vectors_are_left_out(tmp_path, partitioned):
    rows = pa.table({"id": range(10), "p": ["ü %"] * 10})
    path = folder(tmp_path / "a b%", rows, partition_by=["p"] if partitioned else None)
    delete_by_vector(path, [1, 3, 9])

    assert ids(path) == [0, 2, 4, 5, 6, 7, 8]
    assert ids(path, versionAsOf="0") == [*range(10)]
    counted = tables.frame(table(path, "id BIGINT, p STRING"), read=frozenset({"p"}))
    assert counted["p"].to_list() == ["ü %"] * 7
    assert tables.frame(table(path), read=frozenset()).height == 7


@pytest.mark.parametrize("feature", ["columnMapping", "typeWidening", "somethingNew"])
def test_a_feature_that_could_change_rows_is_refused_by_name(tmp_path, feature):
    path = folder(tmp_path / "t", numbers(1))
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": [feature],
                "writerFeatures": [feature]}  # fmt: skip
    (Path(path) / "_delta_log" / f"{1:020d}.json").write_text(json.dumps({"protocol": protocol}))

    with pytest.raises((NotSupported, DataError, Exception)) as raised:
        ids(path)
    assert feature in str(raised.value) + str(getattr(raised.value, "notes", ""))


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ("nr BIGINT", "has no column `nr`"),
        ("id INT", "column `id` of .* is BIGINT, which cannot be read as INT"),
        ("id STRING", "cannot be read as STRING"),
    ],
)
def test_columns_that_do_not_fit_are_named(tmp_path, columns, says):
    path = folder(tmp_path / "t", numbers(1))
    with pytest.raises(DataError, match=says):
        tables.frame(table(path, columns))


def test_a_folder_without_a_table_is_an_error(tmp_path):
    with pytest.raises(DataError, match="is not a table of Delta"):
        ids(tmp_path)
    with pytest.raises(DataError, match="is not a table of Delta"):
        ids(tmp_path / "missing")


def test_a_file_that_was_vacuumed_is_named(tmp_path):
    path = folder(tmp_path / "t", numbers(1))
    [file] = DeltaTable(path).file_uris()
    Path(file).unlink()
    with pytest.raises(DataError, match="the file is gone"):
        ids(path)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"versionAsOf": "1", "timestampAsOf": "2024-05-01"}, "exclude each other"),
        ({"mode": "streaming", "versionAsOf": "1"}, "requires 'mode' = 'batch'"),
        ({"startingVersion": "1"}, "requires 'mode' = 'streaming'"),
        ({"ignoreDeletes": "true"}, "requires 'mode' = 'streaming'"),
        ({"mode": "streaming", "startingVersion": "newest"}, "expected a version or 'latest'"),
        ({"timestampAsOf": "yesterday"}, "expected a time"),
        ({"versionasof": "x"}, "expected an integer"),
        ({"versionsAsOf": "1"}, "unknown option"),
    ],
)
def test_options_that_do_not_fit_are_errors(options, says):
    from tidemark.connectors import registry

    with pytest.raises(OptionError, match=says) as raised:
        registry.options_of(table("/nowhere", **options))
    assert raised.value.at is not None


@pytest.mark.parametrize("type_", ["TIME(0)", "INTERVAL DAY TO SECOND", "ROW<x TIME(0)>"])
def test_types_that_delta_lacks_are_refused_at_the_column(type_):
    from tidemark.connectors import registry

    with pytest.raises(NotSupported, match="in a table of Delta") as raised:
        registry.options_of(table("/nowhere", f"a INT, b {type_}"))
    assert raised.value.at is not None


def test_a_stream_is_not_read_in_batch(tmp_path):
    with pytest.raises(PlanError, match="is unbounded"):
        ids(folder(tmp_path / "t", numbers(1)), mode="streaming")


def test_what_only_moves_rows_changes_nothing(tmp_path):
    path = folder(tmp_path / "t", numbers(1))
    folder(tmp_path / "t", numbers(2), commit_properties=CommitProperties())
    DeltaTable(path).optimize.compact()
    assert ids(path) == [1, 2]
