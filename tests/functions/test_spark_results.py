"""Many expressions in one SELECT on Spark, with its ANSI mode off and on.

The recorded cases under conformance/cases hold these functions against Flink on data; here are
the settings of Spark's that must not change an answer, and text that must arrive unharmed.
"""

from datetime import date, datetime, time
from decimal import Decimal

import pytest

import tidemark

EXPRESSIONS = {
    "5 / 2": 2,
    "-7 / 2": -3,
    "-7 % 3": -1,
    "CAST(1.5 AS DOUBLE) / CAST(id AS DOUBLE)": float("inf"),
    "CAST(7 AS DECIMAL(5, 2)) / 3": Decimal("2.3333333333333"),
    "CAST(300 AS DECIMAL(5, 2)) * 1.0": Decimal("300.000"),
    "CAST(99999 AS DECIMAL(4, 1))": None,
    "TRY_CAST('abc' AS INT)": None,
    "TRY_CAST('2024-02-30' AS DATE)": None,
    "CAST(' 12.9 ' AS INT)": 12,
    "CAST(TRUE AS STRING)": "TRUE",
    "CAST(1E10 AS STRING)": "1.0E10",
    "CAST(CAST(-0.0000001 AS DECIMAL(10, 8)) AS STRING)": "-0.00000010",
    "CAST(TIMESTAMP '2024-01-01 10:00:00' AS STRING)": "2024-01-01 10:00:00",
    "CAST(ROW(1, ARRAY['a', 'b']) AS STRING)": "(1, [a, b])",
    "ARRAY[1, 2][id + 5]": None,
    "MAP['a', 1]['b']": None,
    "MAP_FROM_ARRAYS(ARRAY['a', 'a'], ARRAY[1, 2])['a']": 2,
    "LN(id)": float("-inf"),
    "GREATEST(1, NULLIF(1, 1))": None,
    "'${spark.app.name}' || '\\n' || 'it''s'": "${spark.app.name}\\nit's",
    "'a\\c' LIKE 'a\\_'": True,
    "'a\\c' LIKE 'a\\\\c'": False,
    "DATE '2024-03-01' - INTERVAL '1' HOUR": date(2024, 3, 1),
    "TIME '23:30:00' + INTERVAL '1' HOUR": time(0, 30),
    "TIMESTAMP '2024-03-10 01:30:00' + INTERVAL '1' HOUR": datetime(2024, 3, 10, 2, 30),
    "DATE_FORMAT(TIMESTAMP '2024-03-10 02:30:00', 'HH:mm:ss.SSS')": "02:30:00.000",
    "FLOOR(TIMESTAMP '2024-03-10 02:30:00' TO HOUR)": datetime(2024, 3, 10, 2),
    "TO_TIMESTAMP('10.3.2024 02:30', 'd.M.yyyy HH:mm')": datetime(2024, 3, 10, 2, 30),
    "TO_DATE('no date', 'yyyy-MM-dd')": None,
    "CAST(CAST('2024-03-10 02:30:00' AS TIMESTAMP_LTZ(3)) AS STRING)": "2024-03-10 03:30:00.000",
    "TIMESTAMPDIFF(MONTH, DATE '2024-01-31', DATE '2024-02-29')": 1,
    "CONVERT_TZ('2024-02-29 10:11:12', 'UTC', 'Asia/Shanghai')": "2024-02-29 18:11:12",
}


@pytest.fixture(params=["false", "true"], ids=["ansi off", "ansi on"])
def session(spark, request):
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", request.param)
    session = tidemark.connect(spark)
    session.sql("SET 'table.local-time-zone' = 'America/Los_Angeles'")
    yield session
    session.stop()
    spark.conf.set("spark.sql.ansi.enabled", before)


@pytest.mark.spark
def test_results_do_not_depend_on_sparks_ansi_mode(session):
    columns = ", ".join(f"{sql} AS c{i}" for i, sql in enumerate(EXPRESSIONS))

    (row,) = session.sql(f"SELECT {columns} FROM (VALUES (0)) AS t(id)").rows()

    wrong = {
        sql: (row[f"c{i}"], expected)
        for i, (sql, expected) in enumerate(EXPRESSIONS.items())
        if row[f"c{i}"] != expected
    }
    assert wrong == {}


@pytest.mark.spark
@pytest.mark.parametrize(
    ("sql", "mentions"),
    [
        ("CAST(x AS INT)", "cannot cast 'abc' to INT"),
        ("CAST(x AS TIMESTAMP(3))", "cannot cast 'abc' to TIMESTAMP(3)"),
        ("1 / CHAR_LENGTH(SUBSTRING(x, 9))", "Division by zero"),
    ],
)
def test_a_failing_expression_fails_the_job_and_says_why(session, sql, mentions):
    with pytest.raises(
        tidemark.TidemarkError, match=mentions.replace("(", "\\(").replace(")", "\\)")
    ):
        session.sql(f"SELECT {sql} FROM (VALUES ('abc')) AS t(x)").rows()
