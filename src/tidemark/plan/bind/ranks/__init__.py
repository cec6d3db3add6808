"""ROW_NUMBER() in a subquery with a condition on the number around it: one row of each key, or
the first few. It is bound once; then a table of rules decides what kind of ranking it is.
"""

from __future__ import annotations

from typing import Final

from tidemark.errors import Span
from tidemark.plan.bind.ranks import in_windows, keep_first, keep_last
from tidemark.plan.bind.ranks.not_yet import refusal
from tidemark.plan.bind.ranks.numbered import Numbered, bound, find
from tidemark.plan.bind.ranks.rule import RankRule
from tidemark.plan.context import Context
from tidemark.plan.expressions import Ref
from tidemark.plan.features import refuse_what_cannot_run
from tidemark.plan.nodes import Node
from tidemark.plan.relation import Relation, aliased
from tidemark.plan.scope import Scope, Visible
from tidemark.plan.select_list import project_select

__all__ = ["RULES", "bind", "find"]

# The first rule that applies.
RULES: Final = (
    RankRule("window rank", in_windows.applies, in_windows.plan),
    RankRule("keep first", keep_first.applies, keep_first.plan),
    RankRule("keep last", keep_last.applies, keep_last.plan),
)


def bind(numbered: Numbered, context: Context) -> Relation:
    """The output of the outer SELECT: the columns of the inner query, of the wanted rows only."""
    rank = bound(numbered, context)
    rule = next((rule for rule in RULES if rule.applies(rank)), None)
    if rule is None:
        raise refusal(rank)
    ranked = rule.plan(rank)
    plain = numbered.with_number(ranked.number)
    refuse_what_cannot_run(plain)
    scope = _RankedScope(_visible(rank.relation.scope, ranked.node))
    rows = project_select(plain, Relation(ranked.node, scope), context)
    return aliased(rows, numbered.subquery, ())


def _visible(scope: Scope, ranked: Node) -> list[Visible]:
    """The columns of the relation, and those that the ranking added."""
    added = ranked.edge.columns[len(scope.visible) :]
    return [*scope.visible, *(Visible((), column) for column in added)]


class _RankedScope(Scope):
    """A scope in which `*` omits what the user did not write."""

    def star(self, table: tuple[str, ...], at: Span | None) -> list[Ref]:
        return [ref for ref in super().star(table, at) if not ref.name.startswith("$")]
