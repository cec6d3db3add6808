"""Conditions that the database tests before it sends rows.

They are tested again here: whatever a database might see in another way is not among them. That
leaves comparisons of integers, and of strings for equality, where a database may find more strings
equal than SQL does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from tidemark import types as t
from tidemark.connectors.jdbc.contract import Described, Dialect
from tidemark.plan.expressions import Call, Expression, Literal, Ref

# SQL in pieces: whether each is a column, and its name or what it is.
Pushed: TypeAlias = tuple[tuple[bool, str], ...]

_INTEGERS: Final = (t.TinyInt, t.SmallInt, t.Int, t.BigInt)
_TURNED: Final = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
# The types of PostgreSQL, MySQL and SQLite in which values are surely those that are read.
_STORED_INTEGERS: Final = frozenset(
    {"int2", "int4", "int8", "tinyint", "smallint", "mediumint", "int", "bigint", "INTEGER"}
)
_STORED_STRINGS: Final = frozenset(
    {"text", "varchar", "tinytext", "mediumtext", "longtext", "TEXT"}
)
_PLAIN: Final = r"[ !-$&-\[\]-~]*"  # ASCII without `%` and backslashes


def pushed(conditions: Iterable[Expression]) -> tuple[Pushed, ...]:
    """Those of the conditions that a database can test."""
    return tuple(found for found in map(_pushed, conditions) if found is not None)


def clause(
    conditions: Iterable[Pushed],
    types: Mapping[str, t.DataType],
    table: Described,
    dialect: Dialect,
) -> str | None:
    """The conditions on columns that the database stores in a type that fits."""
    found = [
        "".join(_written(text, table, dialect) if is_column else text for is_column, text in each)
        for each in conditions
        if all(_fits(text, types, table) for is_column, text in each if is_column)
    ]
    return " AND ".join(f"({each})" for each in found) or None


def _written(column: str, table: Described, dialect: Dialect) -> str:
    return f"own.{dialect.quoted(table.column(column, table.name).name)}"


def _fits(column: str, types: Mapping[str, t.DataType], table: Described) -> bool:
    stored = table.column(column, table.name).type.removesuffix(" unsigned")
    is_integer = isinstance(types[column], _INTEGERS)
    return stored in (_STORED_INTEGERS if is_integer else _STORED_STRINGS)


def _pushed(condition: Expression) -> Pushed | None:
    if not isinstance(condition, Call):
        return None
    args = condition.args
    match condition.function.name:
        case "AND" | "OR" as name:
            return _joined(name, map(_pushed, args))
        case "BETWEEN" if len(args) == 3:
            return _joined("AND", (_compared(">=", *args[:2]), _compared("<=", args[0], args[2])))
        case "IN":
            return _joined("OR", (_compared("=", args[0], each) for each in args[1:]))
        case name if name in _TURNED and len(args) == 2:
            left, right = args
            if isinstance(right, Ref):
                return _compared(_TURNED[name], right, left)
            return _compared(name, left, right)
    return None


def _joined(
    name: str, conditions: Iterator[Pushed | None] | tuple[Pushed | None, ...]
) -> Pushed | None:
    found: list[tuple[bool, str]] = []
    for each in conditions:
        if each is None:
            return None
        found += [(False, f" {name} " if found else ""), (False, "("), *each, (False, ")")]
    return tuple(found)


def _compared(name: str, column: Expression, value: Expression) -> Pushed | None:
    if not isinstance(column, Ref) or not isinstance(value, Literal) or value.value is None:
        return None
    if isinstance(column.type, _INTEGERS) and isinstance(value.type, _INTEGERS):
        return (True, column.name), (False, f" {name} {int(value.value)}")
    strings = isinstance(column.type, t.VarChar) and isinstance(value.type, t.CHARACTERS)
    if strings and name == "=" and re.fullmatch(_PLAIN, value.value):
        quoted = value.value.replace("'", "''")
        return (True, column.name), (False, f" = '{quoted}'")
    return None
