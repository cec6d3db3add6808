"""PyFlink's `Expression`: a part of a query of the Table API, which can write itself as SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from tidemark import types as t
from tidemark.dialect import quoted_name
from tidemark.errors import NotSupported, TidemarkError
from tidemark.pyflink.api.table.types import DataType, sql_of
from tidemark.pyflink.api.table.udf import Declared
from tidemark.pyflink_programs.table.function_names import (
    AGGREGATES,
    METHODS,
    NOT_SUPPORTED,
    OF_WINDOWS,
    OTHER_UNITS,
    PROPERTIES,
    TESTS,
    UNITS,
)
from tidemark.pyflink_programs.table.json_options import (
    JsonExistsOnError,
    JsonOnNull,
    JsonQueryOnEmptyOrError,
    JsonQueryWrapper,
    JsonType,
    JsonValueOnEmptyOrError,
)
from tidemark.pyflink_programs.table.literals import interval, literal
from tidemark.pyflink_programs.table.sql_runner import SqlRunner


class TimeIntervalUnit(Enum):
    """Units of `extract`, `floor` and `ceil`."""

    YEAR = "YEAR"
    QUARTER = "QUARTER"
    MONTH = "MONTH"
    WEEK = "WEEK"
    DAY = "DAY"
    HOUR = "HOUR"
    MINUTE = "MINUTE"
    SECOND = "SECOND"


class TimePointUnit(Enum):
    """Units of `timestamp_diff`."""

    YEAR = "YEAR"
    QUARTER = "QUARTER"
    MONTH = "MONTH"
    WEEK = "WEEK"
    DAY = "DAY"
    HOUR = "HOUR"
    MINUTE = "MINUTE"
    SECOND = "SECOND"


class WindowTexts(Protocol):
    """A group window, as its functions are called."""

    def text(self, suffix: str) -> str: ...


@dataclass(frozen=True)
class Writing:
    """What expressions need to write themselves: a place for functions, the columns of the table,
    windows by alias, and the types of what is written."""

    runner: SqlRunner | None = None
    columns: Mapping[str, t.DataType] = field(default_factory=dict)
    windows: Mapping[str, WindowTexts] = field(default_factory=dict)
    overs: Mapping[str, str] = field(default_factory=dict)
    types: Callable[[str], t.DataType] | None = None

    def type_of(self, written: str) -> t.DataType | None:
        """The type of an expression in SQL; None if it is unknown here."""
        for name, type_ in self.columns.items():
            if written == quoted_name(name):
                return type_
        try:
            return None if self.types is None else self.types(written)
        except TidemarkError:
            # It is reported where the expression is used.
            return None

    def aggregates(self, function: str) -> bool:
        """Whether the name is one of an aggregate function."""
        if function.upper() in AGGREGATES.values():
            return True
        return self.runner is not None and self.runner.aggregates(function)

    def function(self, declared: Declared) -> str:
        if self.runner is None:
            raise TidemarkError("a Python function cannot be called in a declaration")
        return self.runner.function(declared)


Write = Callable[[Writing], str]
# Some of the columns of a table.
Choose = Callable[[Sequence[str]], Sequence[str]]
# Whether an expression is known to be a string, by what is known about the columns; None if only
# its type can answer that.
IsString = Callable[[Writing], bool | None]


class Expression:
    """A part of a query. `aliases` are the names of the columns that it becomes. With `choose`, it
    stands for several columns, and if it `flattens` another one, for the fields of that.
    """

    def __init__(
        self,
        write: Write,
        *,
        column: str | None = None,
        value: Any = None,
        aggregate: tuple[str, tuple[Expression, ...]] | None = None,
        aliases: tuple[str, ...] = (),
        order: str = "",
        counted: bool = False,
        choose: Choose | None = None,
        flattens: Expression | None = None,
        parts: tuple[Expression, ...] | None = None,
        function: str | None = None,
        name: str | None = None,
        is_string: IsString | None = None,
    ) -> None:
        self._write = write
        self._column = column
        self._value = value
        self._aggregate = aggregate
        self._aliases = aliases
        self._order = order
        self._choose = choose
        self._flattens = flattens
        # What is called by its name.
        self._function = function
        # Those of a row that is written as one.
        self._parts = parts
        # What a column with it is called that has no alias.
        self._name = column if name is None else name
        known = None if value is None else isinstance(value, str)
        self._is_string = is_string or (lambda _: known)
        # Whether Flink numbers it with the aggregates of a SELECT.
        self._counted = counted or aggregate is not None

    def __str__(self) -> str:
        return self._write(Writing())

    def _appends(self, writing: Writing) -> bool:
        """Whether it is a string, so that `+` appends to it."""
        known = self._is_string(writing)
        if known is None:
            return isinstance(writing.type_of(self._write(writing)), t.Char | t.VarChar)
        return known

    def _as(self, *, aliases: tuple[str, ...] | None = None, order: str = "") -> Expression:
        return Expression(
            self._write,
            column=self._column,
            value=self._value,
            aggregate=self._aggregate,
            aliases=self._aliases if aliases is None else aliases,
            order=order or self._order,
            counted=self._counted,
            choose=self._choose,
            flattens=self._flattens,
            parts=self._parts,
            function=self._function,
            name=self._name,
            is_string=self._is_string,
        )

    # --- names ---------------------------------------------------------------------------------

    def alias(self, name: str, *extra_names: str) -> Expression:
        return self._as(aliases=(name, *extra_names))

    @property
    def asc(self) -> Expression:
        """NULL is the greatest value in the Table API, unlike in SQL."""
        return self._as(order="ASC NULLS LAST")

    @property
    def desc(self) -> Expression:
        return self._as(order="DESC NULLS FIRST")

    # --- functions with a spelling of their own -------------------------------------------------

    @property
    def distinct(self) -> Expression:
        if self._aggregate is None:
            raise TypeError("distinct follows an aggregate: col('a').count.distinct")
        name, arguments = self._aggregate
        return Expression(lambda w: f"{name}(DISTINCT {listed(arguments, w)})", counted=True)

    @property
    def sum0(self) -> Expression:
        return Expression(called("COALESCE", self.sum, 0)._write, counted=True)

    def list_agg(self, separator: Any = None) -> Expression:
        return aggregate("LISTAGG", self, *(() if separator is None else (separator,)))

    def percentile(self, *arguments: Any) -> Expression:
        return aggregate("PERCENTILE", self, *arguments)

    def over(self, alias: Expression) -> Expression:
        name = alias._column

        def write(w: Writing) -> str:
            if name is None or name not in w.overs:
                raise TidemarkError(f"there is no OVER window {name}", hint="declare it first")
            return f"{self._write(w)} OVER ({w.overs[name]})"

        return Expression(write)

    def cast(self, data_type: DataType | str) -> Expression:
        to = sql_of(data_type)
        return Expression(
            lambda w: f"CAST({self._write(w)} AS {to})",
            name=None if self._column is None else f"{self._column}-{to}",
            is_string=lambda _: to == "STRING" or to.startswith(("VARCHAR", "CHAR")),
        )

    def try_cast(self, data_type: DataType | str) -> Expression:
        return Expression(lambda w: f"TRY_CAST({self._write(w)} AS {sql_of(data_type)})")

    def between(self, lower_bound: Any, upper_bound: Any) -> Expression:
        return spelled("({} BETWEEN {} AND {})", self, lower_bound, upper_bound)

    def not_between(self, lower_bound: Any, upper_bound: Any) -> Expression:
        return spelled("({} NOT BETWEEN {} AND {})", self, lower_bound, upper_bound)

    def then(self, if_true: Any, if_false: Any) -> Expression:
        return spelled("CASE WHEN {} THEN {} ELSE {} END", self, if_true, if_false)

    def in_(self, first_element_or_table: Any, *remaining_elements: Any) -> Expression:
        query = getattr(first_element_or_table, "_query", None)
        if isinstance(query, str):
            return Expression(lambda w: f"({self._write(w)} IN (\n{query}\n))")
        elements = [expression_of(e) for e in (first_element_or_table, *remaining_elements)]
        return Expression(lambda w: f"({self._write(w)} IN ({listed(elements, w)}))")

    def like(self, pattern: Any = None, escape: Any = None) -> Expression:
        if escape is None:
            return spelled("({} LIKE {})", self, pattern)
        return spelled("({} LIKE {} ESCAPE {})", self, pattern, escape)

    def similar(self, pattern: Any = None) -> Expression:
        return spelled("({} SIMILAR TO {})", self, pattern)

    def position(self, haystack: Any = None) -> Expression:
        return spelled("POSITION({} IN {})", self, haystack)

    def log(self, base: Any = None) -> Expression:
        return called("LN", self) if base is None else called("LOG", base, self)

    def locate(self, s: Any, pos: Any = None) -> Expression:
        return called("LOCATE", self, s, *(() if pos is None else (pos,)))

    def overlay(self, new_string: Any, starting: Any, length: Any = None) -> Expression:
        if length is None:
            return spelled("OVERLAY({} PLACING {} FROM {})", self, new_string, starting)
        spelling = "OVERLAY({} PLACING {} FROM {} FOR {})"
        return spelled(spelling, self, new_string, starting, length)

    def trim(self, character: Any = None) -> Expression:
        return self._trimmed("BOTH", character)

    def trim_leading(self, character: Any = None) -> Expression:
        return self._trimmed("LEADING", character)

    def trim_trailing(self, character: Any = None) -> Expression:
        return self._trimmed("TRAILING", character)

    def _trimmed(self, side: str, character: Any) -> Expression:
        return spelled(f"TRIM({side} {{}} FROM {{}})", character or " ", self)

    @property
    def to_date(self) -> Expression:
        """As in PyFlink a cast, which fails where SQL's function returns NULL."""
        return self.cast("DATE")

    @property
    def to_timestamp(self) -> Expression:
        return self.cast("TIMESTAMP(3)")

    @property
    def to_time(self) -> Expression:
        return self.cast("TIME(0)")

    def extract(self, time_interval_unit: TimeIntervalUnit) -> Expression:
        return spelled(f"EXTRACT({time_interval_unit.value} FROM {{}})", self)

    def floor(self, time_interval_unit: TimeIntervalUnit | None = None) -> Expression:
        return self._to_unit("FLOOR", time_interval_unit)

    def ceil(self, time_interval_unit: TimeIntervalUnit | None = None) -> Expression:
        return self._to_unit("CEIL", time_interval_unit)

    def _to_unit(self, function: str, unit: TimeIntervalUnit | None) -> Expression:
        to = "" if unit is None else f" TO {unit.value}"
        return spelled(f"{function}({{}}{to})", self)

    def get(self, name_or_index: str | int) -> Expression:
        """A field of a ROW, by its name or place."""
        is_place = isinstance(name_or_index, int)

        def write(w: Writing) -> str:
            written = self._write(w)
            field = self._field(int(name_or_index), w) if is_place else str(name_or_index)
            return f"{written}.{quoted_name(field)}"

        suffix = f"_{name_or_index}" if is_place else name_or_index
        name = None if self._column is None else f"{self._column}${suffix}"
        return Expression(write, name=name)

    def _field(self, place: int, writing: Writing) -> str:
        names = self._fields(writing)
        if not 0 <= place < len(names):
            raise TidemarkError(
                f"there is no field {place} in {self._write(writing)}",
                hint=f"fields are numbered from 0 to {len(names) - 1}" if names else None,
            )
        return names[place]

    def _fields(self, writing: Writing) -> list[str]:
        """The fields of a ROW; none of what is not one."""
        type_ = writing.type_of(self._write(writing))
        return [field.name for field in type_.fields] if isinstance(type_, t.Row) else []

    @property
    def flatten(self) -> Expression:
        """All fields of a ROW, each a column."""

        def write(_: Writing) -> str:
            raise TidemarkError("flatten is for select(...): it stands for several columns")

        return Expression(write, flattens=self)

    def at(self, index: Any) -> Expression:
        return spelled("{}[{}]", self, index)

    __getitem__ = at

    def json_exists(self, path: str, on_error: JsonExistsOnError | None = None) -> Expression:
        rest = "" if on_error is None else f" {on_error.value} ON ERROR"
        return spelled(f"JSON_EXISTS({{}}, {{}}{rest})", self, path)

    def json_value(
        self,
        path: str,
        returning_type: DataType | None = None,
        on_empty: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_empty: Any = None,
        on_error: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_error: Any = None,
    ) -> Expression:
        parts, rest = [self, path], ""
        if returning_type is not None:
            parts.append(Expression(lambda _: sql_of(returning_type)))
            rest = " RETURNING {}"
        for what, otherwise, default in (
            ("EMPTY", on_empty, default_on_empty),
            ("ERROR", on_error, default_on_error),
        ):
            rest += f" {otherwise.value}"
            if otherwise is JsonValueOnEmptyOrError.DEFAULT:
                parts.append(default)
                rest += " {}"
            rest += f" ON {what}"
        return spelled(f"JSON_VALUE({{}}, {{}}{rest})", *parts)

    def json_query(
        self,
        path: str,
        wrapping_behavior: JsonQueryWrapper = JsonQueryWrapper.WITHOUT_ARRAY,
        on_empty: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
        on_error: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
    ) -> Expression:
        rest = f"{on_empty.value} ON EMPTY {on_error.value} ON ERROR"
        return spelled(f"JSON_QUERY({{}}, {{}} {wrapping_behavior.value} {rest})", self, path)

    def is_json(self, json_type: JsonType | None = None) -> Expression:
        what = "" if json_type is None else f" {json_type.value}"
        return spelled(f"({{}} IS JSON{what})", self)

    def __getattr__(self, name: str) -> Any:
        """PyFlink's functions; any other name is a field of a ROW."""
        if name.startswith("_"):
            raise AttributeError(name)
        if name in NOT_SUPPORTED or name.startswith("bitmap_"):
            raise NotSupported(f"Expression.{name}", hint="use get('...') for a field of that name")
        if name in TESTS:
            return spelled(f"({{}} {TESTS[name]})", self)
        if name in AGGREGATES:
            return aggregate(AGGREGATES[name], self)
        if name in PROPERTIES:
            return called(PROPERTIES[name], self)
        if name in METHODS:
            return lambda *arguments: called(METHODS[name], self, *arguments)
        if name in OF_WINDOWS:
            return self._of_window(name)
        if name in UNITS:
            return self._interval(1, UNITS[name])
        if (unit := name.removesuffix("s")) in OTHER_UNITS:
            return self._interval(*OTHER_UNITS[unit])
        return self.get(name)

    def _of_window(self, name: str) -> Expression:
        alias = self._column

        def write(w: Writing) -> str:
            if alias is None or alias not in w.windows:
                raise TidemarkError(
                    f"{name} is of a window, and there is no window {alias or self}",
                    hint="use the alias of the window: col('w').start",
                )
            return w.windows[alias].text(OF_WINDOWS[name])

        return Expression(write, counted=True)

    def _interval(self, many: float, unit: str) -> Expression:
        if isinstance(self._value, int | float):
            written = interval(self._value * many, unit)
            return Expression(lambda _: written, value=None)
        return spelled(f"({{}} * {interval(many, unit)})", self)

    def _argument_of(self, function: Declared, arguments: tuple[Any, ...]) -> Expression:
        """The call of a Python function with this among its arguments."""
        return python_call(function, *arguments)

    # --- operators -----------------------------------------------------------------------------

    def __add__(self, other: Any) -> Expression:
        right = expression_of(other)

        def write(w: Writing) -> str:
            one, two = self._write(w), right._write(w)
            # What is added to a string is appended to it.
            appends = self._appends(w)
            return f"CONCAT({one}, CAST({two} AS STRING))" if appends else f"({one} + {two})"

        return Expression(write, is_string=self._is_string)

    def __radd__(self, other: Any) -> Expression:
        return expression_of(other) + self

    def __sub__(self, other: Any) -> Expression:
        return number("({} - {})", self, other)

    def __rsub__(self, other: Any) -> Expression:
        return number("({} - {})", other, self)

    def __mul__(self, other: Any) -> Expression:
        return number("({} * {})", self, other)

    def __rmul__(self, other: Any) -> Expression:
        return number("({} * {})", other, self)

    def __truediv__(self, other: Any) -> Expression:
        return number("({} / {})", self, other)

    def __rtruediv__(self, other: Any) -> Expression:
        return number("({} / {})", other, self)

    def __mod__(self, other: Any) -> Expression:
        return number("MOD({}, {})", self, other)

    def __rmod__(self, other: Any) -> Expression:
        return number("MOD({}, {})", other, self)

    def __pow__(self, other: Any) -> Expression:
        return number("POWER({}, {})", self, other)

    def __rpow__(self, other: Any) -> Expression:
        return number("POWER({}, {})", other, self)

    def __abs__(self) -> Expression:
        return called("ABS", self)

    def __neg__(self) -> Expression:
        return number("(- {})", self)

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return spelled("({} = {})", self, other)

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return spelled("({} <> {})", self, other)

    __hash__ = object.__hash__

    def __lt__(self, other: Any) -> Expression:
        return spelled("({} < {})", self, other)

    def __le__(self, other: Any) -> Expression:
        return spelled("({} <= {})", self, other)

    def __gt__(self, other: Any) -> Expression:
        return spelled("({} > {})", self, other)

    def __ge__(self, other: Any) -> Expression:
        return spelled("({} >= {})", self, other)

    def __and__(self, other: Any) -> Expression:
        return spelled("({} AND {})", self, other)

    def __rand__(self, other: Any) -> Expression:
        return spelled("({} AND {})", other, self)

    def __or__(self, other: Any) -> Expression:
        return spelled("({} OR {})", self, other)

    def __ror__(self, other: Any) -> Expression:
        return spelled("({} OR {})", other, self)

    def __invert__(self) -> Expression:
        """True also for NULL, unlike `not_`: so it is in PyFlink."""
        return spelled("({} IS NOT TRUE)", self)

    def __bool__(self) -> bool:
        raise ValueError("an expression has no truth value: use & | ~ instead of and, or, not")


# --- making them -------------------------------------------------------------------------------


def column(name: str) -> Expression:
    def write(w: Writing) -> str:
        return w.windows[name].text("") if name in w.windows else quoted_name(name)

    def is_string(w: Writing) -> bool:
        return isinstance(w.columns.get(name), t.Char | t.VarChar)

    choose = list if name == "*" else None
    return Expression(write, column=name, choose=choose, is_string=is_string)


def expression_of(value: Any) -> Expression:
    """The expression, or a literal with the value."""
    if isinstance(value, Expression):
        return value
    written = literal(value)
    return Expression(lambda _: written, value=value)


def spelled(spelling: str, *parts: Any) -> Expression:
    """An expression with parts in the places of `{}`."""
    expressions = [expression_of(part) for part in parts]
    return Expression(lambda w: spelling.format(*(each._write(w) for each in expressions)))


def number(spelling: str, *parts: Any) -> Expression:
    """The same for what is never a string."""
    return Expression(spelled(spelling, *parts)._write, is_string=lambda _: False)


def called(function: str, *arguments: Any) -> Expression:
    expressions = [expression_of(argument) for argument in arguments]
    return Expression(lambda w: f"{function}({listed(expressions, w)})")


def aggregate(function: str, *arguments: Any) -> Expression:
    expressions = tuple(expression_of(argument) for argument in arguments)
    return Expression(
        lambda w: f"{function}({listed(expressions, w)})", aggregate=(function, expressions)
    )


def python_call(function: Declared, *arguments: Any) -> Expression:
    expressions = [expression_of(argument) for argument in arguments]
    return Expression(
        lambda w: f"{w.function(function)}({listed(expressions, w)})",
        counted=function.kind.endswith("aggregate"),
    )


def listed(expressions: Iterable[Expression], writing: Writing) -> str:
    return ", ".join(each._write(writing) for each in expanded(expressions, [*writing.columns]))


def expanded(expressions: Iterable[Expression], columns: Sequence[str]) -> Iterator[Expression]:
    """The expressions, with the columns that they choose of a table."""
    for each in expressions:
        if each._choose is None:
            yield each
        else:
            yield from map(column, each._choose(columns))


__all__ = [
    "Expression",
    "JsonExistsOnError",
    "JsonOnNull",
    "JsonQueryOnEmptyOrError",
    "JsonQueryWrapper",
    "JsonType",
    "JsonValueOnEmptyOrError",
    "TimeIntervalUnit",
    "TimePointUnit",
]
