"""The options of the faker connector."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tidemark import types as t
from tidemark.catalog.tables import Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.faker.expressions import BadExpression
from tidemark.connectors.faker.functions import checked
from tidemark.connectors.made_rows import SEED, physical
from tidemark.connectors.options import option_error
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import OptionError, did_you_mean

UNBOUNDED: Final = -1

OPTIONS: Final = (
    OptionSpec("rows-per-second", "long", 10_000, summary="the rate of an unbounded table"),
    OptionSpec(
        "number-of-rows", "long", UNBOUNDED, summary="the number of rows; -1 means unbounded"
    ),
    OptionSpec("fields.#.expression", summary="the Datafaker expression that generates the values"),
    OptionSpec("fields.#.null-rate", "double", summary="the fraction of NULLs, from 0 to 1"),
    OptionSpec(
        "fields.#.length", "int", summary="the number of elements of a collection; by default 1"
    ),
    SEED,
)

_COLLECTIONS: Final = (t.Array, t.Map, t.Multiset)


def expressions(path: str, type_: t.DataType) -> Iterator[str]:
    """The options with the expressions of a column."""
    match type_:
        case t.Map():
            yield f"{path}.key.expression"
            yield f"{path}.value.expression"
        case t.Row(fields=fields):
            for field in fields:
                yield from expressions(f"{path}.{field.name}", field.type)
        case _:
            yield f"{path}.expression"


def check(table: Table, options: Mapping[str, Any]) -> None:
    if options["number-of-rows"] < UNBOUNDED:
        raise option_error(table, "number-of-rows", "'number-of-rows' cannot be negative")
    if options["rows-per-second"] < 1:
        raise option_error(table, "rows-per-second", "'rows-per-second' must be greater than zero")
    _check_names(table, options)
    for column in physical(table):
        _check_column(table, column, options)


def _check_names(table: Table, options: Mapping[str, Any]) -> None:
    """Options of computed columns have no effect, as in Flink; those of no column are mistakes."""
    allowed = {
        f"fields.{column.name}.{what}"
        for column in table.columns
        for what in ("expression", "null-rate", "length")
    }
    for column in physical(table):
        allowed.update(expressions(f"fields.{column.name}", column.type))
    for key in options:
        if key.startswith("fields.") and key not in allowed:
            raise option_error(
                table,
                key,
                f"option '{key}' does not match any column of `{table.name}`",
                hint=did_you_mean(key, allowed),
            )


def _check_column(table: Table, column: PhysicalColumn, options: Mapping[str, Any]) -> None:
    path = f"fields.{column.name}"
    for key in expressions(path, column.type):
        if options.get(key) is None:
            raise OptionError(
                f"column `{column.name}` of `{table.name}` has no expression",
                source=table.source,
                notes={"same in Flink": "each column needs one"},
                hint=f"add '{key}' = '#{{...}}'",
            )
        try:
            checked(options[key])
        except BadExpression as problem:
            raise option_error(
                table, key, f"invalid expression: {problem}", hint=problem.hint
            ) from None
    rate, length = options.get(f"{path}.null-rate"), options.get(f"{path}.length")
    if rate is not None and not 0 <= rate <= 1:
        raise option_error(table, f"{path}.null-rate", "the null rate must be between 0 and 1")
    if length is None:
        return
    if not isinstance(column.type, _COLLECTIONS) and length != 1:
        raise option_error(
            table, f"{path}.length", f"{column.type.text()} is not a collection and has no length"
        )
    if length < 1:
        raise option_error(table, f"{path}.length", "the length must be greater than zero")
