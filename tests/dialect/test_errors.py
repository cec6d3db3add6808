"""Mistakes are reported where they are, in plain words.

The faulty SQL is between « and »; the caret has to point exactly there.
"""

from __future__ import annotations

import pytest

from tidemark.dialect import parse_expression, parse_query, parse_script, parse_type
from tidemark.errors import NotSupported, ParseError, SqlError

MISTAKES = [
    # not closed, wrong quotes
    ("SELECT «'abc»", "unclosed string", "single quote"),
    ("SELECT «`abc»", "unclosed name", "back quote"),
    ('SELECT «"abc»', "unclosed string", "single quotes"),
    ("SELECT 1 «/* abc»", "unclosed comment", "*/"),
    ('SELECT «"abc"» FROM t', 'found the string "abc"', "'abc'"),
    ("SELECT INTERVAL «‘»1’ HOUR", "'‘'", "write ' instead"),
    ("SELECT a «#» b", "'#'", "--"),
    ("SELECT 'a' «'b'»", "same line", "||"),
    ("SELECT «1abc»", "neither a number nor a name", "`1abc`"),
    # commas, parentheses, ends
    ("SELECT a, «FROM» t", "expected a column", "comma"),
    ("SELECT f(a «b»)", "expected `,` or `)`", "comma missing"),
    ("SELECT f(a«»", "found the end of the input", None),
    ("CREATE TABLE t (a INT «b» INT)", "expected `,` or `)`", "comma missing"),
    ("CREATE TABLE t (a INT) WITH ('a' = 'b' «'c'» = 'd')", "same line", "comma"),
    ("SELECT 1 «SELECT» 2", "expected `;`", "separate statements"),
    ("«FOO» BAR", "expected a statement", "SELECT"),
    # names
    ("SELECT a AS «order» FROM t", "keyword `order`", "`order`"),
    ("SELECT «value» FROM t", "keyword `value`", "`value`"),
    ("CREATE TABLE «table» (a INT)", "keyword `table`", "`table`"),
    ("SELECT a AS «'x'» FROM t", "expected an alias", "back quotes"),
    ("CREATE CATALOG «a».b WITH ('type' = 'generic_in_memory')", "only one part", None),
    ("SHOW DATABASES FROM «a».b", "only one part", None),
    ("USE CATALOG «a».b", "only one part", None),
    ("ALTER TABLE t RENAME «a».b TO c", "only one part", None),
    ("ALTER TABLE t MODIFY («r.a» BIGINT)", "fields of a ROW", "MODIFY r ROW<...>"),
    ("ALTER TABLE t ADD «r.b.c» BIGINT", "fields of a ROW", "MODIFY r ROW<...>"),
    ("ALTER TABLE t DROP (x, «r.a»)", "fields of a ROW", "MODIFY r ROW<...>"),
    ("SELECT 1; QUIT; «SELECT» 2", "nothing may follow QUIT", "leave it out"),
    # operators of other databases
    ("SELECT a «!=» b", "not an operator", "<>"),
    ("SELECT a«::»int", "not an operator", "CAST"),
    ("SELECT a IN («)»", "at least one value", None),
    ("SELECT INTERVAL '1 hour'«»", "expected an interval unit", "INTERVAL '1' HOUR"),
    ("SELECT CAST(a AS «TEXT»)", "`TEXT` is not a type", "STRING"),
    # templates and Hive
    ("CREATE TABLE «{»{ t }} (a INT)", "expected a table name", "template"),
    ("SELECT a FROM t WHERE a > «$»{MIN}", "expected an expression", "template"),
    ("CREATE TABLE t (a INT) PARTITIONED BY (dt «STRING»)", "expected `,` or `)`", "`dt` among"),
    ("CREATE TABLE t (a INT) PARTITIONED BY (days«(»a))", "expected `,` or `)`", "only columns"),
    ("CREATE TABLE t (a INT) «STORED» AS ORC", "expected `WITH`", "dialect of Hive"),
    (
        "SELECT * FROM TABLE(SESSION(TABLE t, DESCRIPTOR(ts), «PARTITION» BY a))",
        "expected an argument",
        "TABLE t PARTITION BY c",
    ),
    # clauses
    ("SELECT * FROM a JOIN b«»", "expected `ON` or `USING`", "CROSS JOIN"),
    ("SELECT * FROM a CROSS JOIN b «ON» x", "ON is not allowed in a CROSS JOIN", None),
    ("SELECT a FROM t LIMIT 1«,» 2", "one number", "OFFSET"),
    ("SELECT CASE WHEN a THEN b«»", "expected `END`", "end with END"),
    ("SELECT INTERVAL '1' «MILLISECOND»", "an interval unit", None),
    ("SELECT MAP[1, 2, 3]", "a value for each key", None),
    ("SELECT «U&'\\00'»", "four hexadecimal", None),
    ("SELECT «x'abc'»", "even number", None),
    (
        "INSERT INTO t SELECT 1 «EMIT WITHOUT DELAY, WITHOUT DELAY BEFORE WATERMARK»",
        "overlap",
        None,
    ),
    ("INSERT INTO t SELECT 1 ON CONFLICT DO «UPDATE»", "expected `ERROR`, `NOTHING`", None),
    ("EXECUTE STATEMENT SET BEGIN«;» INSERT INTO a SELECT 1; END", "found `;`", "after BEGIN out"),
    ("EXECUTE STATEMENT SET BEGIN «SELECT» 1; END", "expected `INSERT` or `END`", "only INSERT"),
    # tables
    ("CREATE TABLE t (a INT, «a STRING»)", "column `a` is declared twice", None),
    ("CREATE TABLE t (a INT, «PRIMARY KEY (a)»)", "NOT ENFORCED", "NOT ENFORCED"),
    ("CREATE TABLE t (a INT) WITH ('k' = 'a', «'k' = 'b'»)", "given twice", None),
    ("CREATE TABLE t (a INT) WITH ('k' = «1»)", "value in single quotes", None),
    ("CREATE TABLE t («a», b INT)", "has no type", None),
    ("CREATE TABLE t (a «INTT»)", "not a type", "INT"),
    ("CREATE TABLE t (a DECIMAL(«39»))", "between 1 and 38", None),
    ("CREATE TABLE t (a DECIMAL(3, «5»))", "between 0 and 3", None),
    ("CREATE TABLE t (a TIMESTAMP(«10»))", "between 0 and 9", None),
    ("CREATE TABLE t (a CHAR(«0»))", "between 1 and", None),
    ("SELECT CAST(a AS INT «NOT» NULL)", "cannot be NOT NULL", "nullability"),
]

UNSUPPORTED = [
    ("«MERGE INTO» t USING u", "MERGE INTO"),
    ("«UPDATE» t SET a = 1", "UPDATE"),
    ("«DELETE» FROM t", "DELETE"),
    ("«TRUNCATE» TABLE t", "TRUNCATE"),
    ("«CREATE MODEL» m", "CREATE MODEL"),
    ("«CREATE MATERIALIZED TABLE» m", "CREATE MATERIALIZED TABLE"),
    ("«CALL» p(1)", "CALL"),
    ("SELECT * FROM t «PIVOT» (SUM(a) FOR b IN (1))", "PIVOT"),
    ("SELECT * FROM t «TABLESAMPLE» SYSTEM (10)", "TABLESAMPLE"),
    ("«WITH RECURSIVE» x AS (SELECT 1) SELECT 1", "WITH RECURSIVE"),
    ("SELECT * FROM a «LEFT SEMI» JOIN b ON x", "SEMI JOIN"),
    ("SELECT * FROM «ML_PREDICT»(TABLE t, MODEL m, DESCRIPTOR(a))", "ML_PREDICT"),
    ("SELECT * FROM TABLE(«ml_predict»(TABLE t, MODEL m, DESCRIPTOR(a)))", "ML_PREDICT"),
    ("SELECT a «RLIKE» 'x'", "RLIKE"),
    ("SELECT a «ILIKE» 'x'", "ILIKE"),
    ("SELECT «ARRAY»(SELECT 1)", "ARRAY(query)"),
    ("SELECT CAST(a AS «RAW»('x', 'y'))", "RAW"),
    ("CREATE TABLE t (a «REAL»)", "REAL"),
    ("CREATE TABLE t (a «TIMESTAMP WITH TIME ZONE»)", "WITH TIME ZONE"),
    ("CREATE TABLE t (a INT, «UNIQUE» (a) NOT ENFORCED)", "UNIQUE"),
    ("ALTER TABLE t ADD «UNIQUE» (a)", "UNIQUE"),
    ("SHOW «CONNECTIONS»", "SHOW CONNECTIONS"),
]


def check_caret(error: SqlError, marked: str) -> None:
    assert error.at is not None and error.source is not None
    before, _, rest = marked.partition("«")
    guilty = rest.partition("»")[0]
    found = error.source.text[error.at.start : error.at.end]
    assert (error.at.start, found) == (len(before), guilty)


@pytest.mark.parametrize(("marked", "message", "hint"), MISTAKES)
def test_a_mistake_is_found_at_its_place_with_a_hint(marked, message, hint):
    with pytest.raises(ParseError) as caught:
        parse_script(marked.replace("«", "").replace("»", ""), "x.sql")
    assert message in caught.value.message
    assert hint is None or hint in (caught.value.hint or "")
    if "«" in marked:
        check_caret(caught.value, marked)
    assert str(caught.value).startswith("x.sql:1:")


@pytest.mark.parametrize(("marked", "feature"), UNSUPPORTED)
def test_a_known_feature_that_is_missing_is_named_at_its_place(marked, feature):
    with pytest.raises(NotSupported) as caught:
        parse_script(marked.replace("«", "").replace("»", ""))
    assert feature in caught.value.message
    check_caret(caught.value, marked)


def test_the_missing_parenthesis_of_a_seed_is_reported_at_the_end_of_its_list():
    with pytest.raises(ParseError) as caught:
        parse_query(
            "(SELECT DATE_FORMAT(SESSION_END(ctime, INTERVAL '5' MINUTE, 'yyyy'), c FROM t)"
        )
    assert "found the keyword `FROM`" in caught.value.message


def test_the_place_counts_lines_and_shows_the_text():
    with pytest.raises(ParseError) as caught:
        parse_script("SELECT 1;\n\nSELECT a\nFROM t WHERE\n  a ! b", "q.sql")
    assert str(caught.value).splitlines()[:3] == [
        "q.sql:5:5  unexpected character '!'",
        "  5 |   a ! b",
        "          ^",
    ]


@pytest.mark.parametrize("text", ["", "  ", ";", "-- nothing", ";;"])
def test_an_empty_script_has_no_statements(text):
    assert parse_script(text).statements == ()


@pytest.mark.parametrize("read", [parse_query, parse_expression, parse_type])
def test_a_single_item_takes_the_whole_sql_text(read):
    for text in ("", "int int", "select 1 select 2", "1 1 1"):
        with pytest.raises(ParseError) as caught:
            read(text)
        assert caught.value.at is not None and caught.value.source is not None


@pytest.mark.parametrize(
    "deep",
    [
        "(" * 5000 + "1" + ")" * 5000,
        "(" * 5000,
        "- " * 5000 + "1",
        "NOT " * 5000 + "a",
        "a" + "[1]" * 5000,
        "a" + ".b" * 5000,
        "a" + " + 1" * 5000,
        "CASE WHEN " * 2000,
        "f(" * 5000,
        "(SELECT " * 2000,
        "a IN (SELECT b FROM (SELECT c FROM t WHERE " * 500,
        "CAST(a AS " + "ARRAY<" * 5000,
    ],
)
def test_nesting_without_end_is_an_error_and_not_a_crash(deep):
    with pytest.raises(ParseError) as caught:
        parse_expression(deep)
    assert "deep" in caught.value.message or "in a row" in caught.value.message


def test_as_deep_as_allowed_still_prints_and_compares():
    text = "(" * 90 + "1" + ")" * 90
    assert parse_expression(text) == parse_expression(text).copy()


def test_of_a_long_line_only_the_part_around_the_caret_is_shown():
    columns = ", ".join(f"c{number} INT" for number in range(100))
    with pytest.raises(ParseError) as caught:
        parse_script(f"CREATE TABLE t ({columns}, x INTT, {columns})", "x.sql")
    _, shown, caret, *_ = str(caught.value).split("\n")
    assert len(shown) < 180
    assert shown[caret.index("^") :].startswith("INTT")
    assert (shown[6:9], shown[-3:]) == ("...", "...")
