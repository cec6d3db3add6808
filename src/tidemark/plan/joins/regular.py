"""Joins that would keep all rows for ever: what they lack to be interval joins."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from tidemark.dialect import span_of
from tidemark.dialect.keywords import needs_quotes
from tidemark.errors import NotSupported
from tidemark.plan.joins.interval_bounds import Bound
from tidemark.plan.scope import Scope
from tidemark.types import quote_name


def unbounded(join: exp.Join) -> NotSupported:
    """Why a join cannot be run whose condition says nothing of times."""
    return NotSupported(
        "a join cannot be run yet",
        at=span_of(join) if join.args.get("on") is not None else span_of(join.this),
        notes={
            "why": "without bounds on how far the time attributes of its sides may be apart it "
            "keeps all rows for ever, and the operator for that is not there yet"
        },
        hint="bound the times: ... AND l.ts BETWEEN r.ts - INTERVAL '5' SECOND AND r.ts "
        "makes it an interval join",
    )


def one_sided(bounds: Sequence[Bound], left: Scope, right: Scope) -> NotSupported:
    """Why a join cannot be run whose times are bounded from one side only."""
    first = bounds[0]
    mine, theirs = _name(left, first.left), _name(right, first.right)
    has_lower = first.lower is not None
    missing = (
        f"{theirs} <= {mine} + INTERVAL '1' HOUR"
        if has_lower
        else f"{theirs} >= {mine} - INTERVAL '1' HOUR"
    )
    return NotSupported(
        "a join whose times are bounded from one side only is a regular join, as in Flink, and "
        "cannot be run yet",
        at=span_of(first.node),
        notes={
            "why": f"{theirs} may be any time {'after' if has_lower else 'before'} {mine}, so it "
            "keeps all rows for ever, and the operator for that is not there yet"
        },
        hint=f"add the other bound, as far away as need be: AND {missing} makes it an interval "
        "join, which forgets rows",
    )


def _name(scope: Scope, place: int) -> str:
    """A column as a query may write it."""
    visible = scope.visible[place]
    parts = [*visible.table[-1:], visible.column.name]
    return ".".join(quote_name(part) if needs_quotes(part) else part for part in parts)
