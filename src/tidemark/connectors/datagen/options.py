"""The options of the datagen connector."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from tidemark import types as t
from tidemark.catalog.tables import Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.datagen.sizes import bounds, fits
from tidemark.connectors.made_rows import SEED, physical
from tidemark.connectors.options import option_error
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import did_you_mean

OPTIONS = (
    OptionSpec("rows-per-second", "long", 10_000, summary="the rate of an unbounded table"),
    OptionSpec(
        "number-of-rows", "long", summary="the number of rows; without it the table is unbounded"
    ),
    OptionSpec("scan.parallelism", "int", summary="accepted without effect"),
    SEED,
    OptionSpec(
        "fields.#.kind", "enum", choices=("random", "sequence"), summary="how values are generated"
    ),
    OptionSpec("fields.#.min", summary="the minimum random value"),
    OptionSpec("fields.#.max", summary="the maximum random value"),
    OptionSpec("fields.#.start", summary="the first value of a sequence"),
    OptionSpec("fields.#.end", summary="the last value of a sequence"),
    OptionSpec("fields.#.length", "int", summary="the length of a string or collection"),
    OptionSpec("fields.#.max-past", "duration", summary="how far back random times go"),
    OptionSpec("fields.#.var-len", "boolean", summary="strings of random length up to `length`"),
    OptionSpec("fields.#.null-rate", "double", summary="the fraction of NULLs, from 0 to 1"),
)

_COUNTED = (*t.INTEGERS, t.Float, t.Double, t.Decimal, *t.CHARACTERS)


def check(table: Table, options: Mapping[str, Any]) -> None:
    allowed = dict(_allowed(table))
    for key in options:
        if key.startswith("fields."):
            _check_field_option(table, key, options, allowed)
    if (options["number-of-rows"] or 0) < 0:
        raise option_error(table, "number-of-rows", "'number-of-rows' cannot be negative")
    if options["rows-per-second"] < 1:
        raise option_error(table, "rows-per-second", "'rows-per-second' must be greater than zero")
    for column in physical(table):
        if is_sequence(column.name, options):
            _check_sequence(table, column, options)
        else:
            _check_bounds(table, f"fields.{column.name}", column.type, options)


def _allowed(table: Table) -> Iterator[tuple[str, t.DataType]]:
    """The field options that the table's columns can have."""
    for column in physical(table):
        path = f"fields.{column.name}"
        yield f"{path}.kind", column.type
        if isinstance(column.type, _COUNTED):
            yield f"{path}.start", column.type
            yield f"{path}.end", column.type
        yield from _allowed_random(path, column.type)


def _allowed_random(path: str, type_: t.DataType) -> Iterator[tuple[str, t.DataType]]:
    yield f"{path}.null-rate", type_
    match type_:
        case _ if isinstance(type_, t.NUMERICS):
            yield f"{path}.min", type_
            yield f"{path}.max", type_
        case t.Char() | t.Binary() | t.VarChar() | t.VarBinary():
            yield f"{path}.length", type_
            yield f"{path}.var-len", type_
        case t.Timestamp() | t.TimestampLtz():
            yield f"{path}.max-past", type_
        case t.Array(element=element) | t.Multiset(element=element):
            yield f"{path}.length", type_
            yield from _allowed_random(f"{path}.element", element)
        case t.Map(key=key, value=value):
            yield f"{path}.length", type_
            yield from _allowed_random(f"{path}.key", key)
            yield from _allowed_random(f"{path}.value", value)
        case t.Row(fields=fields):
            for field in fields:
                yield from _allowed_random(f"{path}.{field.name}", field.type)


def _check_field_option(
    table: Table, key: str, options: Mapping[str, Any], allowed: Mapping[str, t.DataType]
) -> None:
    type_ = allowed.get(key)
    if type_ is None:
        raise option_error(
            table,
            key,
            f"option '{key}' does not match any column of `{table.name}`",
            hint=did_you_mean(key, allowed),
        )
    what = key.rpartition(".")[2]
    if what in ("min", "max", "start", "end"):
        _check_number(table, key, options[key], type_)
    if what == "null-rate" and not 0 <= options[key] <= 1:
        raise option_error(table, key, f"option '{key}' must be between 0 and 1")
    if what in ("length", "var-len"):
        _check_length(table, key, options[key], type_)


def _check_number(table: Table, key: str, text: str, type_: t.DataType) -> None:
    whole = not isinstance(type_, t.Float | t.Double | t.Decimal)
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or (whole and number != int(number)):
        kind = "an integer" if whole else "a number"
        raise option_error(
            table, key, f"invalid value '{text}' for option '{key}': expected {kind}"
        )
    if not fits(number, type_):
        raise option_error(table, key, f"{text} does not fit {type_.text()}")


def _check_length(table: Table, key: str, value: Any, type_: t.DataType) -> None:
    if isinstance(type_, t.Char | t.Binary):
        raise option_error(table, key, f"{type_.text()} has a fixed length; '{key}' cannot be set")
    declared = getattr(type_, "length", None)
    if value < 0 or (declared is not None and value > declared):
        raise option_error(
            table, key, f"invalid value {value} for option '{key}': the column is {type_.text()}"
        )


def _check_sequence(table: Table, column: PhysicalColumn, options: Mapping[str, Any]) -> None:
    path = f"fields.{column.name}"
    if not isinstance(column.type, _COUNTED):
        raise option_error(
            table, f"{path}.kind", f"a sequence is not supported for type {column.type.text()}"
        )
    for end in ("start", "end"):
        if options.get(f"{path}.{end}") is None:
            raise option_error(
                table,
                f"{path}.kind",
                f"a sequence requires option '{path}.{end}'",
                hint="add the option",
            )
    if Decimal(options[f"{path}.start"]) > Decimal(options[f"{path}.end"]):
        raise option_error(table, f"{path}.end", "the end of the sequence is less than its start")


def _check_bounds(table: Table, path: str, type_: t.DataType, options: Mapping[str, Any]) -> None:
    match type_:
        case _ if isinstance(type_, t.NUMERICS):
            low, high = bounds(type_, path, options)
            if low > high:
                key = f"{path}.max" if f"{path}.max" in options else f"{path}.min"
                raise option_error(
                    table, key, f"there is no {type_.text()} between {low} and {high}"
                )
        case t.Array(element=element) | t.Multiset(element=element):
            _check_bounds(table, f"{path}.element", element, options)
        case t.Map(key=key_type, value=value):
            _check_bounds(table, f"{path}.key", key_type, options)
            _check_bounds(table, f"{path}.value", value, options)
        case t.Row(fields=fields):
            for field in fields:
                _check_bounds(table, f"{path}.{field.name}", field.type, options)


def is_sequence(column: str, options: Mapping[str, Any]) -> bool:
    return options.get(f"fields.{column}.kind") == "sequence"
