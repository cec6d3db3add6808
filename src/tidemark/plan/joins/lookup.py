"""`L JOIN T FOR SYSTEM_TIME AS OF L.pt ON ...`, which would ask T for each row as it arrives."""

from __future__ import annotations

from tidemark.catalog.options import LOAD_PHASE
from tidemark.dialect import span_of
from tidemark.errors import NotSupported
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
    """No connector can be asked for single rows yet, and a stream is not there at once."""
    assert join.as_of is not None
    raise NotSupported(
        "a processing-time temporal join with FOR SYSTEM_TIME AS OF is not supported without a "
        "load phase",
        at=span_of(join.as_of.time),
        notes={
            "why": "lookup joins are not supported yet; and left rows would not wait for the "
            "initial content of a stream on the right side, so the results would depend on timing "
            "(FLINK-19830)"
        },
        hint=f"join by event time; or SET '{LOAD_PHASE}' = '10 s': left rows then wait until "
        "the right side has been silent for this long; or use a temporal table function, "
        "LATERAL TABLE(f(o.proctime)), which does not wait",
    )
