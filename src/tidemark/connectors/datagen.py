"""The datagen connector: rows out of nothing, random or counting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.catalog.tables import Table, TableTraits
from tidemark.connectors.base import Connector, OptionSpec, ReadRequest
from tidemark.connectors.options import option_error
from tidemark.connectors.random_values import NOW, ROW, Place, bounds, random_value
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import PlanError, did_you_mean
from tidemark.functions import spark_text
from tidemark.functions.spark_text import spark_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Our own; Flink has nothing like it.
SEED = "tidemark.seed"

OPTIONS = (
    OptionSpec("rows-per-second", "long", 10_000, summary="the rate of an unbounded table"),
    OptionSpec(
        "number-of-rows", "long", summary="the number of rows; without it the table is unbounded"
    ),
    OptionSpec("scan.parallelism", "int", summary="accepted without effect"),
    OptionSpec(SEED, summary="makes random values the same in each run; they differ by default"),
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

# More rows are made by several tasks at once; then only the rows of each task have an order.
_IN_ORDER = 100_000
_COUNTED = (*t.INTEGERS, t.Float, t.Double, t.Decimal, *t.CHARACTERS)


# --- options -----------------------------------------------------------------------------------


def check(table: Table, options: Mapping[str, Any]) -> None:
    allowed = dict(_allowed(table))
    for key in options:
        if key.startswith("fields."):
            _check_field_option(table, key, options, allowed)
    if (options["number-of-rows"] or 0) < 0:
        raise option_error(table, "number-of-rows", "'number-of-rows' cannot be negative")
    if options["rows-per-second"] < 1:
        raise option_error(table, "rows-per-second", "'rows-per-second' must be greater than zero")
    for column in _physical(table):
        if _is_sequence(column.name, options):
            _check_sequence(table, column, options)
        else:
            _check_bounds(table, f"fields.{column.name}", column.type, options)


def _allowed(table: Table) -> Iterator[tuple[str, t.DataType]]:
    """The field options that the table's columns can have."""
    for column in _physical(table):
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


def _physical(table: Table) -> list[PhysicalColumn]:
    return [column for column in table.columns if isinstance(column, PhysicalColumn)]


def _is_sequence(column: str, options: Mapping[str, Any]) -> bool:
    return options.get(f"fields.{column}.kind") == "sequence"


# --- rows --------------------------------------------------------------------------------------


def traits(table: Table, options: Mapping[str, Any]) -> TableTraits:
    return TableTraits(bounded=_count(table, options) is not None, readable=True)


def _count(table: Table, options: Mapping[str, Any]) -> int | None:
    """How many rows there are: the shortest sequence ends the table."""
    counts = [
        int(Decimal(options[f"fields.{c.name}.end"]) - Decimal(options[f"fields.{c.name}.start"]))
        + 1
        for c in _physical(table)
        if _is_sequence(c.name, options)
    ]
    if options["number-of-rows"] is not None:
        counts.append(options["number-of-rows"])
    return min(counts, default=None)


def read(request: ReadRequest) -> DataFrame:
    columns = [
        f"{_column(column.name, type_, request)} AS {spark_text.name(name)}"
        for column, name, type_ in zip(
            _physical(request.table), request.columns, request.types, strict=True
        )
    ]
    return _numbered(request).selectExpr(*columns)


def _column(name: str, type_: t.DataType, request: ReadRequest) -> str:
    if not _is_sequence(name, request.options):
        place = Place(f"fields.{name}", _seed(request))
        return random_value(type_, place, request.options, request.zone)
    start = Decimal(request.options[f"fields.{name}.start"])
    number = f"{ROW} + {start}{'L' if start == int(start) else 'BD'}"
    return f"CAST({number} AS {spark_type(type_)})"


def _seed(request: ReadRequest) -> str:
    """Another one for each table, and for each job unless the user has chosen one."""
    chosen = request.options[SEED]
    return f"{request.start.seed if chosen is None else chosen} {request.table.identifier}"


def _numbered(request: ReadRequest) -> DataFrame:
    """Rows that have a number and a time, as a stream or as a batch."""
    count = _count(request.table, request.options)
    if request.streaming:
        return _stream(request, count).selectExpr(f"value AS {ROW}", f"timestamp AS {NOW}")
    if count is None:
        raise PlanError(
            f"`{request.table.name}` is unbounded and cannot be read in batch mode",
            source=request.table.source,
            hint="set 'number-of-rows'",
        )
    rows = request.spark.range(0, count, 1, _tasks(count))
    return rows.selectExpr(f"id AS {ROW}", f"current_timestamp() AS {NOW}")


def _stream(request: ReadRequest, count: int | None) -> DataFrame:
    reader = request.spark.readStream
    speed = request.options["rows-per-second"]
    if count is None:
        tasks = _tasks(speed)
        rate = reader.format("rate").option("rowsPerSecond", speed)
        return (rate if tasks is None else rate.option("numPartitions", tasks)).load()
    # All rows in the first batch, which under the trigger of bounded jobs is also the last.
    batch = reader.format("rate-micro-batch").option("rowsPerBatch", max(count, 1))
    tasks = _tasks(count)
    batch = batch if tasks is None else batch.option("numPartitions", tasks)
    return batch.option("startTimestamp", request.start.at_ms).load().where(f"value < {count}")


def _tasks(rows: int) -> int | None:
    """One task where that is quick: its rows have an order. None leaves it to Spark."""
    return 1 if rows <= _IN_ORDER else None


DATAGEN = Connector(
    name="datagen",
    options=OPTIONS,
    summary="generates random or sequential rows",
    traits=traits,
    read=read,
    check=check,
)
