"""The quick way of reading JSON gives what the exact way gives, and takes what most files have."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.formats.examples import ALWAYS, NEVER, decoded, fields_of
from tests.formats.hostile import REFUSED
from tests.formats.test_json import VALUES
from tests.searching import searched
from tidemark.errors import DataError
from tidemark.formats.json_options import JsonOptions
from tidemark.formats.json_quick import QuickJson

COLUMNS = (
    "i INT, b BIGINT, t TINYINT, s STRING, d DECIMAL(6, 2), x DOUBLE, f FLOAT, o BOOLEAN, dy DATE, "
    "ts TIMESTAMP(3), z TIMESTAMP_LTZ(6), c TIME(3), y BYTES, r ROW<i INT, ts TIMESTAMP(6), s STRING>, "
    "a ARRAY<INT>, m MAP<STRING, STRING>, n MULTISET<STRING>, l ARRAY<ROW<i INT, a ARRAY<STRING>>>, "
    "q MAP<STRING, ROW<s STRING, d DECIMAL(4, 1)>>, p ROW<r ROW<i INT, s STRING>, a ARRAY<ARRAY<DATE>>>"
)
NAMES = [field.name for field in fields_of(COLUMNS)] + ["other", "I", "i\\u0000", "\\u0069"]

interesting = st.sampled_from(sorted({value for values in VALUES.values() for value in values}))
digits = st.from_regex(
    r"-?(0|[1-9][0-9]{0,21})(\.[0-9]{1,22})?([eE][+-]?[0-9]{1,3})?", fullmatch=True
)
times = st.from_regex(
    r'"[0-2][0-9]{3}-[01][0-9]-[0-3][0-9]([ T][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{1,9})?Z?)?"', fullmatch=True
)  # fmt: skip
clocks = st.from_regex(r'"[0-2][0-9]:[0-5][0-9]:[0-5][0-9](\.[0-9]{1,4})?"', fullmatch=True)
strings = st.text(max_size=6).filter(lambda s: '"' not in s and "\\" not in s and "\n" not in s)
blank = st.sampled_from(["", "", " ", "\t"])
leaves = st.one_of(
    interesting, digits, digits.map('"{}"'.format), times, clocks, strings.map('"{}"'.format),
    st.sampled_from(["null", "true", "false", '"12"', "01", "1.", "+1", "NaN", "'x'", '"x', "{", "[1", '"\\q"']),
)  # fmt: skip


@st.composite
def objects(draw: Any, values: Any, names: list[str] = NAMES) -> str:
    """An object whose fields come in any order, some of them twice."""
    space = draw(blank)
    chosen = draw(st.lists(st.sampled_from(names), max_size=8))
    pairs = [f'"{name}"{space}:{space}{draw(values)}' for name in chosen]
    return f"{space}{{{space}" + f"{space},{space}".join(pairs) + f"{space}}}{space}"


escapes = st.lists(
    st.sampled_from(
        [
            "a",
            "é",
            '\\"',
            "\\\\",
            "\\/",
            "\\n",
            "\\u00e9",
            "\\u0000",
            "\\ud83d\\ude00",
            "\\ud83d",
            " ",
        ]
    ),
    max_size=4,
)
escaped = escapes.map(lambda parts: f'"{"".join(parts)}"')


def arrays(values: Any) -> Any:
    return st.tuples(blank, st.lists(values, max_size=3)).map(
        lambda a: f"[{a[0]}{','.join(a[1])}{a[0]}]"
    )


values = leaves | escaped
nested = st.recursive(
    objects(values, ["i", "ts", "s", "more", "a", "r", "d"]) | arrays(values),
    lambda inner: arrays(inner | values) | objects(inner | values, ["i", "s", "a", "r", "k"]),
    max_leaves=6,
)
records = st.one_of(objects(values | nested), objects(values | nested).map(lambda one: f"[{one}]"))


@st.composite
def damaged(draw: Any) -> bytes:
    record = bytearray(draw(records).encode("utf-8", "surrogatepass"))
    if record and draw(st.booleans()):
        at = draw(st.integers(0, len(record) - 1))
        record[at : at + draw(st.integers(0, 2))] = draw(st.binary(max_size=2))
    return bytes(record).replace(b"\n", b" ")


def outcome(block: bytes, few: int, columns: str = COLUMNS, **options: str) -> Any:
    try:
        found = decoded("json", columns, block, few=few, **options)
    except DataError as error:
        return str(error)
    return found.rows.rows(), found.record.to_list(), found.records, found.skipped


def same(block: bytes) -> None:
    for options in (
        {},
        {"json__ignore_parse_errors": "true"},
        {"json__timestamp_format__standard": "ISO-8601"},
    ):
        assert repr(outcome(block, ALWAYS, **options)) == repr(outcome(block, NEVER, **options))


several = searched(100, suppress_health_check=list(HealthCheck))


@several
@given(st.lists(records | damaged(), min_size=1, max_size=6))
def test_random_and_damaged_records_are_read_alike(chosen: list[str | bytes]) -> None:
    lines = [
        each if isinstance(each, bytes) else each.encode("utf-8", "surrogatepass")
        for each in chosen
    ]
    same(b"\n".join(line.replace(b"\n", b" ") for line in lines for _ in range(2)))


@several
@given(st.sampled_from(NAMES), st.lists(values | nested, min_size=1, max_size=40))
def test_records_of_one_shape_are_read_alike(name: str, values: list[str]) -> None:
    lines = [f'{{"{name}":{value},"r":{{"i":{value}}}}}'.replace("\n", " ") for value in values]
    same("\n".join(lines).encode("utf-8", "surrogatepass"))


def test_hostile_records_are_read_alike() -> None:
    for record, _ in REFUSED.values():
        if len(record) < 100_000:
            same(b'{"i":1}\n{"i":2,"s":"x"}\n' + record + b"\n" + record)


def quick_share(columns: str, lines: list[str]) -> float:
    text = pl.Series(lines)
    done = QuickJson(fields_of(columns), JsonOptions.of("json", {})).read(text)
    return sum(each.index.len() for each in done) / len(lines)


def test_the_records_of_common_files_take_the_quick_way() -> None:
    columns = (
        "id BIGINT, name STRING, price DECIMAL(10, 2), seen TIMESTAMP(3), r ROW<a INT, b STRING>"
    )
    lines = [
        f'{{"id": {i}, "name": "n é{i}", "price": {i}.{i % 100:03d}, "more": {{"x": [1, "y"]}}, '
        f'"seen": "2024-05-01 10:00:{i % 60:02d}.{i % 1000}", "r": {{"a": null, "b": "{i}"}}}}\n'
        for i in range(1_000)
    ]  # fmt: skip

    assert quick_share(columns, lines) == 1


def test_records_of_several_shapes_take_the_quick_way() -> None:
    shapes = [
        '{"id":1,"name":"a"}',
        '{"name":"a","id":1}',
        '{"id":"1"}',
        '{"id":1,"r":null}',
        '{"id":1,"r":{"a":1}}',
    ]

    assert quick_share("id INT, name STRING, r ROW<a INT>", shapes * 100) == 1


def test_only_the_odd_ones_take_the_exact_way() -> None:
    lines = ['{"id":1}'] * 98 + ['[{"id":1}]', "broken"]

    assert quick_share("id INT", lines) == 0.98


def test_the_records_of_wide_tables_take_the_quick_way() -> None:
    names = [f"f{i}" for i in range(40)]
    columns = ", ".join(
        f"{name} INT" if i % 2 else f"{name} STRING" for i, name in enumerate(names)
    )
    lines = [json.dumps({name: n + i for i, name in enumerate(names)}) for n in range(50)]

    assert quick_share(columns, lines) == 1
    same_rows = decoded("json", columns, "\n".join(lines).encode()).rows
    assert same_rows.equals(decoded("json", columns, "\n".join(lines).encode(), few=NEVER).rows)


FITTING: dict[str, Any] = {
    "i": digits | st.just('" 7 "'), "s": escaped | digits | objects(digits, ["x", "y"]), "d": digits, "ts": times,
    "r": objects(escaped | digits, ["i", "s", "ts"]) | st.just("null"), "a": arrays(digits) | st.just("null"),
    "m": objects(escaped, ["k", "l", "\\u006b"]), "n": objects(digits, ["k", "l"]), "other": nested,
    "l": arrays(objects(st.just("null"), ["i", "a"]) | st.just('{"a":["x",null]}') | st.just("null")),
    "q": objects(st.just("null") | objects(digits, ["s", "d"]), ["k", "l"]),
    "p": objects(st.just('{"s":"x"}') | st.just("null"), ["r"]) | st.just('{"a":[["2024-01-01"],null,[]]}'),
}  # fmt: skip


@st.composite
def fitting(draw: Any) -> str:
    """A record whose values have the structure of their types, with any of the fields in any order."""
    chosen = draw(st.lists(st.sampled_from(list(FITTING)), max_size=8))
    return "{" + ",".join(f'"{name}":{draw(FITTING[name])}' for name in chosen) + "}"


@several
@given(st.lists(fitting(), min_size=1, max_size=12))
def test_records_that_fit_their_types_are_read_alike(chosen: list[str]) -> None:
    same("\n".join(chosen).encode())


# Values as most documents have them, up to the limits of their types, and over.
numbers = st.sampled_from([7, 15, 31, 63]).flatmap(
    lambda bits: st.sampled_from([-(1 << bits), (1 << bits) - 1, 1 << bits]) | st.integers(-3, 3)
)
plain_rows = st.fixed_dictionaries(
    {},
    optional={
        "i": st.none() | st.integers(-(1 << 31), (1 << 31) - 1),
        "s": st.none() | st.text(max_size=3),
    },
)
plain = st.fixed_dictionaries(
    {"b": st.integers(-(1 << 63), (1 << 63) - 1)},
    optional={
        "i": numbers, "t": numbers, "s": st.none() | st.text(max_size=3), "o": st.none() | st.booleans(),
        "ts": st.sampled_from([None, "2024-01-01 00:00:00", "2024-01-01 00:00:00.1234", "24"]),
        "r": st.none() | plain_rows, "n": st.dictionaries(st.sampled_from("kl"), st.integers(0, 3)),
        "a": st.none() | st.lists(st.none() | st.integers(-9, 9), max_size=3),
        "l": st.lists(st.none() | st.fixed_dictionaries({"i": st.none() | st.integers(0, 9)}), max_size=2),
    },
)  # fmt: skip


@several
@given(st.lists(plain, min_size=1, max_size=12), st.none() | records)
def test_values_of_the_right_types_are_read_alike(chosen: list[Any], odd: str | None) -> None:
    lines = [json.dumps(each, ensure_ascii=len(chosen) % 2 == 0) for each in chosen]
    lines += [] if odd is None else [odd.replace("\n", " ")]
    same("\n".join(lines).encode("utf-8", "surrogatepass"))


@several
@given(
    st.lists(st.sampled_from(['"b":1', '"s":"x"', '"s":null', '"r":{}', '"b":1.5']), max_size=40),
    st.sampled_from(["b BIGINT", "b BIGINT, s STRING", "r ROW<i INT>, b BIGINT"]),
)
def test_missing_fields_are_found_alike(fields: list[str], columns: str) -> None:
    lines = [*(f'{{"b":{i},"s":"{i}","r":{{}}}}' for i in range(40)), *(f"{{{f}}}" for f in fields)]
    found = [
        outcome("\n".join(lines).encode(), few, columns, json__fail_on_missing_field="true")
        for few in (ALWAYS, NEVER)
    ]

    assert repr(found[0]) == repr(found[1])


@pytest.mark.parametrize(
    "record",
    [
        '{"id":1,"name":"a \\"b\\" \\u00e9"}',
        '{"id":1,"more":[{"x":"\\n"},{"y":{}}]}',
        '{"name":null,"id":"1"}',
        '{"id":1.5,"seen":"24"}',
        '{"tags":["a",null],"m":{"k":1}}',
        '{"parts":[{"x":1},null,{}],"id":1}',
    ],
)
def test_records_of_any_shape_take_the_quick_way(record: str) -> None:
    columns = "id INT, name STRING, tags ARRAY<STRING>, m MAP<STRING, INT>, parts ARRAY<ROW<x INT>>, seen STRING"

    assert quick_share(columns, [record, '{"id":2}'] * 40) == 1


def test_values_that_are_not_of_their_type_do_not_slow_other_columns_down() -> None:
    lines = [f'{{"id":"x","n":{i}}}' for i in range(100)]

    found = decoded(
        "json", "id INT, n INT", "\n".join(lines).encode(), json__ignore_parse_errors="true"
    )

    assert found.slow == 0
    assert found.rows.rows() == [(None, i) for i in range(100)]
