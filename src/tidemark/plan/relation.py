"""A plan and the names that its columns have in a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from tidemark.dialect import span_of
from tidemark.errors import PlanError, Span
from tidemark.plan.nodes import Column, Node, Values, project
from tidemark.plan.scope import Scope


@dataclass(frozen=True, slots=True)
class Relation:
    """A plan and the names its columns may be called by; of a join also the parts of WHERE that
    it has `met` for good, so that nothing above it tests them again."""

    node: Node
    scope: Scope
    met: tuple[exp.Expression, ...] = ()


ONE_EMPTY_ROW = Relation(Values(((),), ()), Scope())


def aliased(bound: Node, node: exp.Expression, table: tuple[str, ...]) -> Relation:
    alias = node.args.get("alias")
    if alias is None:
        return Relation(bound, Scope.of(bound.edge, *table))
    bound = renamed(bound, alias.args.get("columns") or (), alias)
    return Relation(bound, Scope.of(bound.edge, *((alias.name,) if alias.name else table)))


def renamed(bound: Node, names: Sequence[exp.Expression], at: exp.Expression) -> Node:
    """The same rows under other column names, if any are given."""
    return renamed_to(bound, [name.name for name in names], span_of(at)) if names else bound


def renamed_to(bound: Node, names: Sequence[str], at: Span | None) -> Node:
    columns = bound.edge.columns
    check_number(names, columns, at)
    check_distinct(names, at)
    scope = Scope.of(bound.edge)
    return project(bound, [scope.ref(index) for index in range(len(columns))], names)


def check_number(names: Sequence[str], columns: Sequence[Column], at: Span | None) -> None:
    if len(names) != len(columns):
        raise PlanError(
            f"found {len(names)} column names for {len(columns)} columns",
            at=at,
            notes={"columns": ", ".join(column.name for column in columns)},
        )


def check_distinct(names: Sequence[str], at: Span | None) -> None:
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise PlanError(
            f"column name `{repeated[0]}` is used twice",
            at=at,
            hint="give each column a unique name, with AS or in a list of names",
        )
