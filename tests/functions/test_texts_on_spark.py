"""Functions over strings, patterns and JSON in one SELECT on Spark, its ANSI mode off and on.

The recorded cases `string_*`, `regexp_*`, `json_*` and so on hold them against Flink on data; here
are literals, which are written otherwise than columns, and texts that must arrive unharmed.
"""

import pytest

import tidemark

EXPRESSIONS = {
    "SUBSTRING(s, -5, 3)": "",
    "SUBSTRING(s, -2)": "bc",
    "SUBSTRING(s, 2, -1)": None,
    "OVERLAY('abcdef' PLACING 'X' FROM 2 FOR 0)": "aX",
    "LPAD(s, 5, '')": None,
    "LOCATE('c', s, -5)": 3,
    "INSTR('abcabc', 'b', -3)": 2,
    "INSTR('banana', 'an', -1, 2)": 2,
    "INSTR('aaaa', 'aa', 1, 3)": 3,
    "REPLACE(s, '', '-')": "-a-b-c-",
    "REPLACE('a.b', '.', '$0')": "a$0b",
    "TRANSLATE(s, 'aab', 'xyz')": "xzc",
    "INITCAP('élan o''neil 1ST')": "éLan O'Neil 1st",
    "ASCII('é')": -61,
    "CHR(353)": "a",
    "ELT(5, s)": None,
    "SPLIT_INDEX('a.b', '.', 1)": "b",
    "SPLIT_INDEX('a b', '', 1)": "b",
    "SPLIT_INDEX('a\\Eb', '\\E', 1)": "b",
    "STR_TO_MAP('a=1,b=2,a=3,')": {"a": "3", "b": "2"},
    "CONCAT_WS('-', s, CAST(NULL AS STRING), '')": "abc-",
    "PRINTF('%s %05d %.1f%%', s, 42, CAST(1.25 AS DOUBLE))": "abc 00042 1.3%",
    "REGEXP_EXTRACT(s, '(x)?(b)', 1)": None,
    "REGEXP_EXTRACT(s, '(x*)b', 1)": "",
    "REGEXP_EXTRACT(s, '(')": None,
    "REGEXP_EXTRACT(s, '(b)', 2)": None,
    "REGEXP_EXTRACT_ALL('k1=v1;k2=v2', '(\\w+)=(\\w+)', 2)": ["v1", "v2"],
    "REGEXP_REPLACE('$1', '\\d', '$0\\')": "$$0\\",
    "REGEXP_COUNT(s, '[')": None,
    "REGEXP(s, '')": False,
    "DECODE(x'61FF', 'UTF-8')": "a\ufffd",
    "DECODE(ENCODE('é', 'US-ASCII'), 'US-ASCII')": "?",
    "FROM_BASE64('aGVsbG8')": "hello",
    "SHA2(s, 224)": "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
    "URL_DECODE('%zz')": None,
    "PARSE_URL('http://u@h:80/p?a.b=1&axb=2#r', 'QUERY', 'a.b')": "1",
    "PARSE_URL('foo://h/p', 'HOST')": None,
    "INET_ATON('1.2')": 16777218,
    "INET_NTOA(4294967296)": None,
    "JSON_VALUE('{\"a\":1.10}', '$.a')": "1.10",
    "JSON_VALUE('{}', 'lax $.a' RETURNING INT DEFAULT 7 ON EMPTY)": 7,
    "JSON_QUERY('{\"b\":[1],\"a\":2}', '$')": '{"a":2,"b":[1]}',
    "JSON_QUERY('[1,\"x\"]', '$' RETURNING ARRAY<STRING>)": ["1", "x"],
    "JSON_EXISTS('{', 'strict $.a' UNKNOWN ON ERROR)": None,
    "'{\"a\":1}' IS JSON OBJECT": True,
    "JSON_QUOTE('é')": '"\\u00e9"',
    "JSON_STRING(ROW(1, 'x'))": '{"EXPR$0":1,"EXPR$1":"x"}',
    "JSON_OBJECT('k' VALUE JSON_ARRAY(s, 1), 'j' VALUE JSON('{ }'))": '{"j":{},"k":["abc",1]}',
    "'a\nb' SIMILAR TO 'a%'": True,
    "CAST(CAST('2024-02-30 24:00:00' AS TIMESTAMP(3)) AS STRING)": "2024-03-01 00:00:00.000",
    "CAST(TO_TIMESTAMP('2024-12-31 23:59:59.9999999', 'yyyyMMdd') AS STRING)": (
        "2024-12-31 23:59:59.999"
    ),
    "DATE_FORMAT('2024-02-30 25:00:00', 'MM-dd HH')": "03-02 01",
    # What must not be read as anything but text.
    "UPPER('${spark.app.name} \\n `x` -- ''q''')": "${SPARK.APP.NAME} \\N `X` -- 'Q'",
    "REPLACE(s, 'b', ''') OR 1=1 --')": "a') OR 1=1 --c",
    "JSON_VALUE('{\"a''${x}\":\"\\u00e9\"}', '$[\"a''${x}\"]')": "é",
}


@pytest.fixture(params=["false", "true"], ids=["ansi off", "ansi on"])
def session(spark, request):
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", request.param)
    session = tidemark.connect(spark)
    yield session
    session.stop()
    spark.conf.set("spark.sql.ansi.enabled", before)


def test_strings_mean_the_same_whatever_sparks_settings(session):
    columns = ", ".join(f"{sql} AS c{n}" for n, sql in enumerate(EXPRESSIONS))
    row = session.sql(f"SELECT {columns} FROM (VALUES ('abc')) AS t(s)").rows()[0]

    assert dict(zip(EXPRESSIONS, row.values(), strict=True)) == EXPRESSIONS
