"""Cases that Tidemark refuses by name because their feature is not built yet.

An entry is an area or a single case. Each of its cases must raise `NotSupported`: one that passes,
or fails in any other way, fails the test until it is taken off the list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.case import Case

_SUB_QUERIES = "sub-queries in place of values, and NOT IN"
_SETS = "INTERSECT and EXCEPT keep state"

_OVER = "OVER aggregates"

# Whole areas.
AREAS = {
    "dedup-topn": "deduplication and Top-N",
}
# Cases of these areas that need nothing of what is missing.
THERE = {"dedup-topn/keep_first", "dedup-topn/keep_first_ties", "dedup-topn/keep_last_late"}

# Single cases of other areas.
CASES = {
    "aggregate/except": _SETS,
    "aggregate/intersect_except": _SETS,
    "join/correlated_aggregate": _SUB_QUERIES,
    "join/non_equi": "joins without an equality",
    "join/not_in_with_null": _SUB_QUERIES,
    "join/scalar_subquery": _SUB_QUERIES,
    "join/using_clause": "columns made of two by USING",
    "cdc/dedup_last": "deduplication and Top-N",
    "cdc/topn": "deduplication and Top-N",
    "cdc/topn_group": "deduplication and Top-N",
    "errors/temporal_processing_time": "refused for good, as in Flink",
    "emit/early_topn": "deduplication and Top-N",
    "errors/over_descending": _OVER,
    "errors/over_following": _OVER,
    "errors/over_without_order": _OVER,
    "errors/rank_function": _OVER,
    "functions/current_watermark": "a watermark that expressions can ask for",
}


@dataclass(frozen=True)
class Different:
    """Why Tidemark's answer is another one than Flink's, and which rows it is, all inserts."""

    why: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    @property
    def expected(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


# Cases in which Tidemark answers otherwise on purpose; docs/conformance.md says why.
DIFFERENT = {
    "errors/interval_join_on_dedup": Different(
        # The order comes a second after the rate, and the bounds ask for one before it.
        "over a changelog it is a regular join with the condition",
        ("id",),
        [],
    ),
    "quirks/over_range_before_1970": Different(
        "times before 1970 are times like any others", ("id", "n"), [(1, 1), (2, 2), (3, 1), (4, 2)]
    ),
    "quirks/session_join_same_end": Different(
        "a pair whose windows start apart breaks the join's condition",
        ("lid", "rid", "window_start", "window_end"),
        [
            (1, None, "2024-05-06 10:00:01.000", "2024-05-06 10:00:08.000"),
            (2, None, "2024-05-06 10:00:01.000", "2024-05-06 10:00:08.000"),
            (3, 102, "2024-05-06 10:00:04.000", "2024-05-06 10:00:09.000"),
            (4, None, "2024-05-06 10:00:40.000", "2024-05-06 10:00:45.000"),
        ],
    ),
    "quirks/session_merge_listagg_order": Different(
        "LISTAGG follows arrival in merged sessions too",
        ("k", "ws", "we", "n", "ids"),
        [
            ("a", "2024-05-06 10:00:00.000", "2024-05-06 10:00:17.999", 4, "1,2,4,7"),
            ("b", "2024-05-06 10:00:08.000", "2024-05-06 10:00:15.000", 2, "5,6"),
            ("b", "2024-05-06 10:00:16.000", "2024-05-06 10:00:21.000", 1, "3"),
            ("b", "2024-05-06 10:00:30.000", "2024-05-06 10:00:35.000", 1, "8"),
        ],
    ),
}


def feature_missing_for(case: Case) -> str | None:
    """What Tidemark lacks to run the case; None where it must pass."""
    if case.name in THERE:
        return None
    return CASES.get(case.name) or AREAS.get(case.area)
