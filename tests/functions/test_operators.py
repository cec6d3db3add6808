"""What operators take, what they give, and what they write for Spark; no Spark needed."""

import pytest

from tidemark import functions
from tidemark import types as t
from tidemark.functions.registry import UNKNOWN, Argument, SignatureMismatch, SparkCall

INT, BIGINT, DOUBLE, FLOAT = t.Int(), t.BigInt(), t.Double(), t.Float()
DATE, STAMP, LTZ, TIME = t.Date(), t.Timestamp(3), t.TimestampLtz(3), t.Time(0)
DAYS, MONTHS = t.DayTimeInterval("DAY", "DAY"), t.YearMonthInterval("MONTH", "MONTH")


def dec(precision, scale):
    return t.Decimal(precision, scale)


def resolve(name, *types):
    return functions.BUILT_IN[name].resolve([Argument(type_) for type_ in types])


def result(name, *types):
    return resolve(name, *types).result


def write(name, *args, zone="UTC"):
    """Each argument is (text, type) or (text, type, literal value)."""
    function = functions.BUILT_IN[name]
    arguments = tuple(Argument(arg[1], arg[2] if len(arg) > 2 else UNKNOWN) for arg in args)
    found = function.resolve(arguments)
    return function.write(SparkCall(tuple(arg[0] for arg in args), arguments, found.result, zone))


@pytest.mark.parametrize(
    ("operator", "left", "right", "expected"),
    [
        ("+", t.TinyInt(), t.SmallInt(), t.SmallInt()),
        ("*", INT, BIGINT, BIGINT),
        ("/", INT, INT, INT),
        ("%", BIGINT, INT, INT),
        ("%", INT, BIGINT, BIGINT),
        ("+", FLOAT, DOUBLE, FLOAT),
        ("+", DOUBLE, FLOAT, DOUBLE),
        ("+", INT, FLOAT, FLOAT),
        ("*", FLOAT, dec(5, 2), DOUBLE),
        ("+", dec(5, 2), INT, dec(13, 2)),
        ("-", dec(5, 2), BIGINT, dec(22, 2)),
        ("*", dec(5, 2), dec(10, 4), dec(16, 6)),
        ("*", dec(38, 30), dec(38, 30), dec(38, 21)),
        ("+", dec(38, 18), dec(38, 10), dec(38, 9)),
        ("/", dec(5, 2), INT, dec(16, 13)),
        ("/", INT, dec(5, 2), dec(18, 6)),
        ("/", dec(38, 18), dec(38, 18), dec(38, 6)),
        ("%", dec(5, 2), INT, dec(5, 2)),
        ("+", STAMP, DAYS, STAMP),
        ("+", MONTHS, DATE, DATE),
        ("-", TIME, DAYS, TIME),
        ("-", LTZ, MONTHS, LTZ),
        ("*", DAYS, INT, t.DayTimeInterval()),
        ("+", MONTHS, t.YearMonthInterval("YEAR", "YEAR"), t.YearMonthInterval()),
    ],
    ids=str,
)
def test_arithmetic_gives_flinks_types(operator, left, right, expected):
    assert result(operator, left, right) == expected


def test_a_result_is_not_null_only_if_both_operands_are():
    five, maybe = t.Int(nullable=False), t.Int()

    assert result("+", five, five) == five
    assert result("+", five, maybe) == maybe
    assert result("+", five, t.Null()) == maybe
    assert result("IS NULL", maybe) == t.Boolean(nullable=False)


def test_operands_are_converted_to_what_flink_computes_with():
    assert resolve("*", INT, dec(5, 2)).parameters == (dec(10, 0), dec(5, 2))
    assert resolve("+", t.TinyInt(nullable=False), BIGINT).parameters == (
        t.BigInt(nullable=False),
        BIGINT,
    )


@pytest.mark.parametrize(
    ("operator", "left", "right", "says"),
    [
        ("+", t.STRING, INT, "is not defined"),
        ("-", STAMP, STAMP, "TIMESTAMPDIFF"),
        ("%", DOUBLE, INT, "argument 1 is DOUBLE"),
        ("*", DAYS, dec(3, 1), "is not defined"),
        ("=", INT, t.STRING, "equality"),
        ("=", t.Boolean(), t.STRING, "cast one of them"),
        ("<", DATE, STAMP, "cast one of them"),
        ("<", t.Array(INT), t.Array(INT), "cannot be ordered"),
        ("||", t.STRING, INT, "argument 2 is INT"),
    ],
    ids=str,
)
def test_what_flink_refuses_is_refused_with_a_reason(operator, left, right, says):
    with pytest.raises(SignatureMismatch, match=says):
        resolve(operator, left, right)


def test_a_string_next_to_a_time_or_a_number_is_converted_to_it():
    assert resolve("<", DATE, t.STRING).parameters == (DATE, DATE)
    assert resolve(">=", t.Char(3), INT).parameters == (INT, INT)
    assert resolve("IN", INT, t.STRING, t.STRING).parameters == (INT, INT, INT)
    assert resolve("BETWEEN", DATE, t.STRING, t.STRING).parameters == (DATE, DATE, DATE)


def test_division_by_a_known_divisor_needs_no_check():
    assert write("/", ("`a`", INT), ("2", INT, 2)) == "CAST((`a` div 2) AS INT)"
    assert "raise_error" in write("/", ("`a`", INT), ("`b`", INT))
    assert "raise_error" in write("%", ("`a`", INT), ("0", INT, 0))


def test_concatenation_adds_lengths():
    assert result("||", t.Char(2), t.Char(3)) == t.Char(5)
    assert result("||", t.VarChar(2), t.Char(3)) == t.VarChar(5)
    assert result("||", t.STRING, t.Char(3)) == t.STRING


def test_like_without_escape_takes_a_backslash_for_itself():
    written = write("LIKE", ("`x`", t.STRING), ("p", t.Char(4), "a\\_%"))

    assert "ESCAPE '\\'" not in written
    assert written.endswith("ESCAPE '\ue000')")


@pytest.mark.parametrize("escape", ["'", "\\"])
def test_any_escape_character_may_be_chosen(escape):
    written = write("LIKE", ("`x`", t.STRING), ("`y`", t.STRING), ("e", t.Char(1), escape))

    assert written.endswith({"'": 'ESCAPE "\'")', "\\": "ESCAPE r'\\')"}[escape])


def test_an_escape_character_must_precede_what_it_escapes():
    with pytest.raises(SignatureMismatch, match="must be followed by"):
        write("LIKE", ("`x`", t.STRING), ("p", t.Char(4), "a!bc"), ("e", t.Char(1), "!"))


@pytest.mark.parametrize(
    ("pattern", "problem"), [("a[b", "unclosed"), ("(a", "not a SIMILAR TO pattern")]
)
def test_a_broken_similar_pattern_is_refused_while_planning(pattern, problem):
    with pytest.raises(SignatureMismatch, match=problem):
        write("SIMILAR TO", ("`x`", t.STRING), ("p", t.Char(4), pattern))


def test_similar_to_wants_a_literal():
    with pytest.raises(SignatureMismatch, match="literal"):
        write("SIMILAR TO", ("`x`", t.STRING), ("`y`", t.STRING))


@pytest.mark.parametrize("index", [0, -1])
def test_elements_are_counted_from_one(index):
    with pytest.raises(SignatureMismatch, match="at 1"):
        write("ITEM", ("`a`", t.Array(INT)), (str(index), INT, index))


def test_an_array_is_indexed_by_int_and_a_map_by_its_keys():
    with pytest.raises(SignatureMismatch, match="BIGINT"):
        resolve("ITEM", t.Array(INT), BIGINT)
    assert resolve("ITEM", t.Map(BIGINT, t.STRING), INT).parameters[1] == BIGINT
    assert write("ITEM", ("`a`", t.Array(INT)), ("3", INT, 3)) == "get(`a`, 2)"


def test_constructors_name_and_unite_their_parts():
    row = result("ROW", t.Int(nullable=False), t.Char(1))

    assert str(row) == "ROW<`EXPR$0` INT NOT NULL, `EXPR$1` CHAR(1)> NOT NULL"
    assert result("ARRAY", INT, dec(2, 1)) == t.Array(dec(11, 1), nullable=False)
    assert resolve("MAP", t.Char(1), INT, t.Char(2), BIGINT).parameters == (
        t.VarChar(2),
        BIGINT,
        t.VarChar(2),
        BIGINT,
    )
    with pytest.raises(SignatureMismatch, match="has none"):
        resolve("MAP", t.Char(1), INT, t.Char(1))


def test_of_equal_keys_of_a_map_the_last_one_counts():
    written = write("MAP", ("'k'", t.Char(1)), ("1", INT), ("'k'", t.Char(1)), ("2", INT))

    assert written == "map('k', 2)"


def test_an_instant_moves_on_the_utc_clock_where_the_zone_shifts():
    arguments = ("`l`", LTZ), ("i", DAYS)

    assert write("+", *arguments, zone="+08:00") == "(`l` + i)"
    assert "timestamp_micros" in write("+", *arguments, zone="America/Los_Angeles")


def test_periods_of_different_kinds_do_not_overlap():
    with pytest.raises(SignatureMismatch, match="cannot be compared"):
        resolve("OVERLAPS", DATE, DATE, TIME, TIME)
    with pytest.raises(SignatureMismatch, match="cannot end"):
        resolve("OVERLAPS", DATE, TIME, DATE, DATE)
