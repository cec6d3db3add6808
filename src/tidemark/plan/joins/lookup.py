"""`L JOIN T FOR SYSTEM_TIME AS OF L.pt ON ...`, which would ask T for each row as it arrives."""

from __future__ import annotations

from tidemark.dialect import span_of
from tidemark.plan import unsupported
from tidemark.plan.context import Context
from tidemark.plan.joins.bound import BoundJoin
from tidemark.plan.relation import Relation


def applies(join: BoundJoin) -> bool:
    """Whether a table is to be joined as it is now, and nothing says when it has been loaded."""
    as_of = join.as_of
    if as_of is None or as_of.kind != "processing" or as_of.versions.of_function:
        return False
    return as_of.load_idle_ms is None


def plan(join: BoundJoin, context: Context) -> Relation:
    """Not supported yet: no connector can look up single rows."""
    assert join.as_of is not None
    raise unsupported.LOOKUP_JOIN.error(span_of(join.as_of.time))
