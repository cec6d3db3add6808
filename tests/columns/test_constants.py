"""An expression over a constant gives what it gives over a column of that constant: Polars repeats
a constant for each row in most places, but not in all.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from tests.columns.computing import computed
from tests.columns.edge_values import THEMES, columns
from tidemark.columns import NotInColumns
from tidemark.errors import DataError

ROWS = slice(5, 25, 3)
# A constant of each column, as SQL and as a value.
CONSTANTS: dict[str, tuple[str, Any]] = {
    "BOOLEAN": ("TRUE", True),
    "INT": ("7", 7),
    "BIGINT": ("CAST(3 AS BIGINT)", 3),
    "DOUBLE": ("CAST(0.1 AS DOUBLE)", 0.1),
    "DECIMAL(10, 2)": ("CAST(1.25 AS DECIMAL(10, 2))", Decimal("1.25")),
    "TIMESTAMP(3)": ("TIMESTAMP '2024-02-29 23:59:59'", datetime(2024, 2, 29, 23, 59, 59)),
    "DATE": ("DATE '2024-02-29'", date(2024, 2, 29)),
    "STRING": ("'aB c'", "aB c"),
    "VARCHAR(300)": ("""'{"a": "x", "b": null}'""", '{"a": "x", "b": null}'),
    "ARRAY<INT>": ("ARRAY[1, 7, 1]", [1, 7, 1]),
    "ARRAY<STRING>": ("ARRAY[CAST('b' AS STRING), 'a']", ["b", "a"]),
}


def several(used: list[str], expression: str) -> bool:
    return len([name for name in used if re.search(rf"\b{name}\b", expression)]) > 1


def cases() -> list[tuple[str, str]]:
    """Each column that has a constant, with each expression that uses it and another one."""
    named = dict(declared.split(" ", 1) for declared in columns())
    return [
        (name, expression)
        for name, type_ in named.items()
        if type_ in CONSTANTS
        for theme in THEMES.values()
        for expression in theme
        if re.search(rf"\b{name}\b", expression) and several(list(named), expression)
    ]


def outcome(expression: str, rows: dict[str, list[Any]]) -> pl.Series | Exception:
    try:
        return computed([expression], rows).to_series()
    except Exception as error:
        return error


@pytest.mark.parametrize("name", sorted({name for name, _ in cases()}))
def test_a_constant_is_a_column_of_that_constant(name):
    some = {declared: list(values)[ROWS] for declared, values in columns().items()}
    (declared,) = (each for each in some if each.startswith(f"{name} "))
    sql, value = CONSTANTS[declared.split(" ", 1)[1]]
    repeated = some | {declared: [value] * len(some[declared])}
    compared, wrong = 0, {}
    for expression in (expression for column, expression in cases() if column == name):
        constant = re.sub(rf"\b{name}\b", lambda _: sql, expression)
        wanted = outcome(expression, repeated)
        if isinstance(wanted, NotInColumns | DataError):
            continue
        ours = outcome(constant, some)
        if isinstance(ours, NotInColumns):
            continue
        compared += 1
        if isinstance(ours, Exception) or not ours.equals(wanted, null_equal=True):
            wrong[constant] = (ours, wanted)

    assert compared
    assert not wrong
