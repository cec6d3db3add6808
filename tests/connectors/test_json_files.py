"""The json format on Spark. Expected values were confirmed on Flink 2.3 unless a test says else."""

import datetime as dt
from decimal import Decimal

import pytest

from tests.connectors.tables import files, read, rows, write
from tidemark.errors import DataError


@pytest.fixture
def written(tmp_path):
    def put(*lines):
        path = tmp_path / "rows.json"
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return path

    return put


def converted(spark, written, type_, values, **options):
    """What each JSON value is as a column of the type; bad ones are NULL."""
    path = written(*(f'{{"v": {value}}}' for value in values))
    table = files(f"v {type_}", path, json__ignore_parse_errors="true", **options)
    return dict(zip(values, (row[0] for row in rows(read(spark, table))), strict=True))


def test_integers_are_read_from_numbers_and_strings(spark, written):
    assert converted(spark, written, "INT", ["1", "1.9", "-1.5", "1e2", '" 2 "', '"x"', "2147483648", '""', "true"]) == {
        "1": 1, "1.9": 1, "-1.5": -1, "1e2": 100, '" 2 "': 2, '"x"': None, "2147483648": None, '""': None, "true": None,
    }  # fmt: skip
    assert converted(spark, written, "TINYINT", ["1", "128", "1.5"]) == {
        "1": 1,
        "128": None,
        "1.5": None,
    }


def test_decimals_are_exact_and_null_when_too_large(spark, written):
    assert converted(spark, written, "DECIMAL(10, 2)", ["1.005", '"9.999"', "1e2", "123456789.0", '"x"']) == {
        "1.005": Decimal("1.01"), '"9.999"': Decimal("10.00"), "1e2": Decimal("100.00"), "123456789.0": None, '"x"': None,
    }  # fmt: skip
    wide = "12345678901234567890.123456789"
    assert converted(spark, written, "DECIMAL(38, 9)", [wide, f'"{wide}"']) == {
        wide: Decimal(wide),
        f'"{wide}"': Decimal(wide),
    }


def test_a_decimal_that_is_too_large_is_not_an_error(spark, written):
    assert rows(read(spark, files("v DECIMAL(4, 2)", written('{"v": 123.456}')))) == [(None,)]


def test_strings_take_any_value_as_it_is_written(spark, written):
    values = [
        "1.50",
        "1e2",
        "true",
        '"a\\u0041"',
        "null",
        '{"a":1}',
        "[1,2]",
        "123456789012345678901234567890",
    ]

    assert list(converted(spark, written, "STRING", values).values()) == [
        "1.50", "1e2", "true", "aA", None, '{"a":1}', "[1,2]", "123456789012345678901234567890",
    ]  # fmt: skip


def test_anything_but_true_is_false(spark, written):
    assert converted(spark, written, "BOOLEAN", ["true", '" TRUE "', "1", '"yes"', "null"]) == {
        "true": True, '" TRUE "': True, "1": False, '"yes"': False, "null": None,
    }  # fmt: skip


def test_times_are_written_in_full(spark, written):
    stamp = dt.datetime(2024, 1, 1, 10, 0, 0)
    sql = [
        '"2024-01-01 10:00:00"',
        '"2024-01-01 10:00:00.1239"',
        '"2024-01-01T10:00:00"',
        '"2024-01-01 10:00"',
        "1",
    ]
    assert list(converted(spark, written, "TIMESTAMP(3)", sql).values()) == [
        stamp, stamp.replace(microsecond=123000), None, None, None,
    ]  # fmt: skip
    iso = ['"2024-01-01T10:00:00"', '"2024-01-01 10:00:00"']
    options = {"json__timestamp_format__standard": "ISO-8601"}
    assert list(converted(spark, written, "TIMESTAMP(3)", iso, **options).values()) == [stamp, None]
    assert (
        converted(spark, written, "TIMESTAMP(6)", ['"2024-01-01 10:00:00.123456"'])
        .popitem()[1]
        .microsecond
        == 123456
    )


def test_instants_end_with_z(spark, written):
    values = ['"2024-01-01 10:00:00.5Z"', '"2024-01-01 10:00:00"', '"2024-01-01T10:00:00Z"']
    frame = converted(spark, written, "TIMESTAMP_LTZ(3)", values)

    assert [value is not None for value in frame.values()] == [True, False, False]


def test_dates_and_times_of_day(spark, written):
    assert list(converted(spark, written, "DATE", ['"2024-01-01"', '"2024-1-1"', '"2024-02-30"', "1"]).values()) == [
        dt.date(2024, 1, 1), None, None, None,
    ]  # fmt: skip
    assert list(converted(spark, written, "TIME(3)", ['"10:00:00.123"', '"24:00:00"', '"10:00"']).values()) == [
        dt.time(10, 0, 0, 123000), dt.time(0, 0), None,
    ]  # fmt: skip


def test_bytes_are_base64(spark, written):
    assert list(converted(spark, written, "BYTES", ['"aGVsbG8="', '""', '"%%"']).values()) == [
        b"hello",
        b"",
        None,
    ]


def test_a_bad_value_inside_a_row_leaves_its_neighbors(spark, written):
    path = written(
        '{"v":1,"r":{"a":"x","b":[1,"x",3],"c":{"p":"x","q":1}}}',
        '{"v":2,"r":3}',
    )
    table = files(
        "v INT, r ROW<a INT, b ARRAY<INT>, c MAP<STRING, INT>>",
        path,
        json__ignore_parse_errors="true",
    )

    assert rows(read(spark, table)) == [(1, (None, [1, None, 3], {"p": None, "q": 1})), (2, None)]


def test_fields_are_found_by_their_exact_names(spark, written):
    path = written('{"x.y `q\'": 1, "A": 2, "é z": 3, "_metadata": 4, "unknown": 5}')
    table = files("`x.y ``q'` INT, a INT, `é z` INT, `_metadata` INT", path)

    assert rows(read(spark, table)) == [(1, None, 3, 4)]


# Lines that are not a single object, and the values of `v` in them.
ODD_LINES = {
    "": [],
    '[{"v":1},{"v":3}]': [1, 3],
    '{"v":1} xx': [1],
    '{"v":1,"v":3}': [3],
    "{}": [None],
    '{"v":1,"s":"a\tb"}': [1],
}
MALFORMED_LINES = [
    "null", "1", '"text"', "[1,2]", '{"v":1', "{'v':1}", "{v:1}", '{"v":01}', '{"v":NaN}', '{"v":1,}', '/* c */{"v":1}',
]  # fmt: skip


def test_lines_that_are_not_a_single_object_return_what_they_contain(spark, written):
    path = written(*ODD_LINES, '{"v":9}')
    expected = [(value,) for found in ODD_LINES.values() for value in found]

    assert rows(read(spark, files("v INT", path))) == [*expected, (9,)]


def test_malformed_lines_are_skipped_if_errors_are_ignored(spark, written):
    path = written(*MALFORMED_LINES, '{"v":9}')

    assert rows(read(spark, files("v INT", path, json__ignore_parse_errors="true"))) == [(9,)]


@pytest.mark.parametrize("line", ["null", "[1,2]", "{'v':1}", '{"v":1'])
def test_a_malformed_line_is_an_error(spark, written, line):
    with pytest.raises(DataError, match=r"rows.json:2  cannot read the record as JSON"):
        rows(read(spark, files("v INT", written('{"v":2}', line))))


def test_a_bad_value_names_file_line_value_and_record(spark, written):
    path = written('{"id": 1}', '{"id": "x", "note": 7}')

    with pytest.raises(DataError) as caught:
        rows(read(spark, files("id INT, note STRING", path)))

    assert caught.value.message == f"{path}:2  cannot read `id` as INT"
    assert caught.value.notes["record"] == '{"id": "x", "note": 7}'
    assert caught.value.notes["value"] == "'x'"


def test_a_malformed_record_is_detected_even_if_no_column_is_selected(spark, written):
    table = files("v INT", written('{"v":1}', "broken"))

    with pytest.raises(DataError):
        rows(read(spark, table).groupBy().count())


def test_a_missing_field_is_an_error_if_the_option_is_set(spark, written):
    table = files(
        "v INT, s STRING",
        written('{"v":1,"s":null}', '{"v":1}'),
        json__fail_on_missing_field="true",
    )

    with pytest.raises(DataError, match=r"rows.json:2  missing field `s`"):
        rows(read(spark, table))


def test_all_fields_there_satisfy_the_strict_reading(spark, written):
    table = files(
        "v INT, s STRING", written('{"v":1,"s":null}'), json__fail_on_missing_field="true"
    )

    assert rows(read(spark, table)) == [(1, None)]


def content(folder):
    return "".join(p.read_text() for p in sorted(folder.rglob("part-*")))


def test_documents_are_written_as_flink_writes_them(spark, tmp_path):
    columns = "a BOOLEAN, g DOUBLE, h DECIMAL(10, 2), m BYTES, o TIME(3), p TIMESTAMP(3), q TIMESTAMP_LTZ(3), n INT"
    frame = spark.sql(
        "SELECT true AS a, 1e10D AS g, 12.30BD AS h, X'00ff' AS m, TIME'10:11:12.5' AS o,"
        " TIMESTAMP_NTZ'2024-01-01 00:00:01.5' AS p, TIMESTAMP'1970-01-01 00:00:01.5Z' AS q, INT(NULL) AS n"
    ).selectExpr("a", "g", "CAST(h AS DECIMAL(10, 2)) h", "m", "o", "p", "q", "n")

    write(files(columns, tmp_path / "a"), frame)
    write(
        files(columns, tmp_path / "b", json__timestamp_format__standard="ISO-8601",
              json__encode__decimal_as_plain_number="true", json__encode__ignore_null_fields="true"),
        frame,
    )  # fmt: skip

    assert content(tmp_path / "a") == (
        '{"a":true,"g":1.0E10,"h":12.3,"m":"AP8=","o":"10:11:12.5","p":"2024-01-01 00:00:01.5",'
        '"q":"1970-01-01 00:00:01.5Z","n":null}\n'
    )
    assert content(tmp_path / "b") == (
        '{"a":true,"g":1.0E10,"h":12.30,"m":"AP8=","o":"10:11:12.5","p":"2024-01-01T00:00:01.5",'
        '"q":"1970-01-01T00:00:01.5Z"}\n'
    )


def test_names_keep_their_spelling_in_documents(spark, tmp_path):
    table = files("`a.b` INT, r ROW<`x y` INT>", tmp_path / "out")
    frame = spark.sql("SELECT 1 AS _tm_0, CAST(named_struct('x', 2) AS STRUCT<`_tm_0`: INT>) AS r")

    write(table, frame)

    assert content(tmp_path / "out") == '{"a.b":1,"r":{"x y":2}}\n'
    assert rows(read(spark, table)) == [(1, (2,))]
