"""INSERT INTO: the query's columns as the target's, by position."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tidemark.catalog.tables import Changelog, Table, View
from tidemark.dialect import span_of
from tidemark.dialect import statements as s
from tidemark.errors import PlanError, Span, did_you_mean
from tidemark.functions.casts import can_cast, can_cast_implicitly
from tidemark.plan import unsupported
from tidemark.plan.context import Context
from tidemark.plan.expressions import Cast, Expression
from tidemark.plan.hints import with_options
from tidemark.plan.nodes import Column, Node, Reason, Sink, project, walk
from tidemark.plan.not_null import left_out, required, with_fields, with_known_fields
from tidemark.plan.queries import bind_query
from tidemark.plan.scalars import literals
from tidemark.plan.scalars.conversions import convert
from tidemark.plan.scope import Scope
from tidemark.plan.sink_keys import materialized
from tidemark.plan.tables import type_of
from tidemark.plan.updates_alone import for_sink
from tidemark.types import TIMESTAMPS, DataType, Map

WritableColumn = s.PhysicalColumn | s.MetadataColumn


def bind_insert(statement: s.Insert, context: Context) -> Sink:
    """The plan of one INSERT, with its sink as the root."""
    return bind_into(_target(statement, context), statement, context)


def bind_into(table: Table, statement: s.Insert, context: Context) -> Sink:
    """The plan of an INSERT into a table that need not be in the catalog."""
    traits = context.traits(table, "write")
    if not traits.writable:
        raise PlanError(
            f"cannot write to table `{table.name}`: its connector or format is read-only",
            at=statement.target.span,
        )
    if table.distribution is not None:
        raise unsupported.IN_BUCKETS.error(statement.target.span)
    if statement.overwrite and not context.batch and context.writes:
        raise PlanError(
            "INSERT OVERWRITE cannot run in streaming mode, as in Flink",
            at=statement.target.span,
            notes={"why": "a stream adds to a table for as long as it runs"},
            hint="SET 'execution.runtime-mode' = 'batch', or write INSERT INTO",
        )
    query = bind_query(statement.query, context)
    if context.writes:
        _check_changelog(query, traits.accepts_updates, table, statement)
    assigned = _Assignment(
        statement, table, query, context.drops_nulls, context.checks_fields
    ).rows()
    rows = _with_metadata(assigned, writable_columns(table), traits.metadata)
    rows = for_sink(materialized(rows, statement, table, context), table, context)
    return Sink(rows, table, statement.overwrite)


def _target(statement: s.Insert, context: Context) -> Table:
    target = context.catalogs.relation(statement.target)
    if isinstance(target, View):
        raise PlanError(
            f"cannot insert into `{target.name}`: it is a view", at=statement.target.span
        )
    return with_options(target, statement.options)


def writable_columns(table: Table) -> list[WritableColumn]:
    """The columns that an INSERT fills: neither computed columns nor virtual metadata."""
    return [
        column
        for column in table.columns
        if isinstance(column, s.PhysicalColumn)
        or (isinstance(column, s.MetadataColumn) and not column.virtual)
    ]


def _with_metadata(
    rows: Node, columns: Sequence[WritableColumn], metadata: Mapping[str, DataType]
) -> Node:
    """The rows with the metadata of a record in its own type, as far as the type of its column can
    be cast. Sinks accept all times, and maps, as they are.
    """
    scope, cast = Scope.of(rows.edge), False
    values: list[Expression] = []
    for place, column in enumerate(columns):
        value: Expression = scope.ref(place)
        key = (column.key or column.name) if isinstance(column, s.MetadataColumn) else None
        wanted = None if key is None else metadata.get(key)
        if wanted is not None and _is_cast(value.type, wanted):
            value, cast = Cast(value, wanted.with_nullable(value.type.nullable)), True
        values.append(value)
    return project(rows, values, [column.name for column in columns]) if cast else rows


def _is_cast(given: DataType, wanted: DataType) -> bool:
    if type(given) is type(wanted) or isinstance(wanted, Map):
        return False
    return not (isinstance(given, TIMESTAMPS) and isinstance(wanted, TIMESTAMPS)) and can_cast(
        given, wanted
    )


def _check_changelog(query: Node, accepts_updates: bool, table: Table, statement: s.Insert) -> None:
    changelog = query.edge.changelog
    if changelog is Changelog.APPEND or accepts_updates:
        return
    notes, instead = {"query": changelog.value}, ""
    if (reason := _why_rows_change(query)) is not None:
        notes["why"] = reason.why
        instead = f"{reason.instead}, or " if reason.instead else ""
    raise PlanError(
        f"table `{table.name}` accepts only inserts, but the query updates and deletes rows",
        at=statement.target.span,
        notes=notes,
        hint=f"{instead}write to a sink that accepts a changelog, such as `print`",
    )


def _why_rows_change(query: Node) -> Reason | None:
    """Why the query updates rows: the reason of the part where append-only input becomes a
    changelog.
    """
    for node in walk(query):
        if node.edge.changes and not any(below.edge.changes for below in node.inputs):
            return node.why_rows_change
    return None


@dataclass(frozen=True, slots=True)
class _Assignment:
    """Assigns the columns of a query to those of a table."""

    statement: s.Insert
    table: Table
    query: Node
    drops_nulls: bool
    checks_fields: bool

    def rows(self) -> Node:
        """The query's rows with the columns of the target, in its order and types."""
        columns = writable_columns(self.table)
        names = [column.name for column in columns]
        fixed = {option.key: option.value for option in self.statement.partition}
        self._check_names(self._given_names(), names)
        self._check_partition(fixed)
        filled = list(self.statement.columns) or [name for name in names if name not in fixed]
        if len(filled) != len(self.query.edge.columns):
            raise self._mismatch(
                f"{len(filled)} columns are listed, the query has {len(self.query.edge.columns)}"
            )
        scope = Scope.of(self.query.edge)
        given: dict[str, Expression] = {name: scope.ref(i) for i, name in enumerate(filled)}
        values = [
            # PARTITION (dt = '2024-01-01') is a string, whatever the type of the column.
            Cast(literals.text(fixed[column.name]), column.type, implicit=True)
            if column.name in fixed
            else self._value(given.get(column.name), column)
            for column in columns
        ]
        rows = project(self._without_missing_fields(given, columns), values, names)
        wanted = [type_of(column, self.table) for column in columns]
        return left_out(rows, self._nulls(rows.edge.types, wanted))

    def _check_partition(self, fixed: Iterable[str]) -> None:
        """PARTITION (...) fixes columns of PARTITIONED BY, as in Flink."""
        for name in fixed:
            if name not in self.table.partitioned_by:
                raise PlanError(
                    f"`{self.table.name}` is not partitioned by `{name}`",
                    at=next(o.span for o in self.statement.partition if o.key == name),
                    notes={"PARTITIONED BY": ", ".join(self.table.partitioned_by) or "nothing"},
                    hint=f"select the value of `{name}` in the query",
                )

    def _without_missing_fields(
        self, given: Mapping[str, Expression], columns: Sequence[WritableColumn]
    ) -> Node:
        if not (self.checks_fields and self.drops_nulls):
            return self.query
        filled = [column for column in columns if column.name in given]
        return with_known_fields(
            self.query, [(given[column.name], type_of(column, self.table)) for column in filled]
        )

    def _nulls(self, given: Sequence[DataType], wanted: Sequence[DataType]) -> list[int]:
        """The columns that may be NULL where the table has NOT NULL."""
        pairs = enumerate(zip(given, wanted, strict=True))
        return [index for index, (has, takes) in pairs if has.nullable and not takes.nullable]

    def _given_names(self) -> list[tuple[str, Span]]:
        """The columns that the statement names, and where."""
        statement = self.statement
        # CREATE TABLE AS lists columns that are written nowhere.
        spans = statement.column_spans or [statement.target.span] * len(statement.columns)
        listed = zip(statement.columns, spans, strict=True)
        return [*((option.key, option.span) for option in statement.partition), *listed]

    def _check_names(self, given: Sequence[tuple[str, Span]], names: Sequence[str]) -> None:
        """The columns of the statement must exist, be writable, and be listed once."""
        seen: set[str] = set()
        for name, at in given:
            if name not in names:
                there = any(column.name == name for column in self.table.columns)
                raise PlanError(
                    f"cannot write to column `{name}` of `{self.table.name}`"
                    if there
                    else f"column `{name}` does not exist in table `{self.table.name}`",
                    at=at,
                    hint="it is a computed or read-only metadata column"
                    if there
                    else did_you_mean(name, names),
                )
            if name in seen:
                raise PlanError(f"column `{name}` is given twice", at=at)
            seen.add(name)

    def _value(self, value: Expression | None, column: WritableColumn) -> Expression:
        type_ = type_of(column, self.table)
        if value is None and not type_.nullable:
            raise PlanError(
                f"column `{column.name}` of `{self.table.name}` is NOT NULL and has no value",
                at=self.statement.target.span,
            )
        if value is None:
            return literals.null(type_)
        if not can_cast_implicitly(value.type, type_):
            raise self._mismatch(
                f"`{column.name}` is {type_.text()}, but the query returns {value.type.text()}"
            )
        if self.checks_fields and not self.drops_nulls:
            value = with_fields(value, type_, column.name, self.table.name)
        converted = convert(value, type_)
        if type_.nullable or not converted.type.nullable or self.drops_nulls:
            return converted
        return required(converted, column.name, self.table.name)

    def _mismatch(self, why: str) -> PlanError:
        return PlanError(
            f"the query does not match table `{self.table.name}`: {why}",
            at=span_of(self.statement.query),
            notes={
                "query": _schema(self.query.edge.columns),
                "table": _schema(writable_columns(self.table)),
            },
        )


def _schema(columns: Sequence[Column | WritableColumn]) -> str:
    return "(" + ", ".join(f"{c.name} {c.type}" for c in columns) + ")"
