"""A declared table as a plan: its scan, its computed columns, its watermark."""

from __future__ import annotations

from sqlglot import exp

from tidemark import types as t
from tidemark.catalog.options import CDC_DUPLICATES
from tidemark.catalog.tables import Changelog, Table
from tidemark.dialect import nodes, span_of
from tidemark.dialect import statements as s
from tidemark.errors import PlanError, Span, SqlError, did_you_mean
from tidemark.functions.casts import can_cast
from tidemark.plan.context import Context
from tidemark.plan.expressions import Cast, Expression, Ref
from tidemark.plan.nodes import AssignWatermark, Column, Node, Project, Scan
from tidemark.plan.scalars.conversions import check_can_be_held, convert
from tidemark.plan.scope import Scope
from tidemark.plan.upserts import normalized


def bind_table(table: Table, context: Context) -> Node:
    """The rows of a table with all its columns. Errors point into its CREATE TABLE."""
    try:
        scan = _scan(table, context)
        rows = _watermark(table, _declared_columns(table, scan, context), context)
        return normalized(rows) if _is_normalized(scan, context) else rows
    except SqlError as error:
        raise (error.located_in(table.source) if table.source else error) from None


def type_of(column: s.PhysicalColumn | s.MetadataColumn, table: Table) -> t.DataType:
    """The type of a column; those of the primary key are NOT NULL."""
    in_key = table.primary_key is not None and column.name in table.primary_key.columns
    return column.type.with_nullable(False) if in_key else column.type


def _scan(table: Table, context: Context) -> Scan:
    traits = context.traits(table, "read")
    if not traits.readable and traits.lookup is not None and not context.looks_up:
        raise PlanError(
            f"table `{table.name}` can only be looked up: its connector does not list its rows",
            at=_connector_option(table),
            hint=f"JOIN {table.name} FOR SYSTEM_TIME AS OF l.proctime ON ..., for rows of a table "
            "with a column that is PROCTIME()",
        )
    if not traits.readable and traits.lookup is None:
        raise PlanError(
            f"cannot read from table `{table.name}`: its connector is write-only",
            at=_connector_option(table),
        )
    if traits.changelog is Changelog.UPSERT and table.primary_key is None:
        raise PlanError(
            f"table `{table.name}` sends upserts, but has no primary key",
            at=_connector_option(table),
            notes={"why": "an update replaces the row with the same key (same in Flink)"},
            hint="declare PRIMARY KEY (...) NOT ENFORCED",
        )
    for column in table.columns:
        if not isinstance(column, s.ComputedColumn):
            check_can_be_held(column.type, column.span)
    columns = [
        Column(column.name, type_of(column, table))
        for column in table.columns
        if isinstance(column, s.PhysicalColumn)
    ]
    for column in _metadata(table):
        key = column.key or column.name
        if key not in traits.metadata:
            raise PlanError(
                f"table `{table.name}` has no metadata '{key}'",
                at=column.span,
                notes={"metadata": ", ".join(sorted(traits.metadata)) or "none"},
                hint=did_you_mean(key, traits.metadata),
            )
        columns.append(Column(column.name, traits.metadata[key]))
    metadata = tuple(column.key or column.name for column in _metadata(table))
    rows = traits.changelog, traits.bounded, traits.ordered
    return Scan(
        table,
        metadata,
        tuple(columns),
        *rows,
        partitioned=traits.partitioned,
        idle_ms=traits.idle_ms,
        noted=traits.noted,
        at_once=traits.bounded and traits.at_once,
        grows=traits.grows,
        looks_every_ms=traits.looks_every_ms,
    )


def _is_normalized(scan: Scan, context: Context) -> bool:
    """Whether a row replaces the one with the same key, instead of the one that is retracted."""
    if scan.changelog is not Changelog.RETRACT or not context.cdc_duplicates:
        return scan.changelog is Changelog.UPSERT
    if scan.table.primary_key is None:
        raise PlanError(
            f"table `{scan.table.name}` is a changelog, but has no primary key",
            at=_connector_option(scan.table),
            notes={
                "why": f"with '{CDC_DUPLICATES}', changes that are delivered more than once are "
                "found by the key (same in Flink)"
            },
            hint="declare PRIMARY KEY (...) NOT ENFORCED",
        )
    return True


def _metadata(table: Table) -> list[s.MetadataColumn]:
    return [column for column in table.columns if isinstance(column, s.MetadataColumn)]


def _connector_option(table: Table) -> Span | None:
    return next((o.span for o in table.options if o.key == "connector"), None)


def _declared_columns(table: Table, scan: Scan, context: Context) -> Node:
    """The columns in declared order, computed ones filled in."""
    if all(isinstance(column, s.PhysicalColumn) for column in table.columns):
        return scan
    scope = Scope.of(scan.edge, *table.identifier.path, table.name)
    binder = context.binder(scope)
    position = {column.name: index for index, column in enumerate(scan.edge.columns)}
    expressions: list[Expression] = []
    for column in table.columns:
        if isinstance(column, s.ComputedColumn):
            _refuse_computed(column, table)
            expressions.append(binder.bind(column.expression))
        elif isinstance(column, s.MetadataColumn):
            expressions.append(_metadata_value(column, scope.ref(position[column.name])))
        else:
            expressions.append(scope.ref(position[column.name]))
    return Project(scan, tuple(expressions), tuple(column.name for column in table.columns))


def _refuse_computed(column: s.ComputedColumn, table: Table) -> None:
    computed = {c.name for c in table.columns if isinstance(c, s.ComputedColumn)}
    for used in column.expression.find_all(exp.Column):
        if used.parts[0].name in computed:
            raise PlanError(
                f"computed column `{column.name}` cannot refer to another computed column, "
                f"`{used.parts[0].name}`",
                at=span_of(used),
                hint="repeat its expression instead",
            )


def _metadata_value(column: s.MetadataColumn, value: Ref) -> Expression:
    if not can_cast(value.type, column.type):
        raise PlanError(
            f"metadata column `{column.name}` is {value.type.text()}, which cannot be cast to "
            f"{column.type.text()}",
            at=column.span,
        )
    return value if value.type == column.type else Cast(value, column.type, implicit=True)


# --- watermark ---------------------------------------------------------------------------------


def _watermark(table: Table, node: Node, context: Context) -> Node:
    declared = table.watermark
    if declared is None:
        return node
    if len(declared.column) > 1:
        raise PlanError(
            "a watermark on a nested field is not supported",
            at=declared.span,
            hint="add a computed column: `ts AS r.ts, WATERMARK FOR ts AS ts`",
        )
    name = declared.column[0]
    index = node.edge.names.index(name)
    time = node.edge.columns[index]
    _check_time_type(time, declared, context)
    binder = context.binder(Scope.of(node.edge, *table.identifier.path, table.name))
    expression = binder.bind(_modern(declared.expression))
    if type(expression.type) is not type(time.type):
        raise PlanError(
            f"the watermark of `{name}` must be {time.type.text()} like its column, "
            f"not {expression.type.text()}",
            at=span_of(declared.expression),
        )
    return AssignWatermark(node, name, convert(expression, time.type))


def _check_time_type(time: Column, declared: s.Watermark, context: Context) -> None:
    if time.time == "processing":
        raise PlanError(
            f"`{time.name}` is processing time, which does not need a watermark",
            at=declared.span,
        )
    if not isinstance(time.type, t.TIMESTAMPS):
        raise PlanError(
            f"a time attribute must be a TIMESTAMP or TIMESTAMP_LTZ; `{time.name}` is "
            f"{time.type.text()}",
            at=declared.span,
            hint=f"add a computed column, such as `{time.name}_ts AS TO_TIMESTAMP({time.name})`",
        )
    if time.type.precision > 3:
        context.warn(
            f"event time `{time.name}` is {time.type.text()}: watermarks and windows use whole "
            "milliseconds; Flink requires a precision of at most 3"
        )


def _modern(expression: exp.Expression) -> exp.Expression:
    """`withOffset(ts, 1000)`, an older syntax, is `ts - INTERVAL '1' SECOND`."""
    if isinstance(expression, exp.Anonymous) and expression.name.upper() == "WITHOFFSET":
        column, milliseconds = _offset(expression)
        return exp.Sub(this=column, expression=milliseconds)
    return expression


def _offset(call: exp.Anonymous) -> tuple[exp.Expression, exp.Expression]:
    match call.expressions:
        case [column, exp.Literal(is_string=False, this=digits)] if digits.isdecimal():
            text = f"{int(digits) // 1000}.{int(digits) % 1000:03d}"
            return column, nodes.IntervalLiteral(this=text, first="SECOND")
    raise PlanError("withOffset requires a column and a number of milliseconds", at=span_of(call))
