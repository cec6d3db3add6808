"""PyFlink's `Table`: a query, which can be executed, inserted, or be a part of another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from tidemark.dialect import quoted_name
from tidemark.errors import TidemarkError
from tidemark.pyflink.api.table.udf import Declared
from tidemark.pyflink.running import AccumulatingOfFrame, AccumulatingOfRow, OfFrame, OfRow
from tidemark.pyflink_programs.table.expression import (
    Expression,
    Writing,
    column,
    expanded,
    expression_of,
    listed,
    python_call,
)
from tidemark.pyflink_programs.table.pipeline import TablePipeline
from tidemark.pyflink_programs.table.results import TableResult
from tidemark.pyflink_programs.table.schemas import ResolvedSchema, TableSchema
from tidemark.pyflink_programs.table.sql_runner import SqlRunner
from tidemark.pyflink_programs.table.window import GroupWindow, OverWindow, WindowColumns

if TYPE_CHECKING:
    import pandas as pd

    from tidemark.types import DataType


# What an aggregate function returns for a group.
_RESULT: Final = "$result"


@dataclass(frozen=True)
class Sorted:
    """What follows a query: its order, and which rows of that order."""

    query: str
    order: str = ""
    offset: int = 0
    fetch: int | None = None

    def text(self) -> str:
        clauses = [
            f"ORDER BY {self.order}" if self.order else "",
            f"LIMIT {self.fetch}" if self.fetch is not None else "",
            f"OFFSET {self.offset}" if self.offset else "",
        ]
        return "\n".join([self.query, *filter(None, clauses)])


class Table:
    """A query. In an f-string it stands for a view of it."""

    def __init__(self, query: str | Sorted, runner: SqlRunner) -> None:
        self._sorted = query if isinstance(query, Sorted) else None
        self._query = query.text() if isinstance(query, Sorted) else query
        self._runner = runner
        # Its order may be possible only with the limit that follows.
        self._columns = runner.columns_of(self._sorted.query if self._sorted else self._query)
        self._name: str | None = None

    def __str__(self) -> str:
        """The name of a temporary view with the rows of this table, for use in SQL."""
        if self._name is None:
            self._name = self._runner.unnamed()
            self._runner.run(f"CREATE TEMPORARY VIEW {self._name} AS\n{self._query}")
        return self._name

    # --- running -------------------------------------------------------------------------------

    def execute(self) -> TableResult:
        return self._runner.execute(self._query)

    def execute_insert(self, table_path: str, overwrite: bool = False) -> TableResult:
        return self._runner.execute(self._insert(table_path, overwrite))

    def insert_into(self, table_path: str, overwrite: bool = False) -> TablePipeline:
        return TablePipeline(self._insert(table_path, overwrite), self._runner)

    def _insert(self, table_path: str, overwrite: bool) -> str:
        verb = "INSERT OVERWRITE" if overwrite else "INSERT INTO"
        return f"{verb} {table_path}\n{self._query}"

    def to_pandas(self) -> pd.DataFrame:
        """All rows. Waits until a bounded query has ended."""
        return self._runner.run(self._query).to_pandas()

    def get_schema(self) -> TableSchema:
        return TableSchema(self._columns)

    def get_resolved_schema(self) -> ResolvedSchema:
        return ResolvedSchema(self._columns)

    def print_schema(self) -> None:
        print(self.get_resolved_schema(), flush=True)

    def explain(self, *extra_details: str) -> str:
        return self._runner.explain(self._query, *extra_details)

    def print_explain(self, *extra_details: str) -> None:
        print(self.explain(*extra_details), flush=True)

    # --- columns -------------------------------------------------------------------------------

    def select(self, *fields: Any) -> Table:
        return self._selected(fields, "")

    def _selected(self, fields: Sequence[Any], rest: str, writing: Writing | None = None) -> Table:
        return self._of_items(self._selected_items(fields, writing or self._writing), rest)

    def _selected_items(self, fields: Sequence[Any], writing: Writing) -> list[str]:
        columns = expanded(map(_expression, fields), self._names)
        flat = [part for each in columns for part in _flattened(each, writing)]
        return [*_items(flat, writing)]

    def _of_items(self, items: Sequence[str], rest: str = "") -> Table:
        return self._made(f"SELECT {', '.join(items)} FROM {self._from()}{rest}")

    @property
    def _writing(self) -> Writing:
        columns = {each.name: each.type for each in self._columns}
        return Writing(self._runner, columns, types=self._type_of)

    def _type_of(self, written: str) -> DataType:
        [made] = self._runner.columns_of(f"SELECT {written} AS c FROM {self._from()}")
        return made.type

    @property
    def _names(self) -> list[str]:
        return [each.name for each in self._columns]

    def _from(self) -> str:
        return f"(\n{self._query}\n)"

    def _made(self, query: str | Sorted) -> Table:
        return Table(query, self._runner)

    def alias(self, field: str, *fields: str) -> Table:
        names = [field, *fields]
        renamed = zip(self._names, names + self._names[len(names) :], strict=True)
        return self.select(*(column(old).alias(new) for old, new in renamed))

    def add_columns(self, *fields: Expression) -> Table:
        return self.select(column("*"), *map(_expression, fields))

    def add_or_replace_columns(self, *fields: Expression) -> Table:
        given = map(_expression, fields)
        new = {each._aliases[0] if each._aliases else each._column: each for each in given}
        kept = [new.pop(name, column(name)) for name in self._names]
        return self.select(*kept, *new.values())

    def rename_columns(self, *fields: Expression) -> Table:
        new = {each._column: each._aliases[0] for each in map(_expression, fields)}
        return self.select(*(column(name).alias(new.get(name, name)) for name in self._names))

    def drop_columns(self, *fields: Expression) -> Table:
        dropped = {each._column for each in expanded(map(_expression, fields), self._names)}
        return self.select(*(column(name) for name in self._names if name not in dropped))

    def map(self, func: Declared | Expression) -> Table:
        """The fields of the ROW that a function returns."""
        called = self._call(func)  # as in PyFlink, without the aliases of a function of rows
        rows = self.select(called.alias("r"))
        made = rows._fields_of("r", called._aliases)
        if not made:
            raise TypeError("map() takes a function that returns DataTypes.ROW([...])")
        return rows.select(*made)

    def _fields_of(self, name: str, aliases: Sequence[str]) -> list[Expression]:
        """The fields of a column of rows; none if it has no fields."""
        [type_] = (each.type for each in self._columns if each.name == name)
        fields = [field.name for field in getattr(type_, "fields", ())]
        if len(aliases) > len(fields) > 0:
            raise TidemarkError(f"{len(aliases)} aliases for a result with {len(fields)} columns")
        names = [*aliases[: len(fields)], *fields[len(aliases) :]]
        pairs = zip(fields, names, strict=True)
        return [column(name).get(field).alias(alias) for field, alias in pairs]

    def flat_map(self, func: Declared | Expression) -> Table:
        """The rows that a table function returns, without the columns of this table."""
        called = self._call(func)
        joined = self.join_lateral(called.alias(*self._names_of(called)))
        return joined.select(*(column(name) for name in joined._names[len(self._names) :]))

    def _names_of(self, called: Expression) -> tuple[str, ...]:
        """Names for the columns that a table function returns, unlike those of this table."""
        if called._aliases:
            return called._aliases
        text = called._write(self._writing)
        found = self._made(f"SELECT f.* FROM {self._from()} AS t, LATERAL TABLE({text}) AS f")
        return tuple(f"f{place}" for place, _ in enumerate(found._columns))

    def _call(self, func: Declared | Expression) -> Expression:
        """A function of columns; or of a row with all of them."""
        if isinstance(func, Expression):
            return func
        accumulates = hasattr(func.function, "create_accumulator")
        if func.pandas:
            of_frame = AccumulatingOfFrame if accumulates else OfFrame
            of_row: Any = of_frame(func.function, self._names)
        elif accumulates:
            of_row = AccumulatingOfRow(func.function, self._names)
        else:
            of_row = OfRow(func.function, self._names)
        return python_call(replace(func, function=of_row), *map(column, self._names))

    # --- rows ----------------------------------------------------------------------------------

    def filter(self, predicate: Expression) -> Table:
        condition = self._written(_expression(predicate))
        return self._made(f"SELECT * FROM {self._from()} WHERE {condition}")

    where = filter

    def _written(self, expression: Any) -> str:
        return expression_of(expression)._write(self._writing)

    def distinct(self) -> Table:
        return self._made(f"SELECT DISTINCT * FROM {self._from()}")

    def group_by(self, *fields: Expression) -> GroupedTable:
        return GroupedTable(self, [*map(_expression, fields)])

    def aggregate(self, func: Declared | Expression) -> AggregatedTable:
        return GroupedTable(self, ()).aggregate(func)

    def flat_aggregate(self, func: Declared | Expression) -> FlatAggregateTable:
        return GroupedTable(self, ()).flat_aggregate(func)

    def window(self, window: GroupWindow) -> GroupWindowedTable:
        return GroupWindowedTable(self, window)

    def over_window(self, *over_windows: OverWindow) -> OverWindowedTable:
        return OverWindowedTable(self, over_windows)

    def order_by(self, *fields: Expression) -> Table:
        order = ", ".join(
            f"{self._written(each)} {each._order or each.asc._order}"
            for each in map(_expression, fields)
        )
        return self._made(Sorted(f"SELECT * FROM {self._from()}", order))

    def offset(self, offset: int) -> Table:
        return self._made(replace(self._in_order(), offset=offset))

    def fetch(self, fetch: int) -> Table:
        return self._made(replace(self._in_order(), fetch=fetch))

    def limit(self, fetch: int, offset: int | None = None) -> Table:
        return (self if offset is None else self.offset(offset)).fetch(fetch)

    def _in_order(self) -> Sorted:
        if self._sorted is not None and self._sorted.fetch is None:
            return self._sorted
        return Sorted(f"SELECT * FROM {self._from()}")

    # --- several tables ------------------------------------------------------------------------

    def join(self, right: Table, join_predicate: Expression | None = None) -> Table:
        if join_predicate is None:
            return Product(self, right, self._runner)
        return self._joined("INNER JOIN", right, join_predicate)

    def left_outer_join(self, right: Table, join_predicate: Expression | None = None) -> Table:
        return self._joined("LEFT JOIN", right, join_predicate)

    def right_outer_join(self, right: Table, join_predicate: Expression) -> Table:
        return self._joined("RIGHT JOIN", right, join_predicate)

    def full_outer_join(self, right: Table, join_predicate: Expression) -> Table:
        return self._joined("FULL JOIN", right, join_predicate)

    def _joined(self, how: str, right: Table, predicate: Expression | None) -> Table:
        self._check_names(right._names)
        on = "TRUE" if predicate is None else self._written(predicate)
        both = f"{self._from()} AS l {how} {right._from()} AS r ON {on}"
        return self._made(f"SELECT * FROM {both}")

    def _check_names(self, others: Sequence[str]) -> None:
        """In the Table API, columns have no table to be distinguished by."""
        if both := sorted({*self._names} & {*others}):
            raise TidemarkError(
                f"both sides of the join have a column {', '.join(both)}",
                hint="rename one: table.rename_columns(col('a').alias('b'))",
            )

    def join_lateral(self, table_function_call: Any, join_predicate: Any = None) -> Table:
        return self._lateral("INNER JOIN", table_function_call, join_predicate)

    def left_outer_join_lateral(
        self, table_function_call: Any, join_predicate: Any = None
    ) -> Table:
        return self._lateral("LEFT JOIN", table_function_call, join_predicate)

    def _lateral(self, how: str, call: Any, predicate: Any) -> Table:
        if isinstance(call, Declared):
            call = self._call(call).alias(*call.aliases) if call.aliases else self._call(call)
        own = self._names_of(call)
        self._check_names(own)
        names = ", ".join(map(quoted_name, own))
        on = "TRUE" if predicate is None else self._written(predicate)
        function = f"LATERAL TABLE({self._written(call)}) AS f ({names})"
        return self._made(f"SELECT * FROM {self._from()} AS l {how} {function} ON {on}")

    def union(self, right: Table) -> Table:
        return self._with("UNION", right)

    def union_all(self, right: Table) -> Table:
        return self._with("UNION ALL", right)

    def minus(self, right: Table) -> Table:
        return self._with("EXCEPT", right)

    def minus_all(self, right: Table) -> Table:
        return self._with("EXCEPT ALL", right)

    def intersect(self, right: Table) -> Table:
        return self._with("INTERSECT", right)

    def intersect_all(self, right: Table) -> Table:
        return self._with("INTERSECT ALL", right)

    def _with(self, word: str, right: Table) -> Table:
        return self._made(f"{self._from()} {word} {right._from()}")

    def __getattr__(self, name: str) -> Expression:
        """A column, as in `orders.amount`."""
        if not name.startswith("_") and name in self._names:
            return column(name)
        raise AttributeError(
            f"Table has no column {name}, and PyFlink's method of that name, if there is one, is "
            "not part of Tidemark"
        )


class Product(Table):
    """Two tables without a condition; usually, a filter follows that has it."""

    def __init__(self, left: Table, right: Table, runner: SqlRunner) -> None:
        left._check_names(right._names)
        self._left, self._right = left, right
        both = f"{left._from()} AS l CROSS JOIN {right._from()} AS r"
        super().__init__(f"SELECT * FROM {both}", runner)

    def filter(self, predicate: Expression) -> Table:
        return self._left._joined("INNER JOIN", self._right, predicate)

    where = filter


class GroupedTable:
    """Groups of rows."""

    def __init__(
        self, table: Table, fields: Sequence[Expression], window: GroupWindow | None = None
    ) -> None:
        self._table, self._fields, self._window = table, tuple(fields), window

    def select(self, *fields: Any) -> Table:
        windows = {} if self._window is None else {self._window.name: self._window}
        named = [each for each in self._fields if each._aliases]
        table = self._table.add_columns(*named) if named else self._table
        keys = [column(each._aliases[0]) if each._aliases else each for each in self._fields]
        writing = replace(table._writing, windows=windows)
        by = f" GROUP BY {listed(keys, writing)}" if keys else ""
        return table._selected(fields, by, writing)

    def aggregate(self, func: Declared | Expression) -> AggregatedTable:
        return AggregatedTable(self, self._called(func))

    def flat_aggregate(self, func: Declared | Expression) -> FlatAggregateTable:
        return FlatAggregateTable(self, self._called(func))

    def _called(self, func: Declared | Expression) -> Expression:
        called = self._table._call(func)
        aliases = func.aliases if isinstance(func, Declared) else ()
        return called.alias(*aliases) if aliases else called


class AggregatedTable:
    """Groups of rows, each with what an aggregate function returns."""

    def __init__(self, grouped: GroupedTable, called: Expression) -> None:
        self._grouped, self._called = grouped, called

    def select(self, *fields: Any) -> Table:
        """The columns are those that are grouped by, and the fields of the function's result."""
        window = self._grouped._window
        asked = WindowColumns(window)
        windows = {} if window is None else {window.name: asked}
        flat = self._flat()
        writing = replace(flat._writing, windows=windows)
        # Writing them says which columns of the window they need.
        written = flat._selected_items(fields, writing)
        return (self._flat(asked.columns()) if window else flat)._of_items(written)

    def _flat(self, of_window: Sequence[Expression] = ()) -> Table:
        grouped = self._grouped
        window = grouped._window
        keys = [
            column(each._aliases[0]) if each._aliases else each
            for each in grouped._fields
            if window is None or each._column != window.name
        ]
        return self._opened(grouped.select(*keys, *of_window, self._called.alias(_RESULT)))

    def _opened(self, made: Table) -> Table:
        """The keys, and the columns of the result."""
        result = made._fields_of(_RESULT, self._called._aliases)
        if not result:
            result = [column(_RESULT).alias(*self._called._aliases or ["f0"])]
        return made.select(*map(column, made._names[:-1]), *result)


class FlatAggregateTable(AggregatedTable):
    """Groups of rows, each with the rows that a table aggregate function emits."""

    def _opened(self, made: Table) -> Table:
        type_ = made._columns[-1].type
        fields = getattr(getattr(type_, "element", None), "fields", ())
        if not fields:
            raise TidemarkError(
                "flat_aggregate() takes a table aggregate function", hint="declare it with udtaf()"
            )
        aliases = self._called._aliases
        names = [*aliases, *(field.name for field in fields[len(aliases) :])]
        rows = f"UNNEST({quoted_name(_RESULT)}) AS f ({', '.join(map(quoted_name, names))})"
        both = made._made(f"SELECT * FROM {made._from()} CROSS JOIN {rows}")
        return both.drop_columns(column(_RESULT))


class GroupWindowedTable:
    """Rows in windows."""

    def __init__(self, table: Table, window: GroupWindow) -> None:
        self._table, self._window = table, window

    def group_by(self, *fields: Expression) -> GroupedTable:
        if self._window.name not in {_expression(each)._column for each in fields}:
            raise TidemarkError(
                "the rows of windows are grouped by the alias of the window, too",
                hint="give it one with alias('w'), and add col('w') to group_by(...)",
            )
        return GroupedTable(self._table, [*map(_expression, fields)], self._window)


class OverWindowedTable:
    """Rows, each with those before it."""

    def __init__(self, table: Table, windows: Sequence[OverWindow]) -> None:
        self._table, self._windows = table, windows

    def select(self, *fields: Any) -> Table:
        writing = self._table._writing
        overs = {window.name: window.text(writing) for window in self._windows}
        return self._table._selected(fields, "", replace(writing, overs=overs))


def _expression(given: Any) -> Expression:
    """What has to be an expression: a string would be a literal, and is meant as something else."""
    if isinstance(given, str):
        raise TidemarkError(
            f"{given!r} is a string, not an expression", hint=f"write col({given!r}), or call_sql()"
        )
    return expression_of(given)


def _flattened(each: Expression, writing: Writing) -> Sequence[Expression]:
    row = each._flattens
    if row is None:
        return [each]
    return [row.get(name) for name in row._fields(writing)] or [row]


def _items(fields: Sequence[Expression], writing: Writing) -> Iterator[str]:
    """The items of a SELECT. Those without a name are called as Flink does."""
    aggregates = 0
    for place, each in enumerate(fields):
        name = each._aliases[0] if each._aliases else each._name
        counted = each._counted or bool(each._function and writing.aggregates(each._function))
        if name is None:
            name = f"EXPR${aggregates}" if counted else f"_c{place}"
        aggregates += counted
        yield f"{each._write(writing)} AS {quoted_name(name)}"
