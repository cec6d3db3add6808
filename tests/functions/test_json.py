"""JSON as Flink reads, follows and writes it, without Spark."""

import datetime as dt
from contextlib import suppress
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark import types as t
from tidemark.functions import BUILT_IN, json_kernels, json_text, json_writing
from tidemark.functions.json_calls import Clauses, json_function, shape
from tidemark.functions.json_paths import InvalidPath, NotFound, UnknownPath, check_path
from tidemark.functions.json_paths import compile_path as path
from tidemark.functions.outcomes import Outcomes
from tidemark.functions.registry import UNKNOWN, Argument, SignatureMismatch, SparkCall

TEXT = Argument(t.STRING)

# --- documents ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2.50]}', {"a": [1, Decimal("2.50")]}),
        (' "x" and more', "x"),
        ('{"a":1}{"a":2}', {"a": 1}),
        ('{"a":1,"a":2}', {"a": 2}),
        ("-0", 0),
    ],
)
def test_the_first_value_of_a_document_is_read(text, value):
    assert json_text.parse(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "{'a':1}",
        "[1,]",
        "01",
        "NaN",
        "-Infinity",
        "12abc",
        "nullx",
        '"\t"',
        "[" * 100_000,
    ],
)
def test_invalid_json_is_an_error(text):
    with pytest.raises(ValueError):
        json_text.parse(text)


@pytest.mark.parametrize("number", ["1.10", "1E+2", "0.00", "1.5E-7", "12345678901234567890123"])
def test_numbers_keep_their_digits(number):
    assert json_text.serialize(json_text.parse(number)) == number


def test_objects_are_written_with_their_keys_in_order():
    assert json_text.serialize({"b": 1, "a": {"d": None, "c": True}}) == (
        '{"a":{"c":true,"d":null},"b":1}'
    )


def test_control_characters_are_escaped_and_other_scripts_are_not():
    assert json_text.quote('é😀/"\\\n\x01') == '"é😀/\\"\\\\\\n\\u0001"'


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
    max_leaves=20,
)


@given(json_values)
def test_what_is_written_reads_back_the_same(value):
    assert json_text.parse(json_text.serialize(value)) == value


@given(st.text(alphabet='{}[]",:0123456789.eE+-truefalsn \\u"', max_size=40))
def test_any_string_is_a_value_or_a_value_error(text):
    with suppress(ValueError):
        json_text.parse(text)


# --- paths -------------------------------------------------------------------------------------

DOCUMENT = {"a": [{"b": 1}, {"b": [2, 3]}, {"c": 4}], "b": 9, "o": {"a b": 5, "x.y": 6}, "n": None}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("$", DOCUMENT),
        ("$.b", 9),
        ("b", 9),
        ("@.b", 9),
        ("$['b']", 9),
        ("$.o['a b']", 5),
        ('$.o["x.y"]', 6),
        ("$.a[0].b", 1),
        ("$.a[-1].c", 4),
        ("$.a[*].b", [1, [2, 3]]),
        ("$.a[0:2]", [{"b": 1}, {"b": [2, 3]}]),
        ("$.a[-1:]", [{"c": 4}]),
        ("$.a[0,2]", [{"b": 1}, {"c": 4}]),
        ("$..b", [9, 1, [2, 3]]),
        ("$.o.*", [5, 6]),
        ("$['b','n']", {"b": 9, "n": None}),
        ("$.a.length()", 3),
        ("lax $.nowhere", None),
        ("lax $.a[9].b", None),
        ("lax $.b.c[*]", []),
        ("LAX  $.b ", 9),
        ("$.n", None),
    ],
)
def test_a_path_leads_where_it_leads_in_flink(text, found):
    assert path(text).find(DOCUMENT) == found


@pytest.mark.parametrize("text", ["$.nowhere", "$.a[9]", "$.b.c", "strict $.a.b", "$.nowhere[*]"])
def test_a_strict_path_must_lead_somewhere(text):
    with pytest.raises(NotFound):
        path(text).find(DOCUMENT)


@pytest.mark.parametrize("text", ["", "$a", "$.", "$[", "$.a[b]", "lax $x", "$['b", "foo $.b"])
def test_an_invalid_path_fails_when_it_is_evaluated(text):
    with pytest.raises(InvalidPath):
        path(text).find(DOCUMENT)


@pytest.mark.parametrize("text", ["$.a[?(@.b == 1)]", "lax $.a.max()", "$..length()"])
def test_paths_that_cannot_be_followed_are_refused_while_planning(text):
    with pytest.raises(UnknownPath):
        check_path(text)
    with pytest.raises(SignatureMismatch):
        json_function("JSON_VALUE").resolve([TEXT, Argument(t.STRING, text)])


@given(st.text(alphabet="$@.[]'\"*,:-?() length019\\", max_size=20), json_values)
def test_any_string_is_a_path_or_an_invalid_path(text, document):
    with suppress(InvalidPath, NotFound):
        path(text).find(document)


# --- kernels -----------------------------------------------------------------------------------


def column(*values):
    return pa.array(values, pa.string())


def json_value(text, where, on_empty="NULL", on_error="NULL", kind="STRING"):
    arguments = (column(v) for v in (text, where, on_empty, on_error, "empty", "error"))
    return json_kernels.VALUE_KERNELS[kind](*arguments)[0].as_py()


def test_json_value_returns_scalars_and_distinguishes_empty_from_error():
    both = {"on_empty": "DEFAULT", "on_error": "DEFAULT"}

    assert json_value('{"a":1.10}', "$.a") == "1.10"
    assert json_value('{"a":{}}', "lax $.a", **both) == "empty"
    assert json_value('{"a":{}}', "strict $.a", **both) == "error"
    assert json_value('{"a":null}', "strict $.a", **both) == "error"
    assert json_value("no json", "lax $.a", **both) == "empty"
    assert json_value("no json", "$.a", **both) == "error"
    assert json_value("null", "lax $.a", **both) == "error"
    assert json_value(None, "$.a", **both) is None


def test_json_value_converts_nothing():
    assert json_value("5", "$", kind="INT") == 5
    assert json_value("true", "$", kind="BOOLEAN") is True
    assert json_value("0.5", "$", kind="DOUBLE") == 0.5
    for text, kind in [('"5"', "INT"), ("2147483648", "INT"), ("1", "BOOLEAN"), ("true", "DOUBLE")]:
        with pytest.raises(ValueError, match=f"is not of type {kind}"):
            json_value(text, "$", kind=kind)


def test_errors_fail_the_query_if_the_clause_says_so():
    with pytest.raises(ValueError, match="found nothing"):
        json_value("{}", "lax $.a", on_empty="ERROR")
    with pytest.raises(ValueError, match="nothing is there"):
        json_value("{}", "$.a", on_error="ERROR")


def test_half_a_surrogate_pair_becomes_a_question_mark():
    assert json_value('["\\ud83d", "x"]', "$[0]") == "?"


@pytest.mark.parametrize(
    ("value", "type_", "written"),
    [
        (1e20, pa.float64(), "1.0E+20"),
        (0.0009, pa.float64(), "0.00090"),
        (100.0, pa.float64(), "100.0"),
        (12345678.9, pa.float64(), "12345678.9"),
        (-0.0, pa.float64(), "0.0"),
        (1e-5, pa.float32(), "0.000009999999747378752"),
        (Decimal("0E-8"), pa.decimal128(12, 8), "0E-8"),
        (b"\x01\x02\xff", pa.binary(), '"AQL/"'),
        (dt.datetime(2020, 1, 2, 3, 4, 5, 120_000), pa.timestamp("us"), '"2020-01-02T03:04:05.12"'),
        (dt.datetime(2020, 1, 2), pa.timestamp("us", "Asia/Tokyo"), '"2020-01-02T00:00:00Z"'),
        ([("b", 1), ("a", None)], pa.map_(pa.string(), pa.int32()), '{"a":null,"b":1}'),
        ([1, None], pa.list_(pa.int32()), "[1,null]"),
    ],
)
def test_values_are_written_as_flink_writes_them(value, type_, written):
    assert json_writing.write(pa.array([value, None], type_)).to_pylist() == [written, None]


def test_fields_of_rows_keep_the_names_that_spark_does_not_take():
    row = t.Row(
        (t.Field("EXPR$0", t.Int()), t.Field("in", t.Array(t.Row((t.Field("é", t.Int()),)))))
    )
    values = pa.array([{"_tm_0": 1, "in": [{"_tm_0": 2}]}])
    shapes = column('[["EXPR$0", null], ["in", {"each": [["é", null]]}]]')

    assert shape(row) == [["EXPR$0", None], ["in", {"each": [["é", None]]}]]
    assert json_writing.write(values, shapes).to_pylist() == ['{"EXPR$0":1,"in":[{"é":2}]}']


def test_a_row_inside_of_another_may_be_null():
    values = pa.array([{"a": [{"b": 1}, None], "r": None}])
    shapes = column('[["a", {"each": [["b", null]]}], ["r", [["c", null]]]]')

    assert json_writing.write(values, shapes).to_pylist() == ['{"a":[{"b":1},null],"r":null}']


def test_quoting_escapes_what_is_not_ascii_and_unquoting_takes_it_back():
    texts = column('é"/\n', "\x01", "", None)
    quoted = json_writing.quote(texts)

    assert quoted.to_pylist() == [r'"\u00e9\"\/\n"', '"\x01"', '""', None]
    assert json_writing.unquote(quoted).to_pylist() == ['é"/\n', '"\x01"', "", None]


# --- calls -------------------------------------------------------------------------------------


def written(name, clauses, *arguments):
    function = json_function(name, clauses)
    texts = tuple("abc"[n] for n in range(len(arguments)))
    result = function.resolve(arguments).result
    return function.write(SparkCall(texts, arguments, result, "UTC"))


def test_clauses_reach_the_kernel_as_constants():
    clauses = Clauses(on_empty="DEFAULT", on_error="ERROR")
    text = written("JSON_VALUE", clauses, TEXT, TEXT, TEXT)

    assert "tidemark_json_value(a, b, 'DEFAULT', 'ERROR', c, CAST(NULL AS STRING))" in text


def test_a_returned_type_has_a_kernel_of_its_own():
    clauses = Clauses(returning=t.Int())

    assert "(tidemark_json_value_returning_int(a, b," in written("JSON_VALUE", clauses, TEXT, TEXT)
    assert str(json_function("JSON_VALUE", clauses).resolve([TEXT, TEXT]).result) == "INT"


@pytest.mark.parametrize(
    ("name", "clauses", "reason"),
    [
        ("JSON_VALUE", Clauses(returning=t.BigInt()), "not BIGINT"),
        ("JSON_QUERY", Clauses(returning=t.Array(t.Int())), "not ARRAY<INT>"),
        (
            "JSON_QUERY",
            Clauses(returning=t.Array(t.STRING), on_empty="EMPTY OBJECT"),
            "not an ARRAY<STRING>",
        ),
    ],
)
def test_what_a_json_function_cannot_return_is_refused(name, clauses, reason):
    with pytest.raises(SignatureMismatch, match=reason):
        json_function(name, clauses)


def test_an_object_is_written_with_sorted_keys_and_the_last_of_two_values():
    names = [Argument(t.STRING, name) for name in ("b", "a", "b")]
    function = json_function("JSON_OBJECT", Clauses(on_null="ABSENT"))
    arguments = tuple(x for name in names for x in (name, Argument(t.Int())))
    texts = ("'b'", "first", "'a'", "second", "'b'", "third")
    text = function.write(SparkCall(texts, arguments, t.STRING, "UTC"))

    assert text.index("second") < text.index("third") < text.index("first")
    assert "coalesce(CAST(third AS STRING), CAST(first AS STRING))" in text


def test_keys_must_be_known_and_dates_have_no_form():
    with pytest.raises(SignatureMismatch, match="keys of JSON_OBJECT"):
        json_function("JSON_OBJECT").resolve([Argument(t.STRING, UNKNOWN), TEXT])
    for type_ in (t.Date(), t.Array(t.Date()), t.Row((t.Field("d", t.Map(t.STRING, t.Date())),))):
        with pytest.raises(SignatureMismatch, match="DATE cannot be written as JSON"):
            json_function("JSON_ARRAY").resolve([Argument(type_)])
        with pytest.raises(SignatureMismatch, match="DATE cannot be written as JSON"):
            BUILT_IN["JSON_STRING"].resolve([Argument(type_)])


def test_json_is_nested_unchanged_and_strings_are_quoted():
    raw, quoted = Clauses(raw=frozenset({0})), Clauses()

    assert written("JSON_ARRAY", raw, TEXT) == "concat('[', concat_ws(',', a), ']')"
    assert "to_json" in written("JSON_ARRAY", quoted, TEXT)


# --- failures ----------------------------------------------------------------------------------


def test_a_row_that_fails_does_not_affect_other_rows():
    texts = ["[1]", "no", "[2]", None, "[", "[3]"]
    columns = [pa.array(column) for column in (texts, ["strict $[0]"] * 6, ["ERROR"] * 6)]

    outcomes = Outcomes(json_kernels.exists)(*columns).to_pylist()

    assert [o["value"] for o in outcomes] == [True, None, True, None, None, True]
    assert [o["failure"] is None for o in outcomes] == [True, False, True, True, False, True]


def test_outcomes_of_no_rows_are_of_the_same_type():
    nothing = Outcomes(json_writing.normalize)(pa.array([], pa.string()))

    assert len(nothing) == 0
    assert nothing.type == Outcomes(json_writing.normalize)(pa.array(["bad"])).type
