"""Types of literals, of what several values have in common, and of columns that flow on.

The types were seen on Flink 2.3, but for those that say so.
"""

import pytest

from tests.plan.marked import refused, root, schema, types_of, world
from tidemark.errors import NotSupported

# --- literals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("2147483647", "INT"),
        ("2147483648", "BIGINT"),
        ("-2147483648", "INT"),
        ("-2147483649", "BIGINT"),
        ("9223372036854775807", "BIGINT"),
        ("-9223372036854775808", "BIGINT"),
        ("9223372036854775808", "DECIMAL(19, 0)"),  # Flink refuses it
        ("-9223372036854775809", "DECIMAL(19, 0)"),  # Flink refuses it
        ("00012", "INT"),
        ("5.", "INT"),
        ("1.5", "DECIMAL(2, 1)"),
        ("1.50", "DECIMAL(3, 2)"),
        ("0.5", "DECIMAL(2, 1)"),
        (".5", "DECIMAL(1, 1)"),
        ("0.00", "DECIMAL(3, 2)"),
        ("0.001", "DECIMAL(4, 3)"),
        ("-1.5", "DECIMAL(2, 1)"),
        ("1e3", "DOUBLE"),
        ("1.5E-2", "DOUBLE"),
        ("'abc'", "CHAR(3)"),
        ("''", "CHAR(0)"),
        ("X'0F'", "BINARY(1)"),
        ("TRUE", "BOOLEAN"),
        ("DATE '2020-1-1'", "DATE"),
        ("TIME '12:00:00'", "TIME(0)"),
        ("TIME '12:00:00.123'", "TIME(3)"),
        ("TIMESTAMP '2020-01-01'", "TIMESTAMP(0)"),
        ("TIMESTAMP '2020-01-01 00:00:00.12'", "TIMESTAMP(2)"),
        ("INTERVAL '1' DAY", "INTERVAL DAY"),
        ("INTERVAL '1:30' MINUTE TO SECOND", "INTERVAL MINUTE TO SECOND"),
        ("INTERVAL '1-2' YEAR TO MONTH", "INTERVAL YEAR TO MONTH"),
    ],
)
def test_literal_has_the_type_it_is_written_as(literal, expected):
    assert types_of(literal) == [f"{expected} NOT NULL"]


@pytest.mark.parametrize(
    ("marked", "message"),
    [
        (
            "SELECT «123456789012345678901234567890123456789»",
            "a number literal cannot have more than 38 digits",
        ),
        ("SELECT «1e400»", "1e400 is too large for a DOUBLE"),
        ("SELECT «DATE '2020-13-01'»", "'2020-13-01' is not a DATE: month must be in 1..12"),
        ("SELECT «DATE 'x'»", "'x' is not a DATE: invalid format"),
        (
            "SELECT «TIMESTAMP '2020-01-01 00:00'»",
            "'2020-01-01 00:00' is not a TIMESTAMP: invalid format",
        ),
        ("SELECT «TIME '25:00:00'»", "'25:00:00' is not a TIME: hour must be in 0..23"),
        (
            "SELECT «INTERVAL '1:90' MINUTE TO SECOND»",
            "'1:90' is not an interval of MINUTE TO SECOND: SECOND must be at most 59",
        ),
        (
            "SELECT «INTERVAL '1-12' YEAR TO MONTH»",
            "'1-12' is not an interval of YEAR TO MONTH: MONTH must be at most 11",
        ),
        ("SELECT «INTERVAL '1.5' DAY»", "'1.5' is not an interval of DAY: invalid format"),
        ("SELECT «INTERVAL 'x' DAY»", "'x' is not an interval of DAY: invalid format"),
    ],
)
def test_string_that_is_not_a_value_of_its_type_is_refused(marked, message):
    assert refused(marked).message == message


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("INTERVAL '1' SECOND", 1000),
        ("INTERVAL '1.5' SECOND", 1500),
        ("INTERVAL '-1' DAY", -86_400_000),
        ("INTERVAL -'1' DAY", -86_400_000),
        ("INTERVAL -'-1' DAY", 86_400_000),
        ("INTERVAL '1:30' MINUTE TO SECOND", 90_000),
        ("INTERVAL '1 2:3:4.5' DAY TO SECOND", 93_784_500),
        ("INTERVAL '1' WEEK", 604_800_000),
        ("INTERVAL '100' DAY(3)", 8_640_000_000),
        ("INTERVAL '1-2' YEAR TO MONTH", 14),
        ("INTERVAL '1' QUARTER", 3),
    ],
)
def test_interval_is_a_number_of_milliseconds_or_months(text, milliseconds):
    assert root(f"SELECT {text}").expressions[0].value == milliseconds


# --- what several values have in common --------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("CASE WHEN a > 1 THEN 'a' ELSE 'bcd' END", "VARCHAR(3) NOT NULL"),
        ("CASE WHEN a > 1 THEN 'a' ELSE 'b' END", "CHAR(1) NOT NULL"),
        ("CASE WHEN a > 1 THEN 'a' END", "CHAR(1)"),
        ("CASE WHEN a > 1 THEN 1 ELSE 2.5 END", "DECIMAL(11, 1) NOT NULL"),
        ("CASE WHEN a > 1 THEN c ELSE a END", "BIGINT"),
        ("CASE a WHEN 1 THEN b ELSE 'x' END", "STRING"),
        ("CASE WHEN a > 1 THEN 1.5 ELSE CAST(1 AS DOUBLE) END", "DOUBLE NOT NULL"),
        ("CASE WHEN a > 1 THEN CAST(1 AS FLOAT) ELSE 1.5 END", "DOUBLE NOT NULL"),
        ("CASE WHEN a > 1 THEN CAST(1 AS FLOAT) ELSE 1 END", "FLOAT NOT NULL"),
        ("CASE WHEN a > 1 THEN c ELSE d END", "DECIMAL(21, 2)"),
        (
            "CASE WHEN a > 1 THEN INTERVAL '1' DAY ELSE INTERVAL '1' HOUR END",
            "INTERVAL DAY TO SECOND NOT NULL",
        ),
        # The first of FLOAT and DOUBLE, even if digits are lost; COALESCE loses none.
        ("CASE WHEN a > 1 THEN CAST(1 AS FLOAT) ELSE CAST(1 AS DOUBLE) END", "FLOAT NOT NULL"),
        ("CASE WHEN a > 1 THEN CAST(1 AS DOUBLE) ELSE CAST(1 AS FLOAT) END", "DOUBLE NOT NULL"),
        ("IF(c > 1, CAST(1 AS FLOAT), CAST(1 AS DOUBLE))", "FLOAT NOT NULL"),
        ("COALESCE(CAST(a AS FLOAT), CAST(1 AS DOUBLE))", "DOUBLE NOT NULL"),
        ("GREATEST(CAST(1 AS FLOAT), CAST(1 AS DOUBLE))", "DOUBLE NOT NULL"),
        ("ARRAY[CAST(1 AS FLOAT), CAST(1 AS DOUBLE)]", "ARRAY<FLOAT NOT NULL> NOT NULL"),
    ],
)
def test_branches_share_a_type(expression, expected):
    assert types_of(expression) == [expected]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT a FROM u UNION ALL SELECT c FROM t", "a BIGINT"),
        ("SELECT c FROM t UNION ALL SELECT a FROM u", "c BIGINT"),
        ("SELECT 'a' AS x UNION ALL SELECT 'bcd'", "x VARCHAR(3) NOT NULL"),
        ("SELECT 1 AS x UNION ALL SELECT NULL", "x INT"),  # Flink refuses a bare NULL
        ("VALUES (1), (2.5), (3000000000)", "EXPR$0 DECIMAL(20, 1) NOT NULL"),
        ("VALUES (1, 'a'), (2, 'bcd')", "EXPR$0 INT NOT NULL, EXPR$1 VARCHAR(3) NOT NULL"),
        ("VALUES 1, 2", "EXPR$0 INT NOT NULL"),
        (
            "VALUES (TIMESTAMP '2020-01-01 00:00:00.123'), (TIMESTAMP '2020-01-01 00:00:00')",
            "EXPR$0 TIMESTAMP(3) NOT NULL",
        ),
        ("VALUES (1, NULL), (2, 3)", "EXPR$0 INT NOT NULL, EXPR$1 INT"),  # Flink refuses it
    ],
)
def test_rows_that_come_together_share_types(query, expected):
    assert schema(query) == expected


@pytest.mark.parametrize(
    ("marked", "message"),
    [
        (
            "SELECT «CASE WHEN a > 1 THEN 1 ELSE 'x' END» FROM u",
            "the branches of CASE do not have a common type: CHAR(1), INT",
        ),
        ("SELECT CASE WHEN «a» THEN 1 END FROM u", "WHEN must be a BOOLEAN, not INT"),
        ("SELECT a FROM u WHERE «a»", "WHERE must be a BOOLEAN, not INT"),
        ("SELECT «a» AND TRUE FROM u", "AND must be a BOOLEAN, not INT"),
        ("SELECT NOT «a» FROM u", "NOT must be a BOOLEAN, not INT"),
        (
            "SELECT a FROM u UNION ALL «SELECT b FROM t»",
            "UNION ALL: column `a` is INT on the left and STRING on the right",
        ),
        (
            "SELECT a FROM u UNION ALL «SELECT a, ts FROM u»",
            "UNION ALL requires the same number of columns, found 1 and 2",
        ),
        ("VALUES (1, 2), «(3)»", "this row has 1 values, but the first row has 2"),
        ("«VALUES (1), ('a')»", "the values of a column do not have a common type: CHAR(1), INT"),
        ("SELECT «CAST(a AS DATE)» FROM u", "INT cannot be cast to DATE"),
        (
            "SELECT «CAST(r AS INT)» FROM t",
            "ROW<`x` INT, `y` ROW<`z` STRING, `w` INT NOT NULL>> cannot be cast to INT",
        ),
    ],
)
def test_values_without_a_common_type_are_refused(marked, message):
    assert refused(marked).message == message


def test_times_finer_than_spark_counts_are_refused_at_their_place():
    refused("SELECT CAST(ts AS «TIMESTAMP(9)») FROM u", NotSupported)
    refused("CREATE TABLE x (a INT, «b ROW<c TIMESTAMP(9)>»)", NotSupported)


# --- nullability -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("c + 1", "BIGINT NOT NULL"),
        ("a + 1", "INT"),
        ("a IS NULL", "BOOLEAN NOT NULL"),
        ("c > 1", "BOOLEAN NOT NULL"),
        ("a > 1", "BOOLEAN"),
        ("a IS DISTINCT FROM 1", "BOOLEAN NOT NULL"),
        ("CAST(c AS INT)", "INT NOT NULL"),
        ("TRY_CAST('1' AS INT)", "INT"),
        ("CAST(NULL AS INT)", "INT"),
        ("r.y.w", "INT"),
        ("ROW(c, a)", "ROW<`EXPR$0` BIGINT NOT NULL, `EXPR$1` INT> NOT NULL"),
        ("UNKNOWN", "BOOLEAN"),
    ],
)
def test_null_comes_only_from_null(expression, expected):
    assert types_of(expression) == [expected]


def test_key_columns_stay_not_null():
    assert schema("SELECT id + 1 AS x, name FROM k", world()) == "x INT NOT NULL, name STRING"


@pytest.mark.parametrize(
    ("marked", "message"),
    [
        ("«(ts - b) SECOND»", "`(a - b) SECOND` of TIMESTAMP(3) and STRING is not an interval"),
        ("«(TIME '10:00:00' - ts) DAY»", "`(a - b) DAY` of TIME(0) and TIMESTAMP(3) is not"),
        ("«(a - c) DAY»", "only the difference of two times has the unit DAY"),
    ],
)
def test_only_two_times_of_a_kind_have_an_interval_between_them(marked, message):
    assert message in refused(f"SELECT {marked} FROM t").message


def test_plus_is_only_for_numbers_and_intervals():
    assert schema("SELECT +a AS x FROM u") == schema("SELECT a AS x FROM u")
    assert refused("SELECT «+'1'»").message == "`+` requires a number or an interval, not CHAR(1)"
