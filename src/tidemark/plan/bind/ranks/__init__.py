"""ROW_NUMBER() or another rank in a subquery with a condition on the number around it: one row of
each key, or the first few. It is bound once; then a table of rules decides which kind it is.
"""

from __future__ import annotations

from typing import Final

from tidemark.errors import Span
from tidemark.plan import unsupported
from tidemark.plan.bind.ranks import in_windows, keep_first, keep_last, top_n
from tidemark.plan.bind.ranks.numbered import Numbered, bound, find
from tidemark.plan.bind.ranks.rule import RankRule
from tidemark.plan.context import Context
from tidemark.plan.expressions import Ref
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
    RankRule("top n", top_n.applies, top_n.plan),
)


def bind(numbered: Numbered, context: Context) -> Relation:
    """The output of the outer SELECT: the columns of the inner query, of the wanted rows only."""
    rank = bound(numbered, context)
    rule = next((rule for rule in RULES if rule.applies(rank)), None)
    if rule is None:
        raise unsupported.RANK_WITHOUT_ORDER.error(rank.at)
    ranked = rule.plan(rank)
    plain = numbered.with_number(ranked.number)
    scope = _RankedScope(rank.relation.scope, ranked.node)
    rows = project_select(plain, Relation(ranked.node, scope), context)
    return aliased(rows, numbered.subquery, ())


class _RankedScope(Scope):
    """The columns of a relation, and those that the ranking added, which `*` omits."""

    def __init__(self, scope: Scope, ranked: Node) -> None:
        self._written = len(scope.visible)
        added = ranked.edge.columns[self._written :]
        super().__init__([*scope.visible, *(Visible((), column) for column in added)])

    def star(self, table: tuple[str, ...], at: Span | None) -> list[Ref]:
        return [ref for ref in super().star(table, at) if ref.index < self._written]
