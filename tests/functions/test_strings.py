"""How text functions are written for Spark, where Spark alone would answer otherwise."""

import pytest

from tidemark import functions
from tidemark import types as t
from tidemark.functions.registry import UNKNOWN, Argument, SignatureMismatch, SparkCall

COLUMN = object()


def call(name: str, *values: object) -> SparkCall:
    """A call over columns `a`, `b`, ... of type STRING where a value is COLUMN, else a literal."""
    arguments = tuple(
        Argument(t.Int() if isinstance(v, int) else t.STRING, UNKNOWN if v is COLUMN else v)
        for v in values
    )
    texts = tuple("abc"[n] if v is COLUMN else repr(v) for n, v in enumerate(values))
    return SparkCall(texts, arguments, functions.BUILT_IN[name].resolve(arguments).result, "UTC")


def written(name: str, *values: object) -> str:
    return functions.BUILT_IN[name].write(call(name, *values))


def result(name: str, *types: t.DataType) -> str:
    return str(functions.BUILT_IN[name].resolve([Argument(type_) for type_ in types]).result)


@pytest.mark.parametrize(
    ("name", "values", "text"),
    [
        ("SUBSTRING", (COLUMN, 2), "substring(a, 2)"),
        ("SUBSTRING", (COLUMN, 2, 3), "substring(a, 2, 3)"),
        ("LPAD", (COLUMN, 5, "0"), "lpad(a, 5, '0')"),
        ("REPLACE", (COLUMN, "x", "y"), "replace(a, 'x', 'y')"),
        ("POSITION", ("x", COLUMN), "locate('x', b)"),
        ("INSTR", (COLUMN, "x"), "locate('x', a)"),
    ],
)
def test_ordinary_literals_become_ordinary_spark_literals(name, values, text):
    assert written(name, *values) == text


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("SUBSTRING", (COLUMN, -2)),
        ("SUBSTRING", (COLUMN, 1, -1)),
        ("LPAD", (COLUMN, -1, "0")),
        ("LPAD", (COLUMN, 5, "")),
        ("REPLACE", (COLUMN, "", "y")),
        ("INSTR", (COLUMN, "x", -1)),
    ],
)
def test_literals_that_spark_reads_otherwise_are_guarded(name, values):
    assert written(name, *values).startswith("CASE ")


@pytest.mark.parametrize(
    ("name", "literals", "type_"),
    [
        ("LPAD", (5, "0"), "STRING NOT NULL"),
        ("RPAD", (-1, "0"), "STRING"),
        ("RPAD", (5, ""), "STRING"),
        ("LPAD", (5, UNKNOWN), "STRING"),
        ("REGEXP_REPLACE", ("a", "b"), "STRING NOT NULL"),
        ("REGEXP_REPLACE", ("(", "b"), "STRING"),
        ("REGEXP_REPLACE", ("a", "$1"), "STRING"),
    ],
)
def test_what_may_be_null_for_other_reasons_than_its_arguments(name, literals, type_):
    known = t.STRING.with_nullable(False)
    number = t.Int(nullable=False)
    values = [Argument(number if isinstance(v, int) else known, v) for v in literals]

    resolved = functions.BUILT_IN[name].resolve([Argument(known), *values])
    assert str(resolved.result) == type_


def test_an_operand_is_not_repeated_beyond_measure():
    writers = {f.name: f for table in functions.TABLES for f in table if f.category == "string"}
    for name in ("SUBSTRING", "LPAD", "SPLIT_INDEX", "INITCAP", "REGEXP_EXTRACT", "TRANSLATE"):
        values = [COLUMN] + [
            COLUMN if p.family == "string" else 1 for p in writers[name].signatures[0][1:]
        ]
        assert written(name, *values).replace("array", "").count("(a") <= 3


def test_a_separator_is_not_a_pattern():
    assert written("SPLIT_INDEX", COLUMN, ".", 0).count("2E") == 1  # an escaped dot, as hex


@pytest.mark.parametrize(
    ("name", "types", "expected"),
    [
        ("UPPER", [t.Char(3)], "CHAR(3)"),
        ("LOWER", [t.VarChar(5, nullable=False)], "VARCHAR(5) NOT NULL"),
        ("TRIM", [t.Char(3, nullable=False)], "VARCHAR(3) NOT NULL"),
        ("SUBSTRING", [t.Char(3, nullable=False), t.Int(nullable=False)], "VARCHAR(3)"),
        ("CONCAT", [t.Char(1, nullable=False), t.Char(2, nullable=False)], "STRING NOT NULL"),
        ("CONCAT_WS", [t.Char(1, nullable=False), t.STRING], "STRING"),
        (
            "CONCAT_WS",
            [t.Char(1, nullable=False), t.STRING.with_nullable(False)],
            "STRING NOT NULL",
        ),
        ("MD5", [t.STRING], "CHAR(32)"),
        ("ELT", [t.Int(), t.Char(1), t.Char(3)], "VARCHAR(3)"),
        ("STR_TO_MAP", [t.STRING], "MAP<STRING, STRING>"),
        ("OVERLAY", [t.Char(3), t.Char(1), t.Int()], "VARCHAR(4)"),
    ],
)
def test_results_have_the_types_that_flink_gives_them(name, types, expected):
    assert result(name, *types) == expected


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (("%d", COLUMN), "%d cannot format STRING"),
        (("%s %s", COLUMN), "refers to argument 2"),
        (("%3$s", COLUMN), "refers to argument 3"),
        (("%q", COLUMN), "%q cannot format"),
        (("50%", COLUMN), "write %% for a percent sign"),
    ],
)
def test_a_format_that_does_not_fit_its_values_is_refused(values, reason):
    with pytest.raises(SignatureMismatch, match=reason.replace("$", r"\$")):
        call("PRINTF", *values)


def test_a_format_that_fits_is_not():
    assert written("PRINTF", "%05d|%2$s%%%n", 7, COLUMN).startswith("format_string(")


def test_elt_counts_from_one():
    with pytest.raises(SignatureMismatch, match="not -1"):
        call("ELT", -1, COLUMN)
