"""CSV lines by Arrow's parser: only where it does as the exact way, which is as on Flink 2.3."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.formats.examples import ALWAYS, NEVER, decoded, fields_of, options_of
from tests.searching import searched
from tidemark.errors import DataError
from tidemark.formats.csv_arrow import ArrowCsv
from tidemark.formats.csv_style import Style

TYPES = {
    "t": "TINYINT", "i": "INT", "l": "BIGINT", "f": "FLOAT", "d": "DOUBLE", "n": "DECIMAL(6, 2)",
    "s": "STRING", "b": "BOOLEAN", "ts": "TIMESTAMP(3)", "z": "TIMESTAMP_LTZ(6)", "dy": "DATE", "a": "ARRAY<INT>",
}  # fmt: skip
VALUES = {
    "t": ["1", "-128", "128"], "i": ["7", "0x1F", "0X1f", "-0x2", " 4", "+3", "007", "1.5", "x"],
    "l": ["9223372036854775807", "-9223372036854775808", "9223372036854775808", "-0", "\t5", "5\x7f"],
    "f": ["1.1", "3.4e38", "1e39", "16777217", "1e-46"],
    "d": ["1.5", ".5", "5.", "1e400", "1e-400", "NaN", "-nan", "nan(1)", "inf", "-Infinity", "1d", "0x1p3", " 2 ", "-0", "+1.5", "1e5"],
    "n": ["1.255", "9999.99", "10000", "99999999999999999999999999999999999999", "1e3", ".5"],
    "s": ["a", "a,b", 'say ""x""', "", "null", "é", "0xff", "#", "\\", "a\nb", "\r"], "b": ["true", "TRUE ", "x"],
    "ts": ["2024-01-01 10:00:00", "2024-01-01 10:00:00.1239", "2024-01-01T10:00:00", "2024-01-01 10:00", "1969-12-31 23:59:59.9999", "0001-01-01 00:00:00"],
    "z": ["2024-01-01 10:00:00Z", "2024-01-01 10:00:00.123456Z", "2024-01-01 10:00:00", "2024-01-01 10:00:00+01"],
    "dy": ["2024-01-01", "2024-1-1", "2024-02-30", "0999-01-01"], "a": ["1;2", "", "1;x"],
}  # fmt: skip
STYLES: list[dict[str, str]] = [
    {}, {"csv__ignore_parse_errors": "true"}, {"csv__null_literal": "null"}, {"csv__null_literal": ""},
    {"csv__disable_quote_character": "true"}, {"csv__escape_character": "\\"}, {"csv__allow_comments": "true"},
    {"csv__ignore_parse_errors": "true", "csv__null_literal": ""},
]  # fmt: skip


@st.composite
def files(draw: st.DrawFn) -> tuple[list[str], bytes]:
    """Columns, and a file of many lines: mostly usual ones of one program."""
    names = draw(st.lists(st.sampled_from([*TYPES]), min_size=1, max_size=5, unique=True))
    end = draw(st.sampled_from(["\n", "\r\n", ",\n"]))

    def line(chosen: list[str]) -> str:
        return ",".join(f'"{each}"' if "," in each or " " in each else each for each in chosen)

    usual = line([VALUES[name][0] for name in names]) + end
    unusual = st.tuples(*(st.sampled_from(VALUES[name]) for name in names)).map(list).map(line)
    broken = st.sampled_from(
        ["", " ", ",", "1", '"', '"a"x', 'a"b', "#", "1,2,3,4,5,6,7", '"a\nb"', "\ufeff"]
    )
    ends = st.sampled_from([end, end, ",\n", ",x\n", "\n"])
    others = st.builds("{}{}".format, unusual | broken, ends)
    lines = draw(st.lists(others, max_size=4))
    before = draw(st.integers(0, 100))
    text = usual * before + "".join(lines) + usual * draw(st.integers(0, 100))
    cut = draw(st.sampled_from([0, 0, 0, 1, 2]))
    return names, text[: len(text) - cut].encode()


def outcome(names: list[str], block: bytes, few: int, **how: Any) -> Any:
    columns = ", ".join(f"{name} {TYPES[name]}" for name in names)
    try:
        found = decoded("csv", columns, block, few=few, **how)
    except DataError as error:
        return str(error)
    return found.rows.rows(), found.record.to_list(), found.records, found.skipped


@searched(200, suppress_health_check=list(HealthCheck))
@given(files(), st.sampled_from(STYLES), st.data())
def test_files_are_read_as_one_by_one(
    file: tuple[list[str], bytes], options: dict[str, str], data: st.DataObject
) -> None:
    names, block = file
    read = data.draw(st.none() | st.lists(st.sampled_from(names), min_size=1))

    quick, exact = (outcome(names, block, few, read=read, **options) for few in (ALWAYS, NEVER))

    assert repr(quick) == repr(exact)


COMMON = '1,"a, b",1.5,2024-01-01 10:00:00'


@pytest.mark.parametrize(
    "block",
    [
        f"{COMMON}\n" * 9,
        f"{COMMON}\r\n" * 9,
        f"{COMMON},\n" * 9,
        f"{COMMON}\n" * 9 + COMMON,
        f'2,"say ""x""",2,2024-01-01 10:00:00\n{COMMON}\n',
        f"x,,0x1F,2024\n{COMMON}\n",
    ],
)
def test_usual_lines_are_left_to_arrow(block: str) -> None:
    found = arrow("id BIGINT, s STRING, x DOUBLE, ts TIMESTAMP(3)", block, read=[1, 3])

    assert found is not None
    assert found.done.sum() >= block.count(COMMON)


def test_only_the_unusual_lines_are_left_to_others() -> None:
    block = "1,a\n" * 60 + "2\n" + "\n" + "3,b\n" * 60

    found = arrow("id STRING, s STRING", block, read=[0, 1])

    assert found is not None
    assert [*(~found.done).nonzero()[0]] == [60, 61]


@pytest.mark.parametrize(
    ("block", "options"),
    [
        ('1,"a\nb"\n', {}),
        ("1,a\rb\n", {}),
        ('1,"a"b\n', {}),
        ('1,a"b"\n', {}),
        ("1,a\\,\n", {"csv__escape_character": "\\"}),
        ("#1,a\n", {"csv__allow_comments": "true"}),
        ("\ufeff1,a\n", {}),
        ("1,a\n2\n3\n", {}),
        ("", {}),
    ],
)
def test_lines_that_arrow_may_see_otherwise_are_not_left_to_it(
    block: str, options: dict[str, str]
) -> None:
    assert arrow("id INT, s STRING", block, read=[0, 1], **options) is None


def arrow(columns: str, block: str, *, read: list[int], **options: str) -> Any:
    style = Style.of(options_of(options))
    return ArrowCsv(fields_of(columns), style, read).read(block.encode(), 1)
