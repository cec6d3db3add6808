"""Collections, JSON, digests and users' functions in columns."""

import hashlib
import re

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tests.columns.computing import NOW, values_of
from tidemark import types as t
from tidemark.catalog.tables import UserFunction
from tidemark.columns import NotInColumns, Program
from tidemark.errors import DataError, JobError
from tidemark.plan.expressions import Case, Literal, Ref, UserCall


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a[1]", [1, None, None]),
        ("CAST(ARRAY[1] AS ARRAY<INT>)", [[1], [1], [1]]),
        ("a[4]", [None, None, None]),
        ("CARDINALITY(a)", [3, 0, None]),
        ("ARRAY_CONTAINS(a, 3)", [True, False, None]),
        ("ARRAY_CONTAINS(a, CAST(NULL AS INT))", [True, False, None]),
        ("ARRAY_POSITION(a, 3)", [3, 0, None]),
        ("ARRAY_REMOVE(a, 1)", [[None, 3], [], None]),
        ("ARRAY_SLICE(a, -2)", [[None, 3], [], None]),
        ("ARRAY_SLICE(a, 1, -4)", [[1], [], None]),
        ("ARRAY_SLICE(a, 1, -5)", [[], [], None]),
        ("ARRAY_SORT(a, FALSE)", [[3, 1, None], [], None]),
        ("ARRAY_APPEND(a, 7)", [[1, None, 3, 7], [7], None]),
        ("ARRAY_MAX(a)", [3, None, None]),
        ("ARRAY_JOIN(s, '-', '?')", ["x-?", "", None]),
        ("m['k']", [1, None, None]),
        ("MAP_KEYS(m)", [["k"], [], None]),
        ("ARRAY[CARDINALITY(a), 5]", [[3, 5], [0, 5], [None, 5]]),
    ],
)
def test_collections_have_elements(expression, expected):
    columns = {
        "a ARRAY<INT>": [[1, None, 3], [], None],
        "s ARRAY<STRING>": [["x", None], [], None],
        "m MAP<STRING, INT>": [[("k", 1)], [], None],
    }

    assert values_of(expression, columns) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("JSON_VALUE(j, '$.a')", ["1", None, None]),
        ("JSON_VALUE(j, 'lax $.a' RETURNING INT DEFAULT 7 ON EMPTY DEFAULT 8 ON ERROR)", [1, 7, None]),
        ("JSON_QUERY(j, '$.b' WITH WRAPPER)", ["[[1,2]]", None, None]),
        ("JSON_EXISTS(j, '$.b')", [True, False, None]),
        ("j IS JSON OBJECT", [True, True, False]),
        ("JSON_OBJECT('b' VALUE j IS NULL, 'a' VALUE 1)", ['{"a":1,"b":false}'] * 2 + ['{"a":1,"b":true}']),
        ("JSON_ARRAY(1, j IS NULL, CAST(NULL AS INT))", ["[1,false]", "[1,false]", "[1,true]"]),
        ("MD5(j) = MD5('{}')", [False, True, None]),
    ],
)  # fmt: skip
def test_json_is_parsed_and_written(expression, expected):
    columns = {"j STRING": ['{"a": 1, "b": [1, 2]}', "{}", None]}

    assert values_of(expression, columns) == expected


def test_json_fails_only_where_it_is_asked_for():
    columns = {"j STRING": ["{}", "nope"]}
    sql = "JSON_VALUE(j, 'strict $.a' ERROR ON EMPTY ERROR ON ERROR)"

    with pytest.raises(DataError):
        values_of(sql, columns)
    assert values_of(f"CASE WHEN j = '' THEN {sql} ELSE j END", columns) == ["{}", "nope"]


def test_digests_are_hexadecimal():
    assert values_of("SHA256('é')") == [hashlib.sha256("é".encode()).hexdigest()]


# --- users' functions --------------------------------------------------------------------------


def called(function, *, vectorized=False, returns=None, values=(1, None)):
    result = returns or t.Int()
    user = UserFunction("f", (t.Int(),), result, implementation=function, vectorized=vectorized)
    call = UserCall(user, (Ref(0, "a", t.Int()),), result)
    frame = pl.DataFrame({"a": pl.Series(values, dtype=pl.Int32)})
    return Program.of([call], ["a"], "UTC", NOW).over(frame, ["x"])["x"].to_list()


def test_function_in_python_sees_one_row_at_a_time():
    assert called(lambda n: None if n is None else n + 1) == [2, None]


def test_vectorized_function_sees_whole_columns():
    def double(numbers: pa.Array) -> pa.Array:
        assert numbers.type == pa.int32()
        return pc.multiply(numbers, 2)

    assert called(double, vectorized=True) == [2, None]


def test_failure_of_a_function_is_reported_as_its_own():
    with pytest.raises(JobError, match="a Python function failed: ZeroDivisionError: "):
        called(lambda n: 1 // 0)


def test_value_of_another_type_than_declared_is_an_error():
    with pytest.raises(JobError, match="f is declared to return INT, and returned str"):
        called(lambda n: "text")


def test_a_function_may_return_rows():
    row = t.Row((t.Field("x", t.Int()), t.Field("y", t.Array(t.Row((t.Field("z", t.Int()),))))))

    assert called(lambda n: (n, [(n,), None]), returns=row) == [
        {"x": n, "y": [{"z": n}, None]} for n in (1, None)
    ]
    assert called(lambda n: None, returns=row) == [None, None]
    with pytest.raises(JobError, match=r"f is declared to return ROW<.*, and returned int"):
        called(lambda n: n, returns=row)


def test_a_function_of_rows_is_refused():
    row = t.Row((t.Field("x", t.Int()),))
    user = UserFunction("f", (row,), t.Int(), implementation=lambda row: row.x)
    call = UserCall(user, (Ref(0, "a", row),), t.Int())

    with pytest.raises(NotInColumns, match="the Python function f with ROW"):
        Program.of([call], ["a"], "UTC", NOW)


def test_function_is_called_in_a_case_too():
    user = UserFunction("f", (t.Int(),), t.Int(), implementation=lambda n: n * 2)
    call = UserCall(user, (Ref(0, "a", t.Int()),), t.Int())
    case = Case(((Literal(True, t.Boolean()), call),), Literal(None, t.Int()), t.Int())

    program = Program.of([case], ["a"], "UTC", NOW)

    frame = pl.DataFrame({"a": pl.Series([1, 2], dtype=pl.Int32)})
    assert program.over(frame, ["x"])["x"].to_list() == [2, 4]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("CAST(s AS ARRAY<INT>)", "cannot cast 'x' to INT"),
        ("MAP_FROM_ARRAYS(s, ARRAY[1])", "the arrays of MAP_FROM_ARRAYS have different lengths"),
        ("MAP_FROM_ARRAYS(s, ARRAY[1, 2, 3])", "a key of a MAP is NULL"),
        ("FROM_BASE64(s[1])", "'1' is not valid Base64"),
    ],
)
def test_a_value_that_does_not_fit_fails_only_in_rows_that_ask_for_it(expression, expected):
    rows = {"id INT": [1, 2], "s ARRAY<STRING>": [["1", "x", None], ["1234"]]}

    with pytest.raises(DataError, match=re.escape(expected)):
        values_of(expression, rows)
    values_of(f"CASE WHEN id > 5 THEN {expression} END", rows)


@pytest.mark.parametrize(
    "expression", ["TRY_CAST(s AS ARRAY<INT>)", "CAST(MAP[s[1], 1] AS MAP<INT, INT>)"]
)
def test_casts_that_need_spark(expression):
    with pytest.raises(NotInColumns, match="CAST of"):
        values_of(expression, {"s ARRAY<STRING>": [["1"]]})
