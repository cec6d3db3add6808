"""Scalar expressions: binds names, operators and calls of the SQL tree to typed values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

from sqlglot import exp

from tidemark import functions
from tidemark import types as t
from tidemark.catalog.catalogs import Catalogs
from tidemark.dialect import nodes, span_of, to_sql
from tidemark.errors import NotSupported, PlanError
from tidemark.functions.casts import can_cast, refusal_hint
from tidemark.functions.nans import are_as_in_java
from tidemark.plan import unsupported
from tidemark.plan.expressions import Call, Case, Cast, Expression, walk
from tidemark.plan.scalars import calls, literals
from tidemark.plan.scalars.conversions import apply, check_can_be_held, common_type, convert
from tidemark.plan.scope import Scope, access


@dataclass(frozen=True, slots=True)
class Binder:
    """Binds the scalar expressions in one part of a query."""

    scope: Scope
    catalogs: Catalogs

    def bind(self, node: exp.Expression) -> Expression:
        for kind in type(node).__mro__:
            if kind in _BINDERS:
                return _BINDERS[kind](self, node)
        raise NotSupported(f"`{to_sql(node)}` is not supported", at=span_of(node))

    def bind_all(self, several: Sequence[exp.Expression]) -> tuple[Expression, ...]:
        return tuple(self.bind(node) for node in several)

    def condition(self, node: exp.Expression, where: str) -> Expression:
        """A BOOLEAN, as required by WHERE and CASE."""
        bound = self.bind(node)
        if not isinstance(bound.type, t.Boolean | t.Null):
            raise PlanError(f"{where} must be a BOOLEAN, not {bound.type.text()}", at=span_of(node))
        return convert(bound, t.Boolean())

    def operator(self, name: str, operands: Sequence[Expression], node: exp.Expression) -> Call:
        return apply(functions.BUILT_IN[name], operands, node)


# --- names and constants -----------------------------------------------------------------------


def _column(binder: Binder, node: exp.Expression) -> Expression:
    path = nodes.name_path(node)
    if path is None:
        assert isinstance(node, exp.Dot)
        return access(binder.bind(node.this), node.expression.name, span_of(node))
    return binder.scope.resolve(tuple(part.name for part in path), span_of(node))


def _of_stars(binder: Binder, node: exp.Expression) -> Expression:
    """The first column of this name, as in the output: others get a number after it."""
    for star in node.expressions:
        table = tuple(part.name for part in star.parts[:-1]) if isinstance(star, exp.Column) else ()
        if table and not binder.scope.has_table(table):
            continue
        shown = binder.scope.star(table, span_of(node))
        found = [ref for ref in shown if ref.name == node.this.name]
        if found:
            return found[0]
    return binder.bind(node.this)


def _literal(binder: Binder, node: exp.Expression) -> Expression:
    assert isinstance(node, exp.Literal)
    return literals.text(node.this) if node.is_string else literals.number(node)


def _negative(binder: Binder, node: exp.Expression) -> Expression:
    operand = node.this
    if isinstance(operand, exp.Literal) and not operand.is_string:
        return literals.number(operand, negative=True)
    return binder.operator("NEG", [binder.bind(operand)], node)


def _plus(binder: Binder, node: nodes.Plus) -> Expression:
    operand = binder.bind(node.this)
    if isinstance(operand.type, (*t.NUMERICS, *t.INTERVALS, t.Null)):
        return operand
    raise PlanError(
        f"`+` requires a number or an interval, not {operand.type.text()}",
        at=span_of(node),
        hint="leave the sign out, or CAST the value to a number",
    )


# --- predicates --------------------------------------------------------------------------------


def _is(binder: Binder, node: exp.Expression) -> Expression:
    operand, what = binder.bind(node.this), node.expression
    if isinstance(what, exp.Null):
        return binder.operator("IS NULL", [operand], node)
    if isinstance(what, nodes.Unknown):
        return binder.operator("IS UNKNOWN", [operand], node)
    return binder.operator("IS TRUE" if what.this else "IS FALSE", [operand], node)


def _equal(binder: Binder, node: exp.Expression) -> Expression:
    return _equal_fields(binder, binder.bind(node.this), binder.bind(node.expression), node)


_OPPOSITE: Final = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def _not(binder: Binder, node: exp.Expression) -> Expression:
    return _negated(binder, binder.condition(node.this, "NOT"), node)


def _negated(binder: Binder, condition: Expression, node: exp.Expression) -> Expression:
    """Flink turns `NOT a < b` around, also within AND and OR; only NaN makes a difference."""
    match condition:
        case Call() if not any(map(_orders_numbers_as_in_java, walk(condition))):
            pass
        case Call(function=function, args=(value, low, high)) if function.name == "BETWEEN":
            below = binder.operator("<", [value, low], node)
            return binder.operator("OR", [below, binder.operator(">", [value, high], node)], node)
        case Call(function=function, args=args) if function.name in _OPPOSITE:
            return binder.operator(_OPPOSITE[function.name], args, node)
        case Call(function=function, args=args) if function.name in ("AND", "OR"):
            opposite = "OR" if function.name == "AND" else "AND"
            return binder.operator(opposite, [_negated(binder, arg, node) for arg in args], node)
    return binder.operator("NOT", [condition], node)


def _orders_numbers_as_in_java(part: Expression) -> bool:
    return (
        isinstance(part, Call)
        and part.function.name in (*_OPPOSITE, "BETWEEN")
        and are_as_in_java(*(arg.type for arg in part.args))
    )


def _between(binder: Binder, node: exp.Expression) -> Expression:
    value, low, high = binder.bind_all([node.this, node.args["low"], node.args["high"]])
    inside = binder.operator("BETWEEN", [value, low, high], node)
    if not node.args.get("symmetric"):
        return inside
    turned = binder.operator("BETWEEN", [value, high, low], node)
    return binder.operator("OR", [inside, turned], node)


def _in(binder: Binder, node: exp.Expression) -> Expression:
    if node.args.get("query") is not None:
        return _subquery(binder, node)
    value, *members = binder.bind_all([node.this, *node.expressions])
    if _fields_of(value) and all(map(_fields_of, members)):
        return _any(
            binder, [_equal_fields(binder, value, member, node) for member in members], node
        )
    return binder.operator("IN", [value, *members], node)


def _equal_fields(
    binder: Binder, one: Expression, other: Expression, node: exp.Expression
) -> Expression:
    """`(a, b) = (c, d)` is short for `a = c AND b = d`, so that a NULL in it makes it unknown. Rows
    as values are equal if their NULLs are in the same places.
    """
    mine, theirs = _fields_of(one), _fields_of(other)
    if not mine or len(mine) != len(theirs):
        return binder.operator("=", [one, other], node)
    equal = [binder.operator("=", pair, node) for pair in zip(mine, theirs, strict=True)]
    return reduce(lambda left, right: binder.operator("AND", [left, right], node), equal)


def _fields_of(row: Expression) -> tuple[Expression, ...]:
    """The fields of a row that is written out."""
    return row.args if isinstance(row, Call) and row.function.name == "ROW" else ()


def _any(binder: Binder, tests: Sequence[Expression], node: exp.Expression) -> Expression:
    """Whether one of the tests holds. The tree is not as deep as there are tests."""
    if len(tests) == 1:
        return tests[0]
    half = len(tests) // 2
    halves = [_any(binder, tests[:half], node), _any(binder, tests[half:], node)]
    return binder.operator("OR", halves, node)


def _subquery(binder: Binder, node: exp.Expression) -> Expression:
    """Where subqueries are supported, something else has been put in their place."""
    raise unsupported.SUBQUERY.error(span_of(node))


def _escape(binder: Binder, node: exp.Expression) -> Expression:
    pattern = node.this
    name = "LIKE" if isinstance(pattern, exp.Like) else "SIMILAR TO"
    operands = [pattern.this, pattern.expression, node.expression]
    return binder.operator(name, binder.bind_all(operands), node)


def _over(binder: Binder, node: exp.Expression) -> Expression:
    raise PlanError(
        "OVER is only allowed in the SELECT list",
        at=span_of(node),
        hint="compute it in a subquery: SELECT ... FROM (SELECT *, ... OVER (...) AS x FROM t)",
    )


def _overlaps(binder: Binder, node: exp.Expression) -> Expression:
    ends = [*node.this.expressions, *node.expression.expressions]
    return binder.operator("OVERLAPS", binder.bind_all(ends), node)


# --- CASE and CAST -----------------------------------------------------------------------------


def _case(binder: Binder, node: exp.Expression) -> Expression:
    operand = node.args.get("this")
    subject = None if operand is None else binder.bind(operand)
    conditions, values = [], []
    for branch in node.args["ifs"]:
        if subject is None:
            conditions.append(binder.condition(branch.this, "WHEN"))
        else:
            conditions.append(binder.operator("=", [subject, binder.bind(branch.this)], branch))
        values.append(binder.bind(branch.args["true"]))
    default = node.args.get("default")
    values.append(literals.null() if default is None else binder.bind(default))
    common = common_type(values, "the branches of CASE", node)
    *results, otherwise = (convert(value, common) for value in values)
    return Case(tuple(zip(conditions, results, strict=True)), otherwise, common)


def _cast(binder: Binder, node: exp.Expression) -> Expression:
    operand, safe = binder.bind(node.this), isinstance(node, exp.TryCast)
    target = node.args["to"].data_type
    check_can_be_held(target, span_of(node.args["to"]))
    if isinstance(operand.type, t.Null):
        return literals.null(target)
    if not can_cast(operand.type, target):
        raise PlanError(
            f"{operand.type.text()} cannot be cast to {target.text()}",
            at=span_of(node),
            hint=refusal_hint(operand.type, target),
        )
    nullable = operand.type.nullable or safe
    return Cast(operand, target.with_nullable(nullable), safe=safe)


# --- constructors and access -------------------------------------------------------------------


def _constructor(name: str) -> Callable[[Binder, exp.Expression], Expression]:
    def build(binder: Binder, node: exp.Expression) -> Expression:
        return binder.operator(name, binder.bind_all(node.expressions), node)

    return build


def _item(binder: Binder, node: exp.Expression) -> Expression:
    return binder.operator("ITEM", binder.bind_all([node.this, *node.expressions]), node)


# --- the table ---------------------------------------------------------------------------------


def _binary(name: str) -> Callable[[Binder, exp.Expression], Expression]:
    def build(binder: Binder, node: exp.Expression) -> Expression:
        return binder.operator(name, binder.bind_all([node.this, node.expression]), node)

    return build


def _difference(binder: Binder, node: exp.Expression) -> Expression:
    unit = node.args["unit"].args["first"]
    times = binder.bind_all([node.expression, node.this])
    if any(isinstance(time.type, t.NUMERICS) for time in times):
        raise PlanError(
            f"only the difference of two times has the unit {unit}, not that of numbers",
            at=span_of(node),
            hint="to name the column, write AS",
        )
    try:
        return binder.operator("- TO INTERVAL", [literals.symbol(unit), *times], node)
    except PlanError:
        end, start = (time.type.text() for time in reversed(times))
        raise PlanError(
            f"`(a - b) {unit}` of {end} and {start} is not an interval",
            at=span_of(node),
            notes={"expected": "two dates or timestamps, or two times of the day"},
        ) from None


def _connective(name: str) -> Callable[[Binder, exp.Expression], Expression]:
    def build(binder: Binder, node: exp.Expression) -> Expression:
        operands = [binder.condition(side, name) for side in (node.this, node.expression)]
        return binder.operator(name, operands, node)

    return build


def _within_group(binder: Binder, node: exp.WithinGroup) -> Expression:
    if isinstance(node.this, exp.Anonymous):
        binder.bind(node.this)  # PERCENTILE_CONT is not known, and its error says what is
    raise unsupported.WITHIN_GROUP.error(span_of(node))


_BINDERS: dict[type[Any], Callable[[Binder, Any], Expression]] = {
    exp.Column: _column,
    exp.Dot: _column,
    nodes.OfStars: _of_stars,
    exp.Literal: _literal,
    exp.HexString: lambda binder, node: literals.hexadecimal(node),
    exp.Null: lambda binder, node: literals.null(),
    exp.Boolean: lambda binder, node: literals.boolean(node.this),
    nodes.SubqueryValue: lambda binder, node: binder.scope.values[node.this],
    nodes.Unknown: lambda binder, node: literals.null(t.Boolean()),
    nodes.Symbol: lambda binder, node: literals.symbol(node.name),
    nodes.TypedLiteral: lambda binder, node: literals.temporal(node),
    nodes.IntervalLiteral: lambda binder, node: literals.interval(node),
    exp.Paren: lambda binder, node: binder.bind(node.this),
    exp.Neg: _negative,
    nodes.Plus: _plus,
    exp.Not: _not,
    exp.And: _connective("AND"),
    exp.Or: _connective("OR"),
    exp.EQ: _equal,
    exp.NEQ: _binary("<>"),
    exp.LT: _binary("<"),
    exp.LTE: _binary("<="),
    exp.GT: _binary(">"),
    exp.GTE: _binary(">="),
    exp.NullSafeEQ: _binary("IS NOT DISTINCT FROM"),
    exp.NullSafeNEQ: _binary("IS DISTINCT FROM"),
    exp.Add: _binary("+"),
    exp.Sub: _binary("-"),
    exp.Mul: _binary("*"),
    exp.Div: _binary("/"),
    exp.Mod: _binary("%"),
    nodes.Difference: _difference,
    exp.DPipe: _binary("||"),
    exp.Like: _binary("LIKE"),
    exp.SimilarTo: _binary("SIMILAR TO"),
    exp.Escape: _escape,
    exp.Is: _is,
    exp.Between: _between,
    exp.In: _in,
    exp.Exists: _subquery,
    exp.Any: _subquery,
    exp.All: _subquery,
    exp.Query: _subquery,
    exp.Overlaps: _overlaps,
    exp.Window: _over,
    exp.WithinGroup: _within_group,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Bracket: _item,
    nodes.RowConstructor: _constructor("ROW"),
    nodes.ArrayConstructor: _constructor("ARRAY"),
    nodes.MapConstructor: _constructor("MAP"),
    exp.Anonymous: lambda binder, node: calls.function_call(binder, node),
    nodes.JsonCall: lambda binder, node: calls.json_call(binder, node),
}
