"""Rows of values at the edges of their types, and the SQL expressions that are computed over them
by Spark and in columns.

Columns with a 1 and a 2 in their names have the same values, and meet in all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

ROWS = 240

_CLOCKS = [
    None,
    datetime(1970, 1, 1),
    datetime(2024, 3, 31, 2, 30, 0, 999_000),  # missing in Berlin
    datetime(2024, 10, 27, 2, 30),  # twice in Berlin
    datetime(2024, 2, 29, 23, 59, 59, 999_000),
    datetime(2023, 1, 1),
    datetime(2024, 12, 31, 12, 0, 0, 1_000),
    datetime(1969, 12, 31, 23, 59, 59, 999_000),
    datetime(1883, 11, 18, 12, 3, 57),
    datetime(5, 1, 1),
    datetime(2250, 7, 1, 3),
    datetime(9990, 12, 31, 23, 59, 59),
]
_STRINGS = [
    None, "", "a", "aB c", "  12.9 ", "-7", "tRue", "no", "1e3", "NaN", "é😀x", "100%_\\", "2024-02-29",
    "2024-03-31 02:30:00", "12:30", "x y,z",
]  # fmt: skip

_VALUES: dict[str, list[Any]] = {
    "BOOLEAN": [None, True, False],
    "TINYINT": [None, 0, 1, -1, 127, -128, 7],
    "SMALLINT": [None, 0, 1, -1, 32767, -32768, 300],
    "INT": [None, 0, 1, -1, 2**31 - 1, -(2**31), 7, 12, 1_000_003],
    "BIGINT": [None, 0, 1, -1, 2**63 - 1, -(2**63), 3, 2**53 + 1, 1_700_000_000_000],
    "FLOAT": [None, 0.0, -0.0, 1.5, -2.25, math.nan, math.inf, -math.inf, 3.4e38, 1e-45, 0.1],
    "DOUBLE": [
        None, 0.0, -0.0, 1.005, -2.5, math.nan, math.inf, -math.inf, 1e300, 5e-324, 0.1, 123456.789,
        1e16, 1e-5, 2.675,
    ],
    "DECIMAL(10, 2)": [None, *map(Decimal, ("0", "1.25", "-1.25", "99999999.99", "-0.05", "3", "1.00"))],
    "DECIMAL(38, 18)": [None, *map(Decimal, ("0", "1.5", "-99999999999999999999.5", "1E-18", "0.000000000000000005"))],
    "DECIMAL(20, 0)": [None, *map(Decimal, ("0", "1", "-7", "9" * 20, "300"))],
    "DATE": [None, *sorted({c.date() for c in _CLOCKS if c}), date(2024, 1, 31), date(9990, 12, 31)],
    "TIME(3)": [None, time(0), time(23, 59, 59, 999_000), time(12, 30), time(1, 2, 3, 45_000)],
    "TIMESTAMP(3)": _CLOCKS,
    "TIMESTAMP(6)": [c and c.replace(microsecond=c.microsecond + 7) for c in _CLOCKS],
    "TIMESTAMP_LTZ(3)": [c and c.replace(tzinfo=UTC) for c in _CLOCKS],
    "STRING": _STRINGS,
    "VARCHAR(100)": [
        None, "0", "-0", "+5", " 7 ", "128", "-129", "2147483648", "9223372036854775808", "1.5", "1.",
        ".5", "-.5e2", "1e3", "1E-3", "1e400", "-1e-400", "inf", "-Infinity", "nAn", "+NaN",
        "1d", "1.5F", " -.7 ", ".x",
        "0x10", "12 3", "99999999.995", "99999999.994", "1.005", "-1.005", "1e", "e1", ".", "+", "",
        "00012.50", "1_000", "\t5", "0.000000000000000000449", "123456789012345678901.5", "T", "YES",
    ],
    "VARCHAR(200)": [
        None, "2024", "2024-2", "2024-02-29", "2023-02-29", "2024-02-29 x", " 2024-1-1 ", "24-1-1",
        "2024-13-01", "2024-02-29 1:2:3", "2024-02-29 01:02:03.123456789", "2024-02-29 24:00:00",
        "2024-03-31 02:30:00.5", "2024-10-27 02:30:00", "2024-02-29T01:02:03", "2024-02-29 01:02",
        "12:30", "1:2:3", "23:59:59.9999999", "7", "24", "12:60", "12:30:00.", "0001-01-01 00:00:00",
        "9999-12-31 23:59:59", "02024-01-01", "2024-01-01 ", "-2024-01-01", "2024-02-29 01:02:03Z",
        "T12:30", "1:30 PM", "12:30:61",
    ],
    "VARCHAR(300)": [
        None, '{"a": 1, "c": [1, 2]}', '{"a": "x", "b": null}', "[1, 2]", '"q\\n"', "1.10", "nope", "",
        '{"c": {"d": 1}, "n": 5, "x": 1.5}', '{"a": true}', "null",
    ],
    "VARCHAR(400)": [
        None, "", "http://user:pw@www.example.com:80/p/a%20b?q=1&r=x+y&q=2#top", "HTTPS://h?q.=%7E", "ftp://[::1]/",
        "mailto:a@b", "http:/x", "http://a b/c?d", "  url:http://h/p?a&q=é#", "nohost", "http://h:x/", "a+b%20c", "%C3%A9+", "%zz", "%",
        "%+1b", "%-0x", "%ED%A0%80x", "%F0%9F%41", "100%", "~*-._é😀", "1.2.3.4", "01.2", "256.1", "1.2.3.4.5", "255.255.255.255",
        "http\u017f://h/p", "file:///etc/x?y",
    ],
    "CHAR(3)": [None, "abc", "a  ", "   ", "é😀x"],
    "BYTES": [None, b"", b"abc", b"\xff\x00", "é".encode()],
    "ARRAY<INT>": [None, [], [1, None, 3, 1], [7], [None]],
    "ARRAY<STRING>": [None, [], ["b", "a", None], ["a", "a"]],
    "MAP<STRING, INT>": [None, [], [("a", 1), ("b", None)], [("x", 7)]],
    "ROW<x INT, y STRING>": [None, {"x": 1, "y": "a"}, {"x": None, "y": None}],
}  # fmt: skip

_NAMES = {
    "o": "BOOLEAN", "ti": "TINYINT", "si": "SMALLINT", "i": "INT", "l": "BIGINT", "f": "FLOAT",
    "d": "DOUBLE", "p": "DECIMAL(10, 2)", "q": "DECIMAL(38, 18)", "w": "DECIMAL(20, 0)",
    "dt": "DATE", "tm": "TIME(3)", "ts": "TIMESTAMP(3)", "tu": "TIMESTAMP(6)",
    "z": "TIMESTAMP_LTZ(3)", "s": "STRING", "n": "VARCHAR(100)", "when": "VARCHAR(200)", "j": "VARCHAR(300)", "u": "VARCHAR(400)", "c": "CHAR(3)", "y": "BYTES", "ai": "ARRAY<INT>",
    "ax": "ARRAY<STRING>", "m": "MAP<STRING, INT>", "r": "ROW<x INT, y STRING>",
}  # fmt: skip


def columns() -> dict[str, Sequence[Any]]:
    """The columns by name and type: `i1 INT`, `i2 INT` and so on."""
    made: dict[str, Sequence[Any]] = {"id INT": list(range(ROWS))}
    for name, type_ in _NAMES.items():
        values = _VALUES[type_]
        made[f"{name}1 {type_}"] = [values[row % len(values)] for row in range(ROWS)]
        made[f"{name}2 {type_}"] = [values[row // len(values) % len(values)] for row in range(ROWS)]
    return made


def _pairs(names: str) -> list[tuple[str, str]]:
    return [(f"{name}1", f"{name}2") for name in names.split()]


_NUMBERS = "ti si i l f d p w"
_ALL_NUMBERS = f"{_NUMBERS} q"
_MIXED = [("i1", "l1"), ("i1", "d1"), ("l1", "f1"), ("i1", "p1"), ("p1", "d1"), ("p1", "w1"), ("f1", "d1"), ("ti1", "si1")]  # fmt: skip
_COMPARED = [
    *_pairs("o ti si i l f d p q w dt tm ts z s c y"),
    *_MIXED,
    ("ts1", "tu1"),
    ("ts1", "z1"),
]

COMPARISONS = [
    f"{a} {sign} {b}"
    for a, b in _COMPARED
    for sign in ("=", "<>", "<", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")
    if sign in ("=", "<>", "<", ">=") or a[:-1] == b[:-1]
]
LOGIC = [
    "o1 AND o2", "o1 OR o2", "NOT o1", "o1 IS TRUE", "o1 IS NOT FALSE", "o1 IS UNKNOWN",
    "i1 BETWEEN i2 AND l1", "i1 IN (1, 7, NULL)", "i1 NOT IN (1, 2.5)", "d1 IN (1.005, d2)",
    "CASE WHEN i1 = 0 THEN 'zero' WHEN i1 > 0 THEN 'more' END", "IF(o1, i1, i2)",
    "COALESCE(i1, i2, 5)", "NULLIF(i1, i2)", "NULLIF(i1, l1)", "IFNULL(s1, s2)",
    "GREATEST(d1, d2)", "LEAST(d1, d2)", "GREATEST(s1, s2)", "LEAST(ts1, ts2)", "GREATEST(p1, w1)",
    "CASE WHEN i2 = 0 THEN NULL ELSE i1 / i2 END", "r1.x", "r1.y",
]  # fmt: skip
ARITHMETIC = [
    *(f"{a} {sign} {b}" for a, b in [*_pairs(_NUMBERS), *_MIXED] for sign in "+-*"),
    *(f"-{name}1" for name in _ALL_NUMBERS.split()),
    *(f"CASE WHEN {b} <> 0 THEN {a} / {b} END"
      for a, b in [*_pairs("ti si i l p q w"), ("q1", "w1"), ("w1", "q1"), ("q1", "p1"), ("w1", "p1"), ("i1", "q1")]),
    "q1 / 3", "1 / CAST(7 AS DECIMAL(38, 0))", "q1 / CAST(0.00000003 AS DECIMAL(38, 18))",
    *(f"CASE WHEN {b} <> 0 THEN MOD({a}, {b}) END" for a, b in _pairs("ti si i l p w")),
    "f1 / f2", "d1 / d2", "d1 / i1", "q1 + q2", "q1 - q2", "q1 * q2", "q1 * w1", "w1 * q1", "q1 * p1", "q1 + i1", "p1 + 1",
    "CASE WHEN i1 <> 0 THEN p1 / i1 END", "CASE WHEN si1 <> 0 THEN MOD(l1, si1) END", "l1 / 7", "p1 / 3",
]  # fmt: skip
_NUMERIC_TYPES = (
    "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10, 2)", "DECIMAL(38, 18)",
    "DECIMAL(4, 1)", "BOOLEAN",
)  # fmt: skip
NUMERIC_CASTS = [
    f"CAST({name}1 AS {type_})" for name in ["o", *_ALL_NUMBERS.split()] for type_ in _NUMERIC_TYPES
]
MOMENTS = [
    *(f"{name}1 {sign} INTERVAL {length}" for name in ("dt", "ts", "z")
      for sign in "+-" for length in ("'5' SECOND", "'25' HOUR", "'1' MONTH", "'13' MONTH", "'1' DAY")),
    "tm1 + INTERVAL '90' MINUTE", "tm1 - INTERVAL '25' HOUR", "tm1 + INTERVAL '1' MONTH * si1", "tm1 - INTERVAL '2' YEAR", "INTERVAL '1' DAY + ts1",
    *(f"CAST({name}1 AS {type_})" for name in ("ts", "tu", "z")
      for type_ in ("DATE", "TIME(0)", "TIME(3)", "TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(6)",
                    "TIMESTAMP_LTZ(0)", "TIMESTAMP_LTZ(6)")),
    "CAST(dt1 AS TIMESTAMP(3))", "CAST(dt1 AS TIMESTAMP_LTZ(3))", "CAST(tm1 AS TIMESTAMP(3))",
    "CAST(tm1 AS TIME(0))", "CAST(CAST(z1 AS TIMESTAMP(3)) AS TIMESTAMP_LTZ(3))",
]  # fmt: skip

TO_STRINGS = [
    *(f"CAST({name}1 AS STRING)" for name in
      [*_ALL_NUMBERS.split(), "o", "dt", "tm", "ts", "tu", "z", "y", "ai", "ax", "r", "m"]),
    "CAST(ARRAY[ai1, ai2] AS STRING)", "CAST(ARRAY[y1, y2] AS STRING)", "CAST(ARRAY[z1] AS STRING)", "CAST(ROW(ai1, m1) AS STRING)",
    "CAST(MAP[1, r1] AS STRING)", "CAST(ARRAY[m1, m2] AS STRING)", "CAST(ARRAY[r1, r2] AS STRING)",
    "CAST(i1 AS CHAR(3))", "CAST(i1 AS VARCHAR(2))", "CAST(ts1 AS VARCHAR(10))",
    "CAST(CAST(ts1 AS TIMESTAMP(0)) AS STRING)", "CAST(s1 AS VARCHAR(2))", "CAST(s1 AS CHAR(4))",
    "CAST(CAST(ts1 AS TIMESTAMP(1)) AS STRING)", "CAST(CAST(tm1 AS TIME(0)) AS STRING)",
    "CAST(INTERVAL '1' SECOND * ti1 AS STRING)",
    "CAST(INTERVAL '1' MONTH * si1 AS STRING)", "CAST(INTERVAL '90061.5' SECOND * ti1 AS STRING)",
    "CAST(s1 AS BYTES)", "CAST(s1 AS VARBINARY(2))",
]  # fmt: skip
_READ = (
    "BOOLEAN", "TINYINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10, 2)", "DECIMAL(38, 18)",
    "DATE", "TIME(0)", "TIME(3)", "TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP_LTZ(3)",
)  # fmt: skip
FROM_STRINGS = [
    *(f"TRY_CAST({name}1 AS {type_})" for name in ("s", "n", "when") for type_ in _READ),
    *(f"TRY_CAST(c1 AS {type_})" for type_ in ("BOOLEAN", "INT", "DATE")),
    "ts1 = s1", "dt1 <> when1", "s1 = z1", "TRY_CAST(when2 AS DATE) < dt1",
]  # fmt: skip

STRINGS = [
    "UPPER(s1)", "LOWER(s1)", "INITCAP(s1)", "TRIM(s1)", "TRIM(LEADING 'a ' FROM s1)", "LTRIM(s1, s2)",
    "RTRIM(s1)", "BTRIM(s1, 'x ')", "CHAR_LENGTH(s1)", "SUBSTRING(s1, 2)", "SUBSTRING(s1, -2, 1)",
    "SUBSTRING(s1, ti1, ti2)", "SUBSTRING(s1, 0, 2)", "SUBSTRING(s1, -50)", "SUBSTRING(s1, i1)",
    "LEFT(s1, 2)", "LEFT(s1, ti2)", "RIGHT(s1, ti2)", "OVERLAY(s1 PLACING s2 FROM 2)",
    "OVERLAY(s1 PLACING 'Z' FROM ti1 FOR ti2)", "REVERSE(s1)", "SPLIT_INDEX(s1, ' ', 1)",
    "SPLIT_INDEX(s1, ',', 0)", "SPLIT_INDEX(s1, 'x', ti1)", "SPLIT_INDEX(s1, 120, 0)", "ELT(ti1, s1, s2)",
    "POSITION(s1 IN s2)", "LOCATE('a', s1)", "INSTR(s1, 'B')", "INSTR(s1, s2)", "POSITION('' IN s1)",
    "REPLACE(s1, 'a', s2)", "REPLACE(s1, ' ', '$0')", "TRANSLATE(s1, 'aab', 'xyz')",
    "TRANSLATE(s1, 'a x', '')", "REPEAT(s1, 2)", "REPEAT(s1, si1 - 298)", "s1 || s2", "s1 || c1",
    "CONCAT(s1, '-', s2)", "CONCAT_WS('-', s1, s2, CAST(NULL AS STRING))", "CONCAT_WS(s1, s2, 'k')",
    "STARTSWITH(s1, s2)", "ENDSWITH(s1, s2)", "STARTSWITH(y1, y2)", "ASCII(s1)", "CHR(i1)", "CHR(si1)",
    "LPAD(s1, 6, 'xy')", "RPAD(s1, 6, 'xy')", "LPAD(s1, ti1 - 120, s2)", "RPAD(s1, 2, ' ')", "LPAD(s1, 3, '')",
    "s1 LIKE s2", "s1 LIKE s2 || '%'", "s1 LIKE '_' || s2", "s1 LIKE 'a%'", "s1 LIKE '%B_'", "s1 NOT LIKE '%'", "s1 LIKE '100%!_%' ESCAPE '!'", "s1 LIKE '_'",
    "when1 SIMILAR TO '[0-9]+-[0-9]*'", "s1 SIMILAR TO '(a|x)%'", "IS_ALPHA(s1)", "IS_DIGIT(n1)",
    "IS_DECIMAL(n1)", "IS_DIGIT(i1)", "IS_ALPHA(i1)",
    "REGEXP(s1, '[a-c]+ ?')", "REGEXP(s1, '^.B')", "REGEXP(s1, '')", "REGEXP(when1, '\\d{2}:\\d{2,3}?')",
    "REGEXP_EXTRACT(s1, '[^a ]+')", "REGEXP_EXTRACT(when1, '(\\d+)-(\\d+)', 2)", "REGEXP_EXTRACT(s1, 'x*')",
    "REGEXP_EXTRACT(n1, '(e|^)([^.&]*)', 2)", "REGEXP_EXTRACT(s1, '(a)|b', 1)", "REGEXP_EXTRACT(s1, 'a', 1)",
    "REGEXP_EXTRACT(s1, '(.)😀', 1)", "REGEXP_EXTRACT(n1, '(\\w+?)(\\W|\\s)', 1)",
    "REGEXP_REPLACE(s1, '[ a-c]', '$1')", "REGEXP_REPLACE(when1, '\\D+', '\\')", "REGEXP_REPLACE(s1, 'é|x', '')",
]  # fmt: skip
SEARCHES = [
    "POSITION('a' IN s1)", "LOCATE('a', s1, 2)", "LOCATE(s1, s2, ti1)", "LOCATE('', s1, 9)", "LOCATE(s1, s2, i1)",
    *(f"INSTR(s1, {wanted}, {start})" for wanted in ("'a'", "s2", "''", "' '") for start in (0, 1, 2, -1, -2, "ti1")),
    "REPLACE(s1, s2, '-')", "REPLACE(s1, s2, c1)", "REPLACE(s1, '', '-')", "REPLACE(s1, '', s2)",
    "SPLIT_INDEX(s1, '', 1)", "SPLIT_INDEX(when1, '', ti1)", "SPLIT_INDEX(s1, s2, 1)", "SPLIT(s1, '')", "SPLIT(s1, s2)",
    "REGEXP_COUNT(s1, '[a-z]')", "REGEXP_COUNT(when1, '\\d+')", "REGEXP_COUNT(s1, '^a')", "REGEXP_INSTR(s1, 'x| ')",
    "REGEXP_INSTR(s1, '')", "REGEXP_INSTR(when1, '[^\\d]')", "REGEXP_INSTR(s1, ' *$')", "REGEXP_INSTR(s1, '^.?x')",
    "REGEXP_SUBSTR(when1, '\\d+-(\\d+)')", "REGEXP_SUBSTR(s1, 'x*')", "REGEXP_EXTRACT_ALL(when1, '(\\d+)')",
    "REGEXP_EXTRACT_ALL(when1, '(\\d)(\\d)?', 2)", "REGEXP_EXTRACT_ALL(when1, '\\d', 0)", "REGEXP_EXTRACT_ALL(when1, '\\d')",
    "REGEXP_EXTRACT_ALL(n1, '([+-]|e)[^.]', 1)", "REGEXP_EXTRACT_ALL(n1, '(1)|(2)', 2)",
]  # fmt: skip
URLS = [
    "URL_ENCODE(s1)", "URL_ENCODE(u1)", "URL_DECODE(s1)", "URL_DECODE(u1)", "URL_DECODE(URL_ENCODE(when1))",
    *(f"PARSE_URL(u1, '{part}')" for part in
      ("PROTOCOL", "HOST", "PATH", "QUERY", "REF", "FILE", "AUTHORITY", "USERINFO", "host", "")),
    "PARSE_URL(u1, 'QUERY', 'q')", "PARSE_URL(u1, 'QUERY', 'q.')", "PARSE_URL(u1, 'HOST', 'q')", "PARSE_URL(u1, s1)",
    "PARSE_URL(u1, 'QUERY', s1)", "INET_ATON(u1)", "INET_ATON(n1)", "INET_NTOA(l1)", "INET_NTOA(i1)", "INET_NTOA(ti1)",
    "INET_ATON(INET_NTOA(l1))",
]  # fmt: skip
MATH = [
    *(f"{name}({x})" for name in
      ("EXP", "LN", "LOG", "LOG2", "LOG10", "ASIN", "ACOS", "ATAN", "SINH", "COSH", "TANH", "SQRT", "DEGREES", "RADIANS")
      for x in ("d1", "d1 / 1e300", "i1", "f1", "p1", "ti1 / 100e0")),
    *(f"{name}({a}, {b})" for name in ("POWER", "LOG", "ATAN2")
      for a, b in (("d1", "d2"), ("i1", "d1"), ("d1", "i1"), ("ti1", "ti2"), ("f1", "p1"), ("2", "d1"), ("d1", "2"), ("d1", "0.5"))),
    "BIN(l1)", "BIN(ti1)", "HEX(l1)", "HEX(si1)", "HEX(s1)", "UNHEX(s1)", "UNHEX(n1)", "UNHEX(HEX(s1))", "UNHEX('0' || HEX(s1))",
]  # fmt: skip
_UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND")
_RARE_UNITS = ("DECADE", "CENTURY", "MILLENNIUM")
_CLOCK_UNITS = ("HOUR", "MINUTE", "SECOND", "MILLISECOND")
TIME_UNITS = [
    *(f"EXTRACT({unit} FROM {name}1)" for name in ("dt", "ts", "tu", "z")
      for unit in (*_UNITS, *_RARE_UNITS, "DOY", "DOW", "ISODOW", "ISOYEAR", "EPOCH", "MICROSECOND", "NANOSECOND")),
    *(f"EXTRACT({unit} FROM tm1)" for unit in _CLOCK_UNITS),
    *(f"EXTRACT({unit} FROM INTERVAL '90061.5' SECOND * ti1)" for unit in ("DAY", *_CLOCK_UNITS)),
    *(f"EXTRACT({unit} FROM INTERVAL '1' MONTH * ti1)" for unit in ("YEAR", "MONTH")),
    "YEAR(dt1)", "QUARTER(ts1)", "DAYOFWEEK(z1)", "DAYOFYEAR(ts1)", "WEEK(dt1)", "HOUR(tm1)",
    *(f"{cut}({name}1 TO {unit})" for cut in ("FLOOR", "CEIL") for name in ("dt", "ts", "tu", "z")
      for unit in (*_UNITS, *_RARE_UNITS)),
    *(f"{cut}(tm1 TO {unit})" for cut in ("FLOOR", "CEIL") for unit in _CLOCK_UNITS if cut == "FLOOR" or unit != "HOUR"),
    *(f"TIMESTAMPADD({unit}, ti1, {name}1)" for name in ("dt", "ts", "z") for unit in (*_UNITS,)),
    "TIMESTAMPADD(MINUTE, 90, tm1)",
    *(f"TIMESTAMPADD({unit}, ti1, tm1)" for unit in ("DAY", "MONTH")),
    *(f"TIMESTAMPDIFF({unit}, {a}, {b})" for a, b in (("dt1", "dt2"), ("ts1", "ts2"), ("tu1", "dt2"), ("z1", "z2"))
      for unit in (*_UNITS, "MICROSECOND")),
    "TIMESTAMPDIFF(SECOND, tm1, tm2)",
    *(f"({a} - {b}) {unit}" for a, b in (("dt1", "dt2"), ("ts1", "ts2"), ("tu1", "tu2"), ("z1", "z2"))
      for unit in ("SECOND", "DAY TO MINUTE", "MONTH")), "(tm1 - tm2) HOUR",
]  # fmt: skip
NUMERIC = [
    *(f"{name}({x}1)" for name in ("ABS", "SIGN", "FLOOR", "CEIL") for x in _ALL_NUMBERS.split()),
    *(f"{name}({x}1)" for name in ("ROUND", "TRUNCATE") for x in ("ti", "i", "l", "d", "p", "q", "w")),
    *(f"{name}({x}1, {places})" for name in ("ROUND", "TRUNCATE") for x in ("p", "q", "w")
      for places in (1, 2, -1, -3, 20)),
    *(f"{name}(d1, {places})" for name in ("ROUND", "TRUNCATE") for places in (1, 2, 6, 17)),
    *(f"{name}({x}1, {places})" for name in ("ROUND", "TRUNCATE") for x in ("ti", "i", "l") for places in (-1, -9, -18)),
    "PI()", "E()", "SQRT(d1)", "DEGREES(d1)", "RADIANS(d1)", "HEX(s1)", "TYPEOF(i1)", "TYPEOF(NULL)",
    "TYPEOF(CAST(i1 AS DECIMAL(4, 1)))",
]  # fmt: skip

TIME_STRINGS = [
    "TO_DATE(when1)", "TO_DATE(when1, 'yyyy-MM-dd')", "TO_TIMESTAMP(when1)",
    "TO_TIMESTAMP(when1, 'yyyy-MM-dd HH:mm:ss')", "TO_TIMESTAMP(when1, 'yyyy-M-d H:m:s.SSS')",
    "TO_TIMESTAMP(n1, 'yy')", "TO_TIMESTAMP(n1, 'yyyyMMdd')", "TO_TIMESTAMP(when1, 'yy-M')",
    "TO_TIMESTAMP(when1, 'yyyy-MM-dd[ kk:mm[:ss[.SSS]]]')", "TO_DATE(n1, 'yy')", "TO_DATE(n1, 'yyyyMMdd')",
    "UNIX_TIMESTAMP(when1, 'yyyy-MM-dd HH:mm:ss.SSS')", "UNIX_TIMESTAMP(when1, 'yyyy-MM-dd kk:mm')",
    "TO_TIMESTAMP_LTZ(i1, 0)", "TO_TIMESTAMP_LTZ(l1, 3)", "TO_TIMESTAMP_LTZ(l1)", "TO_TIMESTAMP_LTZ(l1, 6)",
    "TO_TIMESTAMP_LTZ(d1, 0)", "TO_TIMESTAMP_LTZ(d1, 3)", "TO_TIMESTAMP_LTZ(p1, 0)", "TO_TIMESTAMP_LTZ(f1, 3)",
    "TO_TIMESTAMP_LTZ(when1, 'yyyy-MM-dd HH:mm:ss')",
    "TO_TIMESTAMP_LTZ(when1, 'yyyy-MM-dd HH:mm:ss', 'America/New_York')",
    *(f"DATE_FORMAT({name}1, '{pattern}')" for name in ("ts", "tu", "z", "when")
      for pattern in ("yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd", "yy/M/d h:m:s a", "HH:mm:ss.SSS", "SSSSSS S",
                      "D DDD e", "EEE MMM dd", "EEEE, MMMM d", "k K H", "''yyyy'' yyyy", "y", "HH")),
    "FROM_UNIXTIME(i1)", "FROM_UNIXTIME(si1, 'yyyyMMdd HHmmss')", "UNIX_TIMESTAMP(when1)",
    "UNIX_TIMESTAMP(when1, 'yyyy-MM-dd')", "CONVERT_TZ(when1, 'Europe/Berlin', 'America/New_York')",
    "CONVERT_TZ(when1, 'UTC', 'Nowhere')", "CONVERT_TZ(when1, 'GMT+08:00', 'UTC')",
]  # fmt: skip

COLLECTIONS = [
    "ARRAY[i1, i2]", "ARRAY[s1]", "ROW(i1, s1)", "MAP['a', i1, 'b', 2]", "ai1[1]", "ai1[2]",
    "m1['a']", "m1[s1]", "CARDINALITY(ai1)", "CARDINALITY(m1)", "ARRAY_CONTAINS(ai1, 3)", "ARRAY_CONTAINS(ai1, i1)",
    "ARRAY_CONTAINS(ax1, s1)", "ARRAY_DISTINCT(ai1)", "ARRAY_DISTINCT(ax1)", "ARRAY_POSITION(ai1, 1)",
    "ARRAY_POSITION(ax1, 'a')", "ARRAY_REMOVE(ai1, 1)", "ARRAY_REVERSE(ai1)", "ARRAY_SLICE(ai1, 2)",
    "ARRAY_SLICE(ai1, -2, 3)", "ARRAY_SLICE(ai1, ti1, ti2)", "ARRAY_UNION(ai1, ai2)", "ARRAY_CONCAT(ai1, ai2)",
    "ARRAY_APPEND(ai1, i1)", "ARRAY_PREPEND(ax1, s1)", "ARRAY_MAX(ai1)", "ARRAY_MIN(ax1)", "ARRAY_SORT(ai1)",
    "ARRAY_SORT(ai1, FALSE)", "ARRAY_SORT(ax1, TRUE, FALSE)", "ARRAY_SORT(ai1, FALSE, TRUE)", "ARRAY_JOIN(ax1, '-')",
    "ARRAY_JOIN(ax1, s1)", "ARRAY_JOIN(ax1, ',', '?')", "MAP_KEYS(m1)", "MAP_VALUES(m1)", "MAP_ENTRIES(m1)",
    "SPLIT(s1, ' ')", "SPLIT(s1, ',')", "r1 = r2", "r1 <> r2", "CAST(ai1 AS STRING)", "ELEMENT(ARRAY[i1])",
    "MD5(s1)", "SHA1(y1)", "SHA256(s1)", "SHA2(s1, 512)", "ENCODE(s1, 'UTF-8')", "DECODE(y1, 'UTF-8')",
    *(f"ENCODE(s1, '{name}')" for name in ("UTF-16", "utf-16be", "UTF-16LE", "US-ASCII", "ISO-8859-1")),
    "DECODE(y1, 'US-ASCII')", "DECODE(y1, 'iso-8859-1')", "DECODE(ENCODE(s1, 'UTF-8'), 'ISO-8859-1')",
    "ARRAY_CONTAINS(ARRAY[d1, d2], d1)", "ARRAY_CONTAINS(ARRAY[d1, 0.0E0], d2)", "ARRAY_CONTAINS(ARRAY[f1], f2)",
    "TO_BASE64(s1)", "TO_BASE64(y1)", "CARDINALITY(STR_TO_MAP(s1, ' ', 'a'))", "STR_TO_MAP(s1, ' ', 'a')['']",
    "STR_TO_MAP(s1, '\\.', ',')[s1]",
    *(f"{name}({a}1, {a}2)" for name in ("ARRAY_EXCEPT", "ARRAY_INTERSECT") for a in ("ai", "ax")),
    "ARRAY_EXCEPT(ARRAY[ts1, ts1], ARRAY[ts2])", "ARRAY_INTERSECT(ARRAY[p1, p2, p1], ARRAY[p1])", "ARRAY_EXCEPT(ai1, ARRAY[i1])",
    "ARRAY_REMOVE(ai1, i1)", "ARRAY_REMOVE(ax1, s1)", "ARRAY_POSITION(ai1, i1)", "ARRAY_POSITION(ax1, s1)", "ARRAY[ai1, ai2]",
    "MAP_UNION(m1, m2)", "MAP_UNION(m1)", "MAP_UNION(m1, m2, MAP['a', i1])", "MAP_FROM_ARRAYS(ARRAY['a', 'b', 'a'], ARRAY[i1, i2, l1])",
    "MAP_FROM_ARRAYS(MAP_KEYS(m1), MAP_VALUES(m1))", "CAST(ai1 AS ARRAY<STRING>)", "CAST(ai1 AS ARRAY<BIGINT>)",
    "CAST(ai1 AS ARRAY<DOUBLE>)", "CAST(ax1 AS ARRAY<VARCHAR(1)>)", "CAST(ai1 AS ARRAY<DECIMAL(4, 1)>)",
    "CAST(CAST(ai1 AS ARRAY<STRING>) AS ARRAY<INT>)", "CAST(ARRAY[ai1, ai2] AS ARRAY<ARRAY<STRING>>)", "CAST(ARRAY[r1, r2] AS ARRAY<ROW<p BIGINT, q STRING>>)",
    "CAST(m1 AS MAP<STRING, BIGINT>)", "CAST(m1 AS MAP<STRING, STRING>)", "CAST(MAP[1, i1] AS MAP<BIGINT, STRING>)",
    "CAST(ROW(ai1, m1) AS ROW<a ARRAY<BIGINT>, m MAP<STRING, DOUBLE>>)", "FROM_BASE64(TO_BASE64(y1))", "FROM_BASE64(TO_BASE64(s1))",
    "FROM_BASE64(BTRIM(TO_BASE64(s1), '='))", "(ts1, ts2) OVERLAPS (ts2, INTERVAL '1' DAY)", "(dt1, dt2) OVERLAPS (dt2, dt1)",
]  # fmt: skip
JSON = [
    *(f"j1 IS JSON {kind}" for kind in ("VALUE", "SCALAR", "ARRAY", "OBJECT")),
    "JSON_QUOTE(s1)", "JSON_UNQUOTE(j1)", "JSON_EXISTS(j1, '$.a')", "JSON_VALUE(j1, '$.a')",
    "JSON_VALUE(j1, '$.n' RETURNING INT)", "JSON_VALUE(j1, '$.x' RETURNING DOUBLE)",
    "JSON_VALUE(j1, '$.b' DEFAULT 'none' ON EMPTY DEFAULT s1 ON ERROR)", "JSON_QUERY(j1, '$.c')",
    "JSON_QUERY(j1, '$.c' WITH WRAPPER)", "JSON_QUERY(j1, '$.c' RETURNING ARRAY<STRING>)",
    "JSON_OBJECT('k' VALUE s1, 'a' VALUE i1)",
    "JSON_OBJECT('k' VALUE s1, 'k' VALUE i1 ABSENT ON NULL)", "JSON_OBJECT('p' VALUE p1, 'o' VALUE o1, 't' VALUE ts1)",
    "JSON_ARRAY(s1, i1, JSON_OBJECT('x' VALUE l1))", "JSON_ARRAY(s1 NULL ON NULL)", "JSON_STRING(s1)",
    "JSON_STRING(r1)", "JSON_STRING(ai1)", "JSON_STRING(m1)", "JSON_STRING(z1)", "JSON_STRING(p1)",
]  # fmt: skip

THEMES = {
    "comparisons": COMPARISONS,
    "logic": LOGIC,
    "arithmetic": ARITHMETIC,
    "numeric casts": NUMERIC_CASTS,
    "moments": MOMENTS,
    "casts to strings": TO_STRINGS,
    "casts from strings": FROM_STRINGS,
    "strings": STRINGS,
    "time units": TIME_UNITS,
    "numeric": NUMERIC,
    "time strings": TIME_STRINGS,
    "collections": COLLECTIONS,
    "searches": SEARCHES,
    "urls": URLS,
    "math": MATH,
    "json": JSON,
}
