"""Finds the conditions of WHERE that test the rows of a subquery, and takes them out of the SELECT:
EXISTS, IN, comparisons with ANY and ALL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from sqlglot import exp

from tidemark.dialect import nodes
from tidemark.plan.order_clauses import without as without_clauses
from tidemark.plan.scalars.conditions import flattened, without


@dataclass(frozen=True, slots=True)
class SubqueryCondition:
    """A condition that holds if a subquery has a row for the current row (`semi`), or if it has
    none (`anti`). The values `compared` must then be in the relation `operator` to what the
    subquery selects: one that fits makes it true, or one that may not fit makes it false.
    """

    node: exp.Expression
    query: exp.Expression
    compared: tuple[exp.Expression, ...]
    operator: str
    how: Literal["semi", "anti"]


def take_conditions(
    select: exp.Select,
) -> tuple[exp.Select, tuple[SubqueryCondition, ...]]:
    """The SELECT without those parts of its WHERE, and these."""
    where = select.args.get("where")
    parts = flattened(where.this) if where is not None else []
    found = tuple(one for part in parts if (one := condition_of(part)) is not None)
    if where is None or not found:
        return select, ()
    rest = without(where.this, [one.node for one in found])
    plain = select.copy()
    plain.set("where", None if rest is None else exp.Where(this=rest))
    return plain, found


def condition_of(node: exp.Expression) -> SubqueryCondition | None:
    """What a node tests of a subquery, if it does."""
    return _condition(node, node)


def _condition(
    part: exp.Expression, node: exp.Expression, *, negated: bool = False
) -> SubqueryCondition | None:
    match part:
        case exp.Paren():
            return _condition(part.this, node, negated=negated)
        case exp.Not():
            return _condition(part.this, node, negated=not negated)
        case exp.Exists():
            query = _without_limit(part.this)
            return SubqueryCondition(node, query, (), "=", "anti" if negated else "semi")
        case exp.In() if part.args.get("query") is not None:
            compared = fields_of(part.this)
            how: Literal["semi", "anti"] = "anti" if negated else "semi"
            return SubqueryCondition(node, part.args["query"], compared, "=", how)
    if type(part) in COMPARISONS and isinstance(part.expression, exp.Any | exp.All):
        return _quantified(part, node, negated=negated)
    return None


def _without_limit(query: exp.Expression) -> exp.Expression:
    """Some row exists if one of the first ones does: `EXISTS (SELECT 1 ... LIMIT 1)`."""
    limit = query.args.get("limit")
    if limit is None or query.args.get("offset") or query.args.get("order"):
        return query
    return query if limit.expression.name == "0" else without_clauses(query, "limit")


def _quantified(
    part: exp.Expression, node: exp.Expression, *, negated: bool
) -> SubqueryCondition | None:
    """`x > ANY (...)` holds for some row, `x > ALL (...)` fails for none. Negated, they hold where
    the opposite comparison does for all rows, or for some row.
    """
    of_all, operator = isinstance(part.expression, exp.All), COMPARISONS[type(part)]
    if negated:
        of_all, operator = not of_all, OPPOSITES[operator]
    if of_all and operator == "<>":
        operator = "="  # NOT IN
    elif of_all:
        operator = f"NOT {operator}"
    query, compared = part.expression.this, fields_of(part.this)
    return SubqueryCondition(node, query, compared, operator, "anti" if of_all else "semi")


COMPARISONS: Final[dict[type[exp.Expression], str]] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
OPPOSITES: Final = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def fields_of(value: exp.Expression) -> tuple[exp.Expression, ...]:
    """The values of `(a, b)`, or the only one."""
    return tuple(value.expressions) if isinstance(value, nodes.RowConstructor) else (value,)
