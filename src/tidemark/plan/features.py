"""A table of what is not supported, and how to recognize it in a SELECT or in FROM.

A recognizer looks at one SELECT and returns the node that uses its feature. Once a feature is
supported, a planner module replaces its row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from sqlglot import exp

from tidemark.dialect import span_of
from tidemark.errors import PlanError
from tidemark.functions import over
from tidemark.functions.aggregates import lookup
from tidemark.plan import unsupported
from tidemark.unsupported import Unsupported

_OF_GROUPINGS = ("GROUPING", "GROUPING_ID", "GROUP_ID")
GROUP_WINDOWS = frozenset({"TUMBLE", "HOP", "SESSION"})
WINDOW_PROPERTIES = frozenset(
    f"{window}_{part}"
    for window in GROUP_WINDOWS
    for part in ("START", "END", "ROWTIME", "PROCTIME")
)
WINDOW_TABLE_FUNCTIONS = frozenset({"TUMBLE", "HOP", "CUMULATE", "SESSION"})


def refuse_relation(relation: exp.Expression) -> None:
    """Raise NotSupported for relations in FROM that are not supported."""
    for declared, asks_for_it in NOT_YET_IN_FROM:
        if asks_for_it(relation):
            raise declared.error(span_of(relation))


def refuse_call_that_cannot_run(call: exp.Expression) -> None:
    """Reject an aggregate or window function where expressions are over a single row, such as in
    WHERE.
    """
    name = call.name.upper()
    if lookup(name) is not None or name in _OF_GROUPINGS:
        refuse_aggregate(name, call)
    if over.lookup(name) is not None:
        raise PlanError(
            f"{name} requires OVER",
            at=span_of(call),
            hint=f"write {name}(...) OVER (PARTITION BY ... ORDER BY ...)",
        )
    if name in unsupported.NOT_FLINKS_AGGREGATE.each:
        raise unsupported.NOT_FLINKS_AGGREGATE.error(span_of(call), name)
    if name in GROUP_WINDOWS | WINDOW_PROPERTIES:
        raise PlanError(
            f"{name} is only allowed in a query grouped by a window",
            at=span_of(call),
            hint="add the window: GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)",
        )


def refuse_aggregate(name: str, call: exp.Expression) -> NoReturn:
    """The error for an aggregate or window function where expressions are over a single row."""
    raise PlanError(
        f"aggregate function {name} is not allowed here",
        at=span_of(call),
        hint="use aggregate functions in the SELECT list and in HAVING, not nested",
    )


# --- recognizers -------------------------------------------------------------------------------


def _as_of(relation: exp.Expression) -> bool:
    return relation.args.get("as_of") is not None and not is_time_travel(relation)


def is_time_travel(relation: exp.Expression) -> bool:
    """Whether a table is to be read as it was at a constant time."""
    time = relation.args.get("as_of")
    return time is not None and time.find(exp.Column) is None


NOT_YET_IN_FROM: tuple[tuple[Unsupported, Callable[[exp.Expression], bool]], ...] = (
    (unsupported.AS_OF_ALONE, _as_of),
)
