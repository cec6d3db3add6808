"""`L [LEFT|RIGHT|FULL] JOIN R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end
= R.window_end`, where both sides are in windows of the same kind; also with EXISTS and IN.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from tidemark.catalog.tables import Changelog
from tidemark.dialect import span_of
from tidemark.errors import PlanError
from tidemark.plan import unsupported, window_words
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression, Ref
from tidemark.plan.joins.bound import BoundJoin, pairs_of
from tidemark.plan.joins.keys import nullable_scope
from tidemark.plan.joins.sides import JoinSides, Part
from tidemark.plan.nodes import Edge, Node, WindowColumn, WindowJoin
from tidemark.plan.nodes.window_columns import is_in_processing_time
from tidemark.plan.relation import Relation

_BOUNDS = ("start", "end")


def applies(join: BoundJoin) -> bool:
    """Whether the starts and ends of windows of the same kind are compared."""
    return _Condition.of(join).has_windows


def plan(join: BoundJoin, context: Context) -> Relation:
    """The pairs of rows that are in the same window."""
    left, right, how = join.left, join.right, join.how
    bound = _joined(join, _Condition.of(join), context)
    if how in ("semi", "anti"):
        return Relation(bound, left.scope)
    how = join.padded_as or how
    scope = nullable_scope(left.scope, how in ("right", "full"))
    return Relation(bound, scope + nullable_scope(right.scope, how in ("left", "full")))


# --- the condition -----------------------------------------------------------------------------


@dataclass(slots=True)
class _Condition:
    """The parts of the condition: the same window, equal keys, and the rest."""

    left: Edge
    right: Edge
    bounds: dict[str, tuple[int, int]] = field(default_factory=dict)
    keys: list[tuple[Expression, Expression, bool]] = field(default_factory=list)
    rest: list[Part] = field(default_factory=list)
    # Windows that are compared, but are not of the same kind.
    different: list[tuple[WindowColumn, WindowColumn]] = field(default_factory=list)

    @property
    def has_windows(self) -> bool:
        return self.bounds.keys() >= set(_BOUNDS)

    @classmethod
    def of(cls, join: BoundJoin) -> _Condition:
        made = cls(join.left.node.edge, join.right.node.edge)
        made.rest += [one.part for one in join.on if one.pair is None]
        known = [one for one in join.where if not one.nulls_equal]
        for pair in pairs_of([*join.on, *known]):
            made._add_pair(*pair)
        return made

    def _add_pair(self, mine: Expression, theirs: Expression, nulls_equal: bool) -> None:
        windows = _window(self.left, mine), _window(self.right, theirs)
        if windows[0] is not None and windows[1] is not None and windows[0].says in _BOUNDS:
            if windows[0] == windows[1]:
                assert isinstance(mine, Ref) and isinstance(theirs, Ref)
                self.bounds.setdefault(windows[0].says, (mine.index, theirs.index))
                return
            if windows[0].says == windows[1].says:
                self.different.append((windows[0], windows[1]))
        key = (mine, theirs, nulls_equal)
        if key not in self.keys:
            self.keys.append(key)


def _window(edge: Edge, value: Expression) -> WindowColumn | None:
    return edge.columns[value.index].window if isinstance(value, Ref) else None


# --- warnings and refusals ----------------------------------------------------------------------


def warn_if_almost(join: BoundJoin, context: Context) -> None:
    """Warn if a join compares columns of a window but is not quite a window join."""
    matched, what = _Condition.of(join), ""
    if matched.different:
        mine, theirs = matched.different[0]
        names = [window_words.window(mine.assigner), window_words.window(theirs.assigner)]
        if mine.assigner == theirs.assigner:
            names = [f"by {mine.time.text()}", f"by {theirs.time.text()}"]
        what = f"the sides have different windows, {' and '.join(names)}"
    elif matched.bounds:
        [missing] = set(_BOUNDS) - matched.bounds.keys()
        what = f"without l.window_{missing} = r.window_{missing} windows may differ"
    if what:
        context.warn(
            f"this join of windows runs as a regular join, which keeps rows forever: {what}"
        )


def _check(left: Node, right: Node, at: exp.Expression) -> None:
    for side, node in (("left", left), ("right", right)):
        if node.edge.changelog is not Changelog.APPEND:
            raise PlanError(
                f"window joins need append-only inputs, and the {side} side is a changelog with "
                "updates and deletes",
                at=span_of(at),
                notes={"changelog": node.edge.changelog.value},
                hint="aggregate the windows first, which yields one row each, and join the results",
            )
        if is_in_processing_time(node):
            raise unsupported.WINDOW_JOIN_BY_CLOCK.error(span_of(at), where=f" ({side} side)")


# --- the join ----------------------------------------------------------------------------------


def _joined(join: BoundJoin, matched: _Condition, context: Context) -> Node:
    left, right, how, at = join.left.node, join.right.node, join.how, join.at
    _check(left, right, at if span_of(at) is not None else at.this)
    if not matched.keys:
        context.warn(
            "the window join has no equality besides its windows: all rows go to one key group"
        )
    keys = [mine for mine, _, _ in matched.keys], [theirs for _, theirs, _ in matched.keys]
    sides = JoinSides.of(left, right, keys, tuple(matched.rest), how)
    starts, ends = matched.bounds["start"], matched.bounds["end"]
    window = left.edge.columns[starts[0]].window
    assert window is not None
    joined = WindowJoin(
        left=sides.left,
        right=sides.right,
        left_keys=sides.left_keys,
        right_keys=sides.right_keys,
        nulls_equal=tuple(nulls for _, _, nulls in matched.keys),
        left_window=(starts[0], ends[0]),
        right_window=(starts[1], ends[1]),
        how=how,
        padded_as=join.padded_as,
        condition=sides.condition,
        time_type=window.time,
    )
    return sides.finished(joined)
