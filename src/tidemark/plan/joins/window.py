"""`L [LEFT|RIGHT|FULL] JOIN R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end
= R.window_end`, where both sides are in windows of one kind; also by EXISTS and IN."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from tidemark.catalog.tables import Changelog
from tidemark.dialect import span_of
from tidemark.errors import NotSupported, PlanError
from tidemark.plan import window_words
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression, Ref
from tidemark.plan.joins import interval as interval_joins
from tidemark.plan.joins.keys import key_pair, nullable_scope
from tidemark.plan.joins.sides import JoinSides, Part
from tidemark.plan.nodes import Edge, How, Node, WindowColumn, WindowJoin
from tidemark.plan.nodes.window_columns import is_by_clock
from tidemark.plan.relation import Relation
from tidemark.plan.scalars.binder import Binder
from tidemark.plan.scalars.conditions import flattened
from tidemark.plan.scope import InnerFirst

_HOW: dict[str, How] = {"INNER": "inner", "LEFT": "left", "RIGHT": "right", "FULL": "full"}
_BOUNDS = ("start", "end")


def bind_window_join(
    left: Relation, join: exp.Join, where: exp.Expression | None, context: Context
) -> Relation | None:
    """The pairs of rows that are in one window; None where the join is of another kind."""
    how = _HOW.get((join.args.get("side") or "INNER").upper())
    no_words = join.args.get("using") or join.args.get("method")
    if how is None or no_words or not _has_windows(left.node.edge):
        return None
    right = context.bind_relation(join.this)
    matched = _Condition(left.node.edge, right.node.edge)
    binder = context.binder(left.scope + right.scope)
    for part in flattened(join.args["on"]) if join.args.get("on") is not None else ():
        matched.add(part, binder)
    if how == "inner":
        # Those of WHERE are tested above the join too: here they only tell what may match.
        for part in flattened(where) if where is not None else ():
            matched.add_key(part, binder)
    if not matched.has_windows:
        _warn_of_windows(matched, context)
        return None
    bound = _joined(left.node, right.node, matched, how, join, context)
    scope = nullable_scope(left.scope, how in ("right", "full"))
    return Relation(bound, scope + nullable_scope(right.scope, how in ("left", "full")))


def bind_sub_query(
    left: Relation, sub: interval_joins.SubQuery, context: Context
) -> Relation | None:
    """The rows of `left` that have, or do not have, a row of the sub-query in their window;
    None where the sub-query does not speak of windows."""
    start, where = sub.query.args.get("from_"), sub.query.args.get("where")
    if start is None or where is None or not _has_windows(left.node.edge):
        return None
    right = context.bind_relation(start.this)
    matched = _Condition(left.node.edge, right.node.edge)
    binder = context.binder(InnerFirst(left.scope, right.scope))
    for part in flattened(where.this):
        matched.add(part, binder)
    for compared, selected in zip(sub.compared, sub.query.expressions, strict=False):
        pair = binder.bind(compared), binder.bind(selected)
        if sub.how == "anti":
            matched.add_unless_known_different(*pair, sub.node, binder)
        else:
            matched.add_equality(*pair, exp.EQ(this=compared, expression=selected), binder)
    if not matched.has_windows:
        _warn_of_windows(matched, context)
        return None
    bound = _joined(left.node, right.node, matched, sub.how, sub.node, context)
    return Relation(bound, left.scope)


def _has_windows(edge: Edge) -> bool:
    return any(column.window is not None for column in edge.columns)


# --- the condition -----------------------------------------------------------------------------


@dataclass(slots=True)
class _Condition:
    """What the condition asks for: one window, equal keys, and the rest."""

    left: Edge
    right: Edge
    bounds: dict[str, tuple[int, int]] = field(default_factory=dict)
    keys: list[tuple[Expression, Expression, bool]] = field(default_factory=list)
    rest: list[Part] = field(default_factory=list)
    # Windows that were compared, but are not of one kind.
    different: list[tuple[WindowColumn, WindowColumn]] = field(default_factory=list)

    @property
    def has_windows(self) -> bool:
        return self.bounds.keys() >= set(_BOUNDS)

    def add(self, part: exp.Expression, binder: Binder) -> None:
        """A part of ON."""
        if not isinstance(part, exp.EQ | exp.NullSafeEQ):
            self.rest.append((binder.condition(part, "ON"), part))
            return
        one, other = binder.bind(part.this), binder.bind(part.expression)
        self.add_equality(one, other, part, binder)

    def add_key(self, part: exp.Expression, binder: Binder) -> None:
        """A part of WHERE, which may speak of tables that are not in sight yet."""
        if not isinstance(part, exp.EQ):
            return
        try:
            one, other = binder.bind(part.this), binder.bind(part.expression)
        except (PlanError, NotSupported):
            return  # it is bound again where all tables are in sight
        pair = key_pair(one, other, len(self.left.columns), part)
        if pair is not None:
            self._add_pair(*pair, nulls_equal=False)

    def add_equality(
        self, one: Expression, other: Expression, part: exp.Expression, binder: Binder
    ) -> None:
        nulls_equal = isinstance(part, exp.NullSafeEQ)
        pair = key_pair(one, other, len(self.left.columns), part)
        if pair is not None:
            self._add_pair(*pair, nulls_equal)
        else:
            name = "IS NOT DISTINCT FROM" if nulls_equal else "="
            self.rest.append((binder.operator(name, [one, other], part), part))

    def add_unless_known_different(
        self, one: Expression, other: Expression, part: exp.Expression, binder: Binder
    ) -> None:
        """`one NOT IN (other)`: a null on either side might be equal, so it excludes too."""
        if not (one.type.nullable or other.type.nullable):
            self.add_equality(one, other, exp.EQ(this=part, expression=part), binder)
            return
        tests = [binder.operator("IS NULL", [side], part) for side in (one, other)]
        equal = binder.operator("=", [one, other], part)
        either = binder.operator("OR", tests, part)
        self.rest.append((binder.operator("OR", [either, equal], part), part))

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


# --- what is said and refused --------------------------------------------------------------------


def _warn_of_windows(matched: _Condition, context: Context) -> None:
    """Say why a join that speaks of a window is not a window join, where it is one almost."""
    what = ""
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
        if is_by_clock(node):
            raise NotSupported(
                f"window joins over processing-time windows are not supported ({side} side)"
                "processing time",
                at=span_of(at),
                notes={"why": "both sides need a watermark to know when a window has ended"},
                hint="use windows over a column with a WATERMARK",
            )


# --- the join ----------------------------------------------------------------------------------


def _joined(
    left: Node,
    right: Node,
    matched: _Condition,
    how: How,
    at: exp.Expression,
    context: Context,
) -> Node:
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
    join = WindowJoin(
        left=sides.left,
        right=sides.right,
        left_keys=sides.left_keys,
        right_keys=sides.right_keys,
        nulls_equal=tuple(nulls for _, _, nulls in matched.keys),
        left_window=(starts[0], ends[0]),
        right_window=(starts[1], ends[1]),
        how=how,
        condition=sides.condition,
        time_type=window.time,
    )
    return sides.finished(join)
