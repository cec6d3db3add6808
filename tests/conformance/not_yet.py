"""Cases that Tidemark refuses by name because their feature is not built yet.

An entry is an area or a single case. Each of its cases must raise `NotSupported`: one that passes,
or fails in any other way, fails the test until it is taken off the list.
"""

from conformance.case import Case

_WINDOWS = "group windows and window table functions"
_JOINS = "joins keep state"
_AGGREGATES = "aggregation keeps state"

NOT_YET: dict[str, str] = {
    "aggregate": _AGGREGATES,
    "cdc": "changelog formats and the operators above them",
    "dedup-topn": "deduplication and Top-N",
    "emit": _WINDOWS,
    "group-window": _WINDOWS,
    "interval-join": _JOINS,
    "join": _JOINS,
    "over": "OVER aggregates",
    "temporal-join": _JOINS,
    "window-join": _JOINS,
    "window-rank": _WINDOWS,
    "window-tvf": _WINDOWS,
}
# Cases whose tables deliver their records in a fixed common order: each record has to be a batch
# of its own, which needs a source that can be stepped.
ARRIVAL = "records delivered one by one, in an order across tables"


# Cases of a missing area that need nothing of what is missing.
THERE = {"aggregate/union_all"}


def feature_missing_for(case: Case) -> str | None:
    """What Tidemark lacks to run the case; None where it must pass."""
    if case.name in NOT_YET:
        return NOT_YET[case.name]
    if case.arrival:
        return ARRIVAL
    return None if case.name in THERE else NOT_YET.get(case.area)
