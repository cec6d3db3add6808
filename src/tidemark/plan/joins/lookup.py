"""`L [LEFT] JOIN T FOR SYSTEM_TIME AS OF L.pt ON ...`: each left row with the rows that T has when
it arrives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.dialect import span_of
from tidemark.errors import PlanError
from tidemark.plan import unsupported
from tidemark.plan.conjunctions import conjunction
from tidemark.plan.context import Context
from tidemark.plan.expressions import (
    Call,
    Cast,
    Expression,
    Ref,
    over,
    references,
    shifted,
    walk,
)
from tidemark.plan.expressions import (
    Literal as Constant,
)
from tidemark.plan.joins.as_of import AsOf
from tidemark.plan.joins.bound import BoundJoin, Conjunct, pairs_of
from tidemark.plan.joins.keys import nullable_scope, with_keys
from tidemark.plan.joins.lookup_hints import retry_of
from tidemark.plan.joins.pair_conditions import COMPARISONS, LOGIC
from tidemark.plan.looked_up import LookedUp, without_watermark
from tidemark.plan.nodes import Filter, LookupJoin, LookupRetry, Node, filtered, project
from tidemark.plan.relation import Relation
from tidemark.plan.scalars.conversions import convert
from tidemark.plan.scope import Scope
from tidemark.plan.words import words

_ONCE = "full, loaded once"


def applies(join: BoundJoin) -> bool:
    """Whether a table is to be joined as it is now, and nothing says when it has been loaded."""
    as_of = join.as_of
    if as_of is None or as_of.kind != "processing" or as_of.versions.of_function:
        return False
    return as_of.load_idle_ms is None or not as_of.versions.readable


def plan(join: BoundJoin, context: Context) -> Relation:
    """The left rows with the rows that are found for them. Of a changelog, rows of all kinds are
    joined so, each when it arrives (same in Flink).
    """
    assert join.as_of is not None
    how = _how(join)
    right = _right_side(join.right.node, join.as_of, context)
    parts = _Parts.of(join, LookedUp.of(right.node) if right.by == "keys" else None)
    for test in parts.of_right:
        right = replace(right, node=Filter(right.node, test))
    left, left_keys = with_keys(join.left.node, parts.left)
    node, right_keys = with_keys(right.node, parts.right)
    inside = parts.rest if how == "left" else ()
    joined = LookupJoin(
        left=left,
        right=node,
        left_keys=left_keys,
        right_keys=right_keys,
        how=how,
        by=right.by,
        cache=right.cache,
        condition=_moved(inside, len(join.left.node.edge.columns), len(left.edge.columns)),
        retry=_retry(join.as_of, right.by, context),
    )
    rows = _finished(joined, join, () if how == "left" else parts.rest)
    scope = join.left.scope + nullable_scope(join.right.scope, how == "left")
    named = zip(scope.visible, rows.edge.columns, strict=True)
    return Relation(rows, Scope(replace(v, column=column) for v, column in named))


def _how(join: BoundJoin) -> Literal["inner", "left"]:
    if join.how == "inner" or join.how == "left":
        return join.how
    raise unsupported.OUTER_TEMPORAL_JOIN.error(span_of(join.at), join.how.upper())


# --- the right side ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Right:
    """The rows on the right, and how they are looked up."""

    node: Node
    by: Literal["keys", "whole", "once"]
    cache: str


def _right_side(node: Node, as_of: AsOf, context: Context) -> _Right:
    table = LookedUp.of(node)
    traits = None if table is None else context.traits(table.scan.table, "read").lookup
    if traits is not None and not node.edge.changes:
        return _Right(without_watermark(node), traits.by, traits.cache)
    if node.edge.bounded and node.edge.changelog is not Changelog.UPSERT:
        return _Right(node, "once", _ONCE)
    raise unsupported.LOOKUP_JOIN.error(span_of(as_of.time))


# --- the condition -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of a condition: the values that must be equal, tests of the right rows, which their
    connector may know how to do, and the rest, over both sides.
    """

    left: tuple[Expression, ...]
    right: tuple[Expression, ...]
    of_right: tuple[Expression, ...]
    rest: tuple[Expression, ...]

    @classmethod
    def of(cls, join: BoundJoin, table: LookedUp | None) -> _Parts:
        """A `table` that is looked up by key knows only values of its own columns."""
        width = len(join.left.node.edge.columns)
        conjuncts = (*join.on, *join.where)
        equal = [one for one in conjuncts if _is_key(one, table)]
        pairs = [(mine, theirs) for mine, theirs, _ in pairs_of(equal)]
        pairs = pairs or [*_constant_keys(conjuncts, width, table)]
        if not pairs:
            raise _without_key(join)
        tests = [one for one in conjuncts if _is_simple_test(one.bound, width)]
        rest = [one for one in join.on if one not in equal and one not in tests]
        return cls(
            tuple(mine for mine, _ in pairs),
            tuple(theirs for _, theirs in pairs),
            tuple(shifted(one.bound, -width) for one in tests),
            tuple(one.bound for one in rest),
        )


def _is_key(one: Conjunct, table: LookedUp | None) -> bool:
    """NULLs that are equal cannot be looked up (same in Flink)."""
    if one.pair is None or one.nulls_equal:
        return False
    theirs = one.pair[1]
    if table is None:
        return True
    return isinstance(theirs, Ref) and table.place(theirs.index) is not None


def _constant_keys(
    conjuncts: Sequence[Conjunct], width: int, table: LookedUp | None
) -> Iterator[tuple[Expression, Expression]]:
    """The constants that columns of the right side must be equal to, and these columns: all left
    rows look up the same.
    """
    for one in conjuncts:
        call = one.bound
        if not isinstance(call, Call) or call.function.name != "=":
            continue
        for theirs, mine in (call.args, call.args[::-1]):
            if not isinstance(theirs, Ref) or theirs.index < width or references(mine):
                continue
            wanted, column = theirs.type.with_nullable(mine.type.nullable), theirs.index - width
            # A constant that the column's type cannot hold is tested, not looked up.
            holds = t.widest_type([mine.type, wanted]) == wanted
            if holds and (table is None or table.place(column) is not None):
                yield convert(mine, wanted), replace(theirs, index=column)


def _without_key(join: BoundJoin) -> PlanError:
    pairs = [(mine, theirs) for mine, theirs, _ in pairs_of((*join.on, *join.where))]
    compared = ", ".join(f"{words(mine)} = {words(theirs)}" for mine, theirs in pairs)
    casts = any(isinstance(theirs, Cast) and theirs.implicit for _, theirs in pairs)
    return PlanError(
        "a lookup join requires a column of the right side that is equal to a value of the left "
        "side of the same type, or to a constant (same in Flink)",
        at=span_of(join.at),
        notes={"compared": compared} if compared else None,
        hint="CAST the left side to the type of the column" if casts else "add ON l.id = r.id",
    )


def _is_simple_test(condition: Expression, width: int) -> bool:
    """Whether it compares columns of the right side with constants."""
    used = references(condition)
    return bool(used) and min(used) >= width and all(map(_is_simple, walk(condition)))


def _is_simple(part: Expression) -> bool:
    match part:
        case Ref() | Constant():
            return True
        case Cast(implicit=implicit):
            return implicit
        case Call(function=function):
            return function.name in _SIMPLE
    return False


_SIMPLE = COMPARISONS | LOGIC | {"BETWEEN", "IN", "IS NOT NULL"}


def _moved(tests: Sequence[Expression], before: int, width: int) -> Expression | None:
    """All tests as one, over a left side that has grown."""

    def column(ref: Ref) -> Ref:
        return ref if ref.index < before else replace(ref, index=ref.index + width - before)

    condition = conjunction(tests)
    return None if condition is None else over(condition, column)


def _finished(joined: LookupJoin, join: BoundJoin, rest: Sequence[Expression]) -> Node:
    """The rows with the columns that the query sees, and the rest of an inner join's condition."""
    left, right = len(join.left.node.edge.columns), len(join.right.node.edge.columns)
    offset = len(joined.left.edge.columns)
    kept = [*range(left), *range(offset, offset + right)]
    edge = joined.edge
    rows = project(joined, [edge.ref(i) for i in kept], [edge.names[i] for i in kept])
    return filtered(rows, rest)


# --- the hint ----------------------------------------------------------------------------------


def _retry(as_of: AsOf, by: str, context: Context) -> LookupRetry | None:
    at = as_of.versions.at
    names = [name for name in (as_of.versions.name, at.alias) if name]
    retry = retry_of(context.hints, names)
    if retry is not None and by != "keys":
        context.warn(
            f"the LOOKUP hint says to look up missing keys of `{as_of.versions.name}` again, which "
            "has no effect: the whole table is in memory"
        )
        return None
    return retry
