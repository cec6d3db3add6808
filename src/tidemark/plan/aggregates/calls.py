"""Aggregate calls: parses DISTINCT, FILTER and separators, and makes columns of arguments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from sqlglot import exp

from tidemark import functions
from tidemark.catalog.catalogs import Catalogs
from tidemark.catalog.loading import resolved
from tidemark.catalog.tables import UserFunction
from tidemark.dialect import nodes, span_of, to_sql
from tidemark.errors import PlanError
from tidemark.functions import aggregates
from tidemark.functions.json_functions import NESTED_JSON
from tidemark.plan import unsupported
from tidemark.plan.aggregates.percentages import percentages_of
from tidemark.plan.expressions import Call, Expression, Literal
from tidemark.plan.nodes import AggregateCall
from tidemark.plan.scalars import literals
from tidemark.plan.scalars.binder import Binder
from tidemark.plan.scalars.calls import as_parameters, name_of_function
from tidemark.plan.scalars.conversions import apply, convert
from tidemark.types import STRING, DataType

_LISTAGG = aggregates.named("LISTAGG")
# Functions for which repeated values make no difference.
_BLIND_TO_REPETITION = ("MIN", "MAX")
_WRAPPERS = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)


def aggregate_of(
    node: exp.Expression, catalogs: Catalogs
) -> aggregates.AggregateFunction | UserFunction | None:
    """The aggregate function that a node calls, with or without FILTER and the like around it."""
    while isinstance(node, _WRAPPERS):
        node = node.this
    if isinstance(node, nodes.JsonCall):
        return aggregates.lookup(node.this)
    if not isinstance(node, exp.Anonymous):
        return None
    built_in = None if isinstance(node, nodes.QualifiedCall) else aggregates.lookup(node.name)
    return built_in or _users(node, catalogs)


def _users(node: exp.Anonymous, catalogs: Catalogs) -> UserFunction | None:
    name = name_of_function(node)
    declared = None if functions.lookup(name.parts[-1]) else catalogs.function(name)
    if declared is None:
        return None
    function = resolved(declared, at=span_of(node))
    return function if function.aggregate else None


def calls_within(node: exp.Expression, catalogs: Catalogs) -> Iterator[exp.Expression]:
    """The aggregate calls in an expression, excluding those with OVER or in subqueries."""
    if isinstance(node, exp.Query | exp.Window):
        return
    if aggregate_of(node, catalogs) is not None:
        yield node
        return
    for child in node.iter_expressions():
        yield from calls_within(child, catalogs)


def is_grouped(select: exp.Select, catalogs: Catalogs) -> bool:
    """Whether the SELECT aggregates rows."""
    if select.args.get("group") is not None or select.args.get("having") is not None:
        return True
    return any(True for item in select.expressions for _ in calls_within(item, catalogs))


@dataclass(slots=True)
class Columns:
    """The columns that an aggregation needs from its input, without duplicates."""

    expressions: list[Expression] = field(default_factory=list)

    def add(self, expression: Expression) -> int:
        if expression not in self.expressions:
            self.expressions.append(expression)
        return self.expressions.index(expression)


def bind_call(
    node: exp.Expression, binder: Binder, columns: Columns, *, some: bool, retracts: bool
) -> AggregateCall:
    """The call, with columns as arguments and condition. `some` means that each group has a row,
    so that NOT NULL arguments give a NOT NULL result; `retracts` that rows may be retracted.
    """
    condition, call = _filtered(node)
    aggregate = aggregate_of(call, binder.catalogs)
    assert aggregate is not None
    distinct, written = _arguments(call)
    if isinstance(aggregate, UserFunction):
        if retracts and not distinct:
            _check_retracts(aggregate, call)
        users = _users_call(aggregate, call, written, binder, columns)
        keep = columns.add(_condition(condition, binder)) if condition is not None else None
        return replace(users, distinct=distinct, filter=keep)
    args, separator = _bound_arguments(aggregate, call, written, binder)
    applied = apply(aggregate.function, args, call)
    if isinstance(call, nodes.JsonCall):
        aggregate, separator = _LISTAGG, ","
        applied = apply(aggregate.function, [_json_text(call, args)], call)
        some = False
    aggregate = _COMPUTED_AS.get(aggregate.name, aggregate)
    keep = columns.add(_condition(condition, binder)) if condition is not None else None
    return AggregateCall(
        function="COUNT" if aggregate.name == "APPROX_COUNT_DISTINCT" else aggregate.name,
        arguments=tuple(columns.add(arg) for arg in _columns_of(applied, call)),
        type=_result(aggregate, applied.type, some=some and condition is None),
        distinct=_is_distinct(aggregate, distinct),
        filter=keep,
        separator=separator,
        percentages=percentages_of(args[1], written[1]) if aggregate.name == "PERCENTILE" else (),
    )


def _users_call(
    function: UserFunction,
    call: exp.Expression,
    written: list[exp.Expression],
    binder: Binder,
    columns: Columns,
) -> AggregateCall:
    if not written and function.vectorized:
        raise PlanError(
            f"aggregate function `{function.name}` requires an argument",
            at=span_of(call),
            notes={"why": "it aggregates the values of its arguments"},
        )
    assert function.returns is not None
    args = as_parameters(binder.bind_all(written), function, call, written)
    arguments = tuple(columns.add(arg) for arg in args)
    # Only the function knows its result for no rows.
    type_ = function.returns.with_nullable(True)
    return AggregateCall(function.name, arguments, type_, user=function)


def _check_retracts(function: UserFunction, call: exp.Expression) -> None:
    if not function.vectorized and not hasattr(function.implementation, "retract"):
        raise PlanError(
            f"aggregate function `{function.name}` has no `retract` method, but its input is a "
            "changelog, which retracts rows",
            at=span_of(call),
            hint="add a method retract(accumulator, ...) that undoes accumulate",
        )


def _filtered(node: exp.Expression) -> tuple[exp.Expression | None, exp.Expression]:
    """The condition of FILTER, and the call without it."""
    condition = None
    if isinstance(node, exp.Filter):
        condition, node = node.expression.this, node.this
    if isinstance(node, exp.WithinGroup):
        raise unsupported.WITHIN_GROUP.error(span_of(node))
    if isinstance(node, exp.IgnoreNulls | exp.RespectNulls):
        raise PlanError(
            "IGNORE NULLS and RESPECT NULLS are only allowed with OVER",
            at=span_of(node),
            hint="aggregate functions skip NULLs; use ARRAY_AGG to keep them",
        )
    return condition, node


def _condition(node: exp.Expression, binder: Binder) -> Expression:
    return binder.condition(node, "FILTER")


def _arguments(call: exp.Expression) -> tuple[bool, list[exp.Expression]]:
    """Whether the call has DISTINCT, and its arguments; `*` is not one."""
    written: list[exp.Expression] = list(call.expressions)
    distinct = len(written) == 1 and isinstance(written[0], exp.Distinct)
    if distinct:
        written = list(written[0].expressions)
    if len(written) == 1 and isinstance(written[0], exp.Star):
        return distinct, []
    return distinct, written


def _bound_arguments(
    aggregate: aggregates.AggregateFunction,
    call: exp.Expression,
    written: list[exp.Expression],
    binder: Binder,
) -> tuple[list[Expression], str | None]:
    """The arguments as values, and the separator of a LISTAGG, which must be a constant."""
    if not written and (aggregate.name != "COUNT" or not _has_star(call)):
        raise PlanError(f"{aggregate.name} requires an argument", at=span_of(call))
    if aggregate.name == "COUNT" and len(written) > 1:
        raise _several_counted(call)
    args = [binder.bind(node) for node in written]
    if aggregate.name != "LISTAGG":
        return args, None
    separator = ","
    if len(args) == 2:
        given = args[1]
        if not isinstance(given, Literal) or not isinstance(given.value, str):
            raise PlanError(
                "the separator of LISTAGG must be a string literal", at=span_of(written[1])
            )
        separator = given.value
    return args, separator


def _several_counted(call: exp.Expression) -> PlanError:
    distinct, written = _arguments(call)
    names = [to_sql(one) for one in written]
    known = " AND ".join(f"{name} IS NOT NULL" for name in names)
    what = f"COUNT(DISTINCT ROW({', '.join(names)}))" if distinct else "COUNT(*)"
    return PlanError(
        "COUNT of several values is not supported (same in Flink)",
        at=span_of(call),
        hint=f"write {what} FILTER (WHERE {known})",
    )


def _has_star(call: exp.Expression) -> bool:
    return len(call.expressions) == 1 and isinstance(call.expressions[0], exp.Star)


def _json_text(call: nodes.JsonCall, args: list[Expression]) -> Expression:
    """The element of a JSON array or object for a row; NULL if it is to be left out."""
    if call.args.get("order") is not None:
        raise unsupported.ORDER_IN_JSON.error(span_of(call))
    *key, value = [apply(functions.BUILT_IN["JSON_STRING"], [arg], call) for arg in args]
    element: Expression = value
    default = "NULL" if key else "ABSENT"
    if (call.args.get("on_null") or default) == "NULL":
        null = convert(literals.text("null"), STRING)
        element = apply(functions.BUILT_IN["COALESCE"], [value, null], call)
    for name in key:
        element = _joined([name, literals.text(":"), element], call)
    return element


def finished(call: exp.Expression, result: Expression) -> Expression:
    """The final result from an aggregate's result: for JSON, the elements in brackets."""
    call = _filtered(call)[1]
    if isinstance(call, exp.Anonymous) and call.name.upper() == _SUM0:
        nothing = convert(literals.integer(0), result.type.with_nullable(False))
        return apply(functions.BUILT_IN["COALESCE"], [result, nothing], call)
    name = call.this if isinstance(call, nodes.JsonCall) else ""
    if name not in _BRACKETS:
        return result
    opening, closing = (literals.text(bracket) for bracket in _BRACKETS[name])
    nothing = convert(literals.text(""), STRING)
    elements = apply(functions.BUILT_IN["COALESCE"], [result, nothing], call)
    written = _joined([opening, elements, closing], call)
    return _in_order_of_keys(written, call) if name == "JSON_OBJECTAGG" else written


def _in_order_of_keys(written: Expression, call: exp.Expression) -> Expression:
    """The JSON object with its keys sorted; the last of equal ones counts."""
    sorted_ = apply(NESTED_JSON, [written], call)
    never = convert(literals.text("{}"), STRING)
    return apply(functions.BUILT_IN["COALESCE"], [sorted_, never], call)


_SUM0: Final = "$SUM0"
# What other functions compute, before `finished`.
_COMPUTED_AS: Final = {_SUM0: aggregates.named("SUM")}
_BRACKETS = {"JSON_ARRAYAGG": "[]", "JSON_OBJECTAGG": "{}"}


def _joined(strings: list[Expression], node: exp.Expression) -> Expression:
    first, *others = strings
    for text in others:
        first = apply(functions.BUILT_IN["||"], [first, text], node)
    return first


def _columns_of(applied: Call, call: exp.Expression) -> tuple[Expression, ...]:
    """The arguments that are columns: neither constants, nor what COUNT can ignore."""
    args = applied.args[:1] if applied.function.name == "LISTAGG" else applied.args
    if applied.function.name == "PERCENTILE":
        args = (args[0], *args[2:])
    distinct = call.expressions and isinstance(call.expressions[0], exp.Distinct)
    if applied.function.name == "COUNT" and not distinct:
        return tuple(arg for arg in args if arg.type.nullable)
    return args


def _is_distinct(aggregate: aggregates.AggregateFunction, written: bool) -> bool:
    if aggregate.name == "APPROX_COUNT_DISTINCT":
        return True
    return written and aggregate.name not in _BLIND_TO_REPETITION


def _result(aggregate: aggregates.AggregateFunction, type_: DataType, *, some: bool) -> DataType:
    if aggregate.never_null or some:
        return type_
    return type_.with_nullable(True)
