"""The connector faker: rows of Datafaker's expressions."""

from __future__ import annotations

import datetime as dt
import json
import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.connectors.tables import NOW, declared, frame, read
from tests.searching import searched
from tidemark.connectors import registry
from tidemark.connectors.base import Part
from tidemark.connectors.faker.expressions import BadExpression, FakerCall, parse
from tidemark.connectors.faker.functions import FUNCTIONS, NAMES, Computed, Library, checked
from tidemark.connectors.faker.made.columns import evaluated
from tidemark.connectors.faker.made.computed import COMPUTED
from tidemark.connectors.faker.made.pattern_columns import matching
from tidemark.connectors.faker.patterns import pattern
from tidemark.connectors.made_rows.columns.draws import Draws
from tidemark.errors import DataError, OptionError

MANY = 2000


def faker(columns: str, rows: int = MANY, **options: str):
    """A table `t`; `a` is the expression of column `a`, `a__length` another of its options."""
    fields = {
        f"fields.{k.replace('__', '.').replace('_', '-')}": v
        for k, v in ((k if "__" in k else f"{k}__expression", v) for k, v in options.items())
    }
    more = "".join(", '{}' = '{}'".format(k, v.replace("'", "''")) for k, v in fields.items())
    return declared(
        f"CREATE TABLE t ({columns}) WITH ('connector' = 'faker', 'number-of-rows' = '{rows}'{more})"
    )


def values(expression: str, type_: str = "STRING", rows: int = MANY) -> list:
    return frame(faker(f"a {type_}", rows, a=expression))["a"].to_list()


def draws(rows: int, seed: str = "s") -> Draws:
    return Draws("fields.a", seed, np.arange(rows, dtype=np.uint64))


# --- expressions -------------------------------------------------------------------------------


def test_an_expression_is_calls_and_the_text_between_them():
    found = parse("a #{Name.first_name}-#{number.numberBetween '1', '5'} z")

    assert found == (
        "a ",
        FakerCall("name.firstname", (), "Name.first_name"),
        "-",
        FakerCall("number.numberbetween", ("1", "5"), "number.numberBetween"),
        " z",
    )


def test_arguments_need_no_comma_and_may_contain_quotes():
    assert parse("#{date.past '100' 'DAYS'}")[0].arguments == ("100", "DAYS")
    assert parse("#{Options.option 'it''s','{x}'}")[0].arguments == ("it's", "{x}")


def test_a_parenthesis_after_the_arguments_is_left_out():
    [found] = parse("#{Options.option 'a', 'b')}")

    assert found.arguments == ("a", "b")


@pytest.mark.parametrize(
    ("expression", "message", "hint"),
    [
        ("#{Name.fristName}", "unknown function 'Name.fristName'", "Name.firstName"),
        ("#{superheros.name}", "unknown function 'superheros.name'", "Superhero.name"),
        ("#{regexfy 'a'}", "unknown function 'regexfy'", "regexify"),
        ("#{number.numberBetween '1'}", "takes 2 arguments, not 1", None),
        ("#{Name.firstName 'x'}", "takes no arguments, not 1", None),
        ("#{date.past 'x','DAYS'}", "'date.past' does not take 'x'", "unit such as SECONDS"),
        ("#{number.numberBetween '9','1'}", "no number from 9 to 1", None),
        ("#{date.between '2024-01-01','then'}", "does not take 'then'", "2024-01-01 00:00:00"),
        ("#{Name.firstName", "cannot read '#{Name.firstName'", "#{name 'argument','argument'}"),
        ("#{regexify '(a|b'}", "expected ')' at character 5 of the pattern '(a|b'", None),
        ("#{regexify '[^a]'}", "is not supported at character 2", None),
        ("#{regexify 'a{2'}", "expected '{n}'", None),
        ("#{regexify '*a'}", "nothing to repeat before '*'", None),
        ("#{regexify 'a)'}", "unexpected ')'", None),
    ],
)
def test_wrong_expressions_are_refused_where_they_stand(expression, message, hint):
    table = faker("a STRING", a=expression)

    with pytest.raises(OptionError, match=re.escape(message)) as refused:
        registry.options_of(table)
    assert refused.value.at is not None
    if hint is not None:
        assert hint in refused.value.hint


# --- functions ---------------------------------------------------------------------------------

ARGUMENTS = {
    "number_between": "'3','9'",
    "random_double": "'2','1','5'",
    "digits": "'3'",
    "past": "'10','SECONDS'",
    "future": "'10','5','DAYS'",
    "between": "'2024-01-01','2024-02-01 10:00:00'",
    "regexify": "'[a-c]{2}x?'",
    "bothify": "'?#'",
    "letterify": "'??','true'",
    "numerify": "'##-#'",
    "examplify": "'aB1-'",
    "option": "'x','y'",
}


@pytest.mark.parametrize("name", NAMES)
def test_every_function_makes_a_value_for_each_row(name):
    source = NAMES[name]
    arguments = ARGUMENTS.get(source.name, "") if isinstance(source, Computed) else ""
    expression = checked(f"#{{{name} {arguments}}}")

    found = evaluated(expression, draws(50), np.full(50, 10**12))
    assert len(found) == 50
    assert found.null_count == 0
    assert "" not in map(str, found.to_pylist())


def test_all_computed_functions_are_there():
    names = {source.name for source in FUNCTIONS.values() if isinstance(source, Computed)}

    assert names == set(COMPUTED)


def test_names_may_be_written_with_underscores_and_in_any_case():
    for name in ("Name.firstName", "name.first_name", "NAME.FIRSTNAME"):
        assert parse(f"#{{{name}}}")[0].name == "name.firstname"
    assert isinstance(FUNCTIONS["name.firstname"], Library)


def test_number_between_excludes_its_second_bound():
    assert set(values("#{number.numberBetween '3','7'}", "INT")) == {3, 4, 5, 6}
    assert set(values("#{number.numberBetween '-2','-2'}", "BIGINT")) == {-2}


def test_random_double_has_so_many_decimals():
    found = values("#{Number.randomDouble '2','1','3'}", "DOUBLE")

    assert min(found) >= 1
    assert max(found) <= 3
    assert found == [round(value, 2) for value in found]
    assert len(set(found)) > 150


@pytest.mark.parametrize(
    ("expression", "least", "most"),
    [
        ("#{date.past '15','SECONDS'}", -15, 0),
        ("#{date.past '15','5','SECONDS'}", -15, -5),
        ("#{date.future '2','MINUTES'}", 0, 120),
        ("#{date.past '1' 'DAYS'}", -86400, 0),
    ],
)
def test_times_are_so_far_from_now(expression, least, most):
    """They are those of UTC's clock, as in Flink."""
    start = NOW.replace(tzinfo=None)
    found = [(t - start).total_seconds() for t in values(expression, "TIMESTAMP(3)")]

    assert least <= min(found) < least + 0.1 * (most - least)
    assert most - 0.1 * (most - least) < max(found) <= most


def doubled(text: str) -> str:
    return text.replace("'", "''")


def test_json_objects_have_values_that_are_made_and_objects_within():
    inner = doubled("#{json 'city','#{Address.city}','at','#{Options.option ''x'',''y''}'}")

    outer = f"#{{json 'id','#{{Internet.uuid}}','to','{inner}'}}"
    found = [json.loads(text) for text in values(outer)]

    assert all(set(one) == {"id", "to"} and set(one["to"]) == {"city", "at"} for one in found)
    assert len({one["id"] for one in found}) == len(found)
    assert {one["to"]["at"] for one in found} == {"x", "y"}


def test_jsona_has_arrays_of_values_that_differ():
    inner = doubled("#{json 'n','#{number.numberBetween ''0'',''9''}'}")

    [*texts] = values(f"#{{jsona '-1','id','a \"b\" \\','3','all','{inner}'}}")

    found = [json.loads(text) for text in texts]
    assert texts[0].startswith('{"id": "a \\"b\\" \\\\", "all": [{"n": "')
    assert all(len(one["all"]) == 3 for one in found)
    assert any(len({each["n"] for each in one["all"]}) > 1 for one in found)


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("#{json 'a'}", "takes 'name','value' for each member"),
        ("#{jsona 'a','b'}", "takes 'count','name','value' for each member"),
        ("#{jsona 'a','b','c'}", "does not take 'a' as a count"),
        ("#{jsona '1001','b','c'}", "has at most 1000 elements"),
        ("#{json 'a','#{Nam.first}'}", "unknown function 'Nam.first'"),
    ],
)
def test_what_is_wrong_within_json_is_named(expression, problem):
    with pytest.raises(BadExpression, match=re.escape(problem)):
        checked(expression)


def test_uuids_are_of_version_4_and_all_different():
    found = values("#{Internet.uuid}")

    shape = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    assert all(re.fullmatch(shape, value) for value in found)
    assert len(set(found)) == MANY


def test_addresses_are_public_or_private():
    assert not any(
        value.startswith(("10.", "127.", "192.168."))
        for value in values("#{internet.publicIpV4Address}")
    )
    private = r"(10|172\.(1[6-9]|2\d|3[01])|192\.168)\..*"
    assert all(re.fullmatch(private, v) for v in values("#{internet.privateIpV4Address}"))


def test_check_digits_are_right():
    def luhn(digits: str) -> int:
        doubled = (int(d) * (2 - n % 2) for n, d in enumerate(digits))
        return sum(d - 9 if d > 9 else d for d in doubled) % 10

    def mod_97(iban: str) -> int:
        return int("".join(str(int(c, 36)) for c in iban[4:] + iban[:4])) % 97

    assert {luhn(card.replace("-", "")) for card in values("#{finance.creditCard}")} == {0}
    assert {mod_97(iban) for iban in values("#{finance.iban}")} == {1}
    assert {len(iban) for iban in values("#{finance.iban}")} == {22}


# --- patterns ----------------------------------------------------------------------------------

PIECES = st.recursive(
    st.sampled_from(["a", r"\.", "[a-c]", "[x0-9_]", r"\d", r"\w", ".", "ab", r"\ "]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"({two[0]}|{two[1]})"),
        st.tuples(inner, st.sampled_from(["?", "*", "+", "{2}", "{1,3}", "{0}", "{2,}"])).map(
            lambda two: f"({two[0]}){two[1]}"
        ),
    ),
    max_leaves=6,
)


@searched(60)
@given(PIECES)
def test_strings_match_their_pattern(text):
    found = matching(pattern(text), draws(30)).to_pylist()

    assert all(re.fullmatch(text, value) for value in found)


def test_all_that_match_occur():
    assert set(values("#{regexify '(a|b)?[cd]{1,2}'}")) == {
        first + rest for first in ("", "a", "b") for rest in ("c", "d", "cc", "cd", "dc", "dd")
    }
    assert set(values("#{bothify '?'}")) == set("abcdefghijklmnopqrstuvwxyz")


def test_patterns_of_published_recipes():
    for text in (
        r"(/search\.html|/login\.html|cart\.html){1}",
        r"(Deja\ Brew|Lawn\ \&\ Order){1}",
        r"(America\/Los_Angeles|Europe\/Rome){1}",
        "(PL)[0-9]{5}",
    ):
        assert all(re.fullmatch(text, value) for value in values(f"#{{regexify '{text}'}}"))


# --- types and tables --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type_", "expression", "expected"),
    [
        ("TINYINT", "7", 7),
        ("DECIMAL(5, 2)", "#{regexify '12\\.346'}", "12.35"),
        ("FLOAT", "1.5", 1.5),
        ("BOOLEAN", "TRUE", True),
        ("BOOLEAN", "yes", False),
        ("TIMESTAMP(3)", "2024-05-06 10:00:00.123", dt.datetime(2024, 5, 6, 10, 0, 0, 123000)),
        ("DATE", "2024-05-06", dt.date(2024, 5, 6)),
        ("VARCHAR(3)", "#{number.numberBetween '5','6'}", "5"),
        ("STRING", "x#{number.numberBetween '5','6'}y", "x5y"),
    ],
)
def test_values_are_read_as_the_type_of_their_column(type_, expression, expected):
    found = set(values(expression, type_, 3))

    assert {str(value) if isinstance(expected, str) else value for value in found} == {expected}


def test_a_value_that_does_not_fit_its_column_is_an_error():
    with pytest.raises(
        DataError, match=r"'fields\.a\.expression' makes values such as 'x' that are"
    ):
        values("x", "INT", 3)


def test_collections_have_values_of_expressions():
    table = faker(
        "a ARRAY<INT>, m MAP<STRING, INT>, s MULTISET<STRING>, r ROW<x INT, y STRING>",
        rows=200,
        a="#{number.numberBetween '0','5'}",
        a__length="3",
        m__key__expression="#{regexify '(k|l)'}",
        m__value__expression="#{number.randomDigit}",
        m__length="3",
        s="#{regexify '(a|b)'}",
        s__length="4",
        r__x__expression="#{number.randomDigit}",
        r__y__expression="y",
    )
    for array, map_, multiset, row in frame(table).rows():
        assert len(array) == 3
        assert 1 <= len(map_) <= 2
        assert sum(multiset.values()) == 4
        assert row["y"] == "y"


def test_null_rates():
    table = faker("a INT, b INT", a="1", b="1", a__null_rate="0.25", b__null_rate="1")
    found = frame(table)

    assert 0.2 < found["a"].null_count() / MANY < 0.3
    assert found["b"].null_count() == MANY


def test_rows_have_the_same_values_in_whatever_part_they_are_made(monkeypatch):
    table = faker(
        "a STRING, b ARRAY<STRING>", 40, a="#{regexify '([a-z]{3}|\\d+)'}", b="#{Name.name}"
    )
    whole = frame(table)
    ms = int(NOW.timestamp() * 1000)
    monkeypatch.setattr("tidemark.connectors.made_rows.columns.rows._ROWS", 7)

    parts = [Part("", 30, 40, ms), Part("", 0, 30, ms)]
    assert frame(table, parts=parts).equals(pl.concat([whole[30:], whole[:30]]))
    assert not frame(table, seed="other").equals(whole)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ("a INT, b INT", {"a": "1"}, "column `b` of `t` has no expression"),
        ("a INT", {"a": "1", "bb": "1"}, "'fields.bb.expression' does not match any column"),
        ("a INT", {"a": "1", "a__length": "2"}, "INT is not a collection"),
        ("a ARRAY<INT>", {"a": "1", "a__length": "0"}, "must be greater than zero"),
        ("a INT", {"a": "1", "a__null_rate": "2"}, "between 0 and 1"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(columns, options, message):
    with pytest.raises(OptionError, match=re.escape(message)):
        registry.options_of(faker(columns, **options))


def test_options_of_computed_columns_have_no_effect():
    table = faker("a INT, p AS PROCTIME()", 3, a="1", p="#{date.past '1','DAYS'}")

    assert len(frame(table)) == 3


def test_tables_are_unbounded_without_a_number_of_rows():
    assert registry.traits(faker("a INT", -1, a="1")).bounded is False
    assert registry.traits(faker("a INT", 5, a="1")).bounded is True


def test_spark_reads_the_same_rows(spark):
    table = faker(
        "a INT, b STRING, c ARRAY<STRING>, d MAP<STRING, INT>",
        30,
        a="#{number.randomDigit}",
        b="#{Internet.uuid}",
        c="#{Name.firstName}",
        d__key__expression="k",
        d__value__expression="#{number.randomDigit}",
        d__length="2",
    )

    found = read(spark, table).collect()
    assert len(found) == 30
    assert all(set(row["d"]) == {"k"} for row in found)


def test_a_bad_expression_says_what_it_is():
    with pytest.raises(BadExpression):
        checked("#{")
