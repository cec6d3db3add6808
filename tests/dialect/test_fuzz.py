"""No text makes the parser raise anything but its own errors, and whatever it reads prints back."""

from __future__ import annotations

from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.dialect.samples import pairs, seeds
from tests.searching import searched
from tidemark.dialect import is_complete, parse_expression, parse_script, parse_type, to_sql
from tidemark.dialect.keywords import RESERVED
from tidemark.dialect.statements import Script
from tidemark.dialect.tokens import PUNCTUATION, scan
from tidemark.errors import Source, SqlError

bounded = searched(150, suppress_health_check=list(HealthCheck))

VALID = [*seeds().values(), *(before for before, _ in pairs().values())]
TOKENS = sorted(
    {source.text[t.start : t.end + 1] for source in map(Source, VALID) for t in scan(source)}
)
words = st.sampled_from(
    [*TOKENS, *sorted(RESERVED), *PUNCTUATION, "'x'", "`y`", '"z"', "/*+", "*/", "--\n", "‘", "é"]
)


def check(text: str) -> None:
    """Either an error with a place, or a script that survives printing."""
    try:
        script = parse_script(text)
    except SqlError as error:
        place = error.at
    else:
        check_printing(script)
        return
    assert place is not None and 0 <= place.start < place.end <= len(text) + 1


def check_printing(script: Script) -> None:
    printed = to_sql(script)
    assert parse_script(printed).statements == script.statements, printed
    assert to_sql(parse_script(printed)) == printed


@bounded
@given(st.text())
def test_any_text(text):
    check(text)
    is_complete(text)


@bounded
@given(st.text(alphabet="abcSELECT FROM()'`\"*/-;,.<>=|[]{}\n\\x&_019‘"))
def test_text_of_sql_characters(text):
    check(text)
    check(f"SELECT {text}")


@bounded
@given(st.lists(words, max_size=25).map(" ".join))
def test_token_soup(text):
    check(text)
    check(f"SELECT {text}")
    check(f"CREATE TABLE t ({text}")


@bounded
@given(st.sampled_from(VALID), st.data())
def test_valid_scripts_with_tokens_lost_doubled_and_swapped(text, data):
    tokens = [text[t.start : t.end + 1] for t in scan(Source(text))]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(tokens) - 1))
        tokens[at : at + 1] = data.draw(
            st.sampled_from([[], [tokens[at]] * 2, [data.draw(words)], tokens[at : at + 2][::-1]])
        )
    check(" ".join(tokens))


operators = st.sampled_from(
    [
        "+",
        "-",
        "*",
        "/",
        "%",
        "||",
        "=",
        "<>",
        "<",
        "<=",
        "AND",
        "OR",
        "LIKE",
        "IS$NULL",
        "IS$NOT$NULL",
        "IN$(1)",
        "NOT$IN$(1)",
        "BETWEEN",
        "NOT$LIKE",
        "IS$DISTINCT$FROM",
        "IS$JSON",
        "IS$NOT$TRUE",
        "NOT$BETWEEN",
        "SIMILAR$TO",
        "ESCAPE",
        "[1]",
        ".f",
        "AND",
        "NOT",
        "-",
        "(",
        ")",
    ]
)
operands = st.sampled_from(
    ["a", "b.c", "1", "'x'", "NULL", "NOT", "-", "+", "(", "f(x)", "CASE$WHEN$a$THEN$b$END", "TRUE"]
)


@searched(200, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(operands, operators), max_size=8), operands)
def test_expressions_print_back_whatever_their_operators(pairs_, last):
    text = " ".join(f"{operand} {operator}" for operand, operator in pairs_) + f" {last}"
    try:
        tree = parse_expression(text.replace("$", " "))
    except SqlError:
        return
    assert parse_expression(to_sql(tree)) == tree, to_sql(tree)


quantifiers = st.sampled_from(
    ["", "*", "+", "?", "*?", "+?", "??", "{2}", "{,3}", "{1,}", "{1,2}", "{0,2}?", "{2}?"]
)
variables = st.sampled_from(["A", "B", "`c d`", "Permute_"])


def _patterns(inner):
    listed = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.tuples(inner, quantifiers).map(lambda both: f"({both[0]}){both[1]}"),
        listed.map(" ".join),
        listed.map(" | ".join),
        listed.map(lambda parts: f"PERMUTE({', '.join(parts)})"),
        inner.map(lambda part: f"{{- {part} -}}"),
        inner.map(lambda part: f"^ {part} $"),
    )


row_patterns = st.recursive(st.tuples(variables, quantifiers).map("".join), _patterns, max_leaves=8)
matches = st.tuples(
    st.sampled_from(["", "ONE ROW PER MATCH", "ALL ROWS PER MATCH", "ALL ROWS PER MATCH WITH UNMATCHED ROWS"]),
    st.sampled_from(["", "AFTER MATCH SKIP PAST LAST ROW", "AFTER MATCH SKIP TO FIRST A", "AFTER MATCH SKIP TO NEXT ROW"]),
    row_patterns,
    st.sampled_from(["", "WITHIN INTERVAL '5' SECOND"]),
    st.sampled_from(["", "SUBSET S = (A, B)"]),
    st.sampled_from(["TRUE", "PREV(A.v, 2) < RUNNING LAST(A.v)", "FINAL COUNT(A.v) > 1", "CLASSIFIER() = 'A'"]),
)  # fmt: skip


def match_recognize(parts):
    rows, after, pattern, within, subset, condition = parts
    return (
        f"SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.v AS v {rows} "
        f"{after} PATTERN ({pattern}) {within} {subset} DEFINE A AS {condition})"
    )


@bounded
@given(matches)
def test_patterns_of_any_shape_print_back(parts):
    check_printing(parse_script(match_recognize(parts)))


@bounded
@given(matches, st.data())
def test_patterns_with_tokens_lost_and_doubled(parts, data):
    text = match_recognize(parts)
    tokens = [text[t.start : t.end + 1] for t in scan(Source(text))]
    at = data.draw(st.integers(0, len(tokens) - 1))
    tokens[at : at + 1] = data.draw(st.sampled_from([[], [tokens[at]] * 2, [data.draw(words)]]))
    check(" ".join(tokens))


type_words = st.sampled_from(
    [
        "INT",
        "STRING",
        "ROW",
        "<",
        ">",
        "<>",
        "(",
        ")",
        ",",
        "a",
        "`b`",
        "'c'",
        "ARRAY",
        "MAP",
        "MULTISET",
        "NOT",
        "NULL",
        "3",
        "DECIMAL",
        "TIMESTAMP",
    ]
)


@bounded
@given(st.lists(type_words, max_size=12).map(" ".join))
def test_types(text):
    try:
        type_ = parse_type(text)
    except SqlError:
        return
    assert parse_type(to_sql(type_)) == type_
