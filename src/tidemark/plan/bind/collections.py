"""The collections whose elements FROM makes rows: UNNEST, and the rows of table functions."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from tidemark import types as t
from tidemark.catalog.loading import resolved
from tidemark.catalog.tables import UserFunction
from tidemark.dialect import nodes, span_of
from tidemark.dialect.keywords import CHANGELOG_FUNCTIONS
from tidemark.dialect.statements import Name
from tidemark.errors import PlanError, did_you_mean
from tidemark.functions.elsewhere import instead_of
from tidemark.plan.bind.changelogs import is_changelog_function
from tidemark.plan.conjunctions import both, conjunction
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression, UserCall
from tidemark.plan.features import WINDOW_TABLE_FUNCTIONS
from tidemark.plan.joins.using import merged_columns, with_merged
from tidemark.plan.nodes import Column, Edge, Filter, Unnest
from tidemark.plan.relation import ONE_EMPTY_ROW, Relation, check_distinct, check_number
from tidemark.plan.scalars.calls import as_parameters
from tidemark.plan.scalars.conditions import is_true
from tidemark.plan.scope import Scope
from tidemark.plan.windows.functions import is_window_function

# The name of an element that is not a row.
_ELEMENT = "EXPR$0"


def is_collection(relation: exp.Expression, context: Context) -> bool:
    """Whether it is UNNEST, or TABLE(f(...)) of a user's function."""
    call = _called(relation)
    if not isinstance(call, nodes.TableFunction):
        return isinstance(relation, exp.Unnest)
    if is_window_function(call) or is_changelog_function(relation, context):
        return False
    return call.name.lower() not in context.catalogs.temporal_functions


def join_collection(left: Relation, join: exp.Join, context: Context) -> Relation:
    """Each row of the left side with each element; LEFT keeps rows without elements."""
    side = join.args.get("side") or ""
    if side not in ("", "LEFT"):
        what = "UNNEST" if isinstance(join.this, exp.Unnest) else "LATERAL TABLE"
        raise PlanError(
            f"{side} JOIN {what} is not allowed; use CROSS JOIN or LEFT JOIN", at=span_of(join)
        )
    relation = bind_collection(left, join.this, side == "LEFT", context)
    binder, width = context.binder(relation.scope), len(left.scope.visible)
    added = relation.scope.visible[width:]
    elements = Relation(ONE_EMPTY_ROW.node, Scope.of(Edge(tuple(each.column for each in added))))
    merged = merged_columns(join, left, elements)
    tests: list[Expression] = [
        binder.operator("=", (each.left, each.right), each.written) for each in merged
    ]
    condition = join.args.get("on")
    if condition is not None and not is_true(condition):
        tests.append(binder.condition(condition, "ON"))
    return with_merged(meeting(relation, conjunction(tests)), merged, "left" if side else "inner")


def meeting(relation: Relation, condition: Expression | None) -> Relation:
    """The rows of UNNEST whose elements meet a further condition."""
    if condition is None:
        return relation
    if isinstance(relation.node, Unnest) and relation.node.outer:
        before = relation.node.condition
        condition = condition if before is None else both(before, condition)
        return replace(relation, node=replace(relation.node, condition=condition))
    return replace(relation, node=Filter(relation.node, condition))


def bind_collection(
    left: Relation, node: exp.Expression, outer: bool, context: Context
) -> Relation:
    collection = _collection(left, node, context)
    ordinality = bool(node.args.get("ordinality"))
    elements = _element_columns(collection, node, ordinality)
    if outer:
        elements = [replace(c, type=c.type.with_nullable(True)) for c in elements]
    table, added = _named_elements(elements, node)
    if table and left.scope.has_table(table):
        raise PlanError(f"table name or alias `{table[0]}` is used twice in FROM", at=span_of(node))
    scope = left.scope + Scope.of(Edge(added), *table)
    return Relation(Unnest(left.node, collection, added, outer, ordinality), scope)


def _collection(left: Relation, node: exp.Expression, context: Context) -> Expression:
    call = _called(node)
    if isinstance(call, nodes.TableFunction):
        return _call(left, call, context)
    if len(node.expressions) != 1:
        raise PlanError("UNNEST takes exactly one collection", at=span_of(node))
    return context.binder(left.scope).bind(node.expressions[0])


def _called(relation: exp.Expression) -> exp.Expression:
    inner = relation.this if isinstance(relation, exp.Lateral) else relation
    assert isinstance(inner, exp.Expression)
    return inner


# --- table functions ---------------------------------------------------------------------------


def _call(left: Relation, call: nodes.TableFunction, context: Context) -> Expression:
    """The rows that a table function returns for a row, as an array."""
    function = _function(call, context)
    args = context.binder(left.scope).bind_all(call.expressions)
    args = as_parameters(args, function, call, call.expressions)
    assert function.returns is not None
    rows = t.Array(function.returns.with_nullable(False))
    return UserCall(replace(function, returns=rows), args, rows)


def _function(call: nodes.TableFunction, context: Context) -> UserFunction:
    declared = context.catalogs.function(Name((call.name,)))
    if declared is None:
        built_in = WINDOW_TABLE_FUNCTIONS | CHANGELOG_FUNCTIONS
        known = [*context.catalogs.function_names(), *sorted(built_in)]
        raise PlanError(
            f"unknown table function `{call.name}`",
            at=span_of(call),
            hint=instead_of(call.name)
            or did_you_mean(call.name, known)
            or f"declare it: CREATE FUNCTION {call.name} AS 'module.function' LANGUAGE PYTHON",
        )
    function = resolved(declared, at=span_of(call))
    if not function.table:
        raise PlanError(
            f"`{function.name}` is not a table function",
            at=span_of(call),
            hint="declare it with @tidemark.udtf, with udtf of pyflink.table.udf, or by "
            "session.create_table_function",
        )
    if not isinstance(function.returns, t.Row):
        assert function.returns is not None
        raise PlanError(
            f"table function `{function.name}` must return a ROW, not {function.returns.text()}",
            at=span_of(call),
        )
    return function


# --- names -------------------------------------------------------------------------------------


def _named_elements(
    elements: list[Column], node: exp.Expression
) -> tuple[tuple[str, ...], tuple[Column, ...]]:
    """The alias, and the columns under the names that it gives them.

    An alias without column names is the name of the element itself if that is not a row:
    `UNNEST(tags) AS tag`.
    """
    alias = node.args.get("alias")
    if alias is None:
        return (), tuple(elements)
    names = [column.name for column in alias.args.get("columns") or ()]
    if names:
        check_number(names, elements, span_of(alias))
        check_distinct(names, span_of(alias))
    else:
        names = [alias.name if c.name == _ELEMENT else c.name for c in elements]
    named = tuple(replace(c, name=n) for c, n in zip(elements, names, strict=True))
    return (alias.name,), named


def _element_columns(
    collection: Expression, node: exp.Expression, ordinality: bool
) -> list[Column]:
    columns = []
    match collection.type:
        case t.Array(element=t.Row() as row) | t.Multiset(element=t.Row() as row):
            columns = [Column(field.name, field.type) for field in row.fields]
        case t.Array(element=element) | t.Multiset(element=element):
            columns = [Column(_ELEMENT, element)]
        case t.Map(key=key, value=value):
            columns = [Column("KEY", key), Column("VALUE", value)]
        case other:
            raise PlanError(
                f"UNNEST requires an ARRAY, MAP or MULTISET, not {other.text()}", at=span_of(node)
            )
    if ordinality:
        columns.append(Column("ORDINALITY", t.Int(nullable=False)))
    return columns
