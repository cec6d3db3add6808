"""Cases that Tidemark refuses by name because their feature is not built yet.

An entry is an area or a single case. Each of its cases must raise `NotSupported`: one that passes,
or fails in any other way, fails the test until it is taken off the list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.case import Case

_REFUSED = "refused for good, as in Flink"
_STANDARD = "Flink rejects it; it has the meaning of the SQL standard"

# Whole areas.
AREAS: dict[str, str] = {}

# Single cases of other areas.
CASES = {
    "match-recognize/error_exclude": _REFUSED,
    "functions/current_watermark_of_windows": "CURRENT_WATERMARK above an operator",
}


@dataclass(frozen=True)
class Different:
    """Why Tidemark's answer is another one than Flink's, and which rows it is: all inserts, or what
    changes leave.
    """

    why: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    compare: str = "append"

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
    "errors/temporal_processing_time": Different(
        "what has an end is read as a whole and looked up",
        ("id", "rate"),
        [(1, 1.1)],
    ),
    "errors/tvf_hop_not_multiple": Different(
        "such windows mean the same as in batch mode, and as group windows",
        ("window_start", "n"),
        [
            ("2024-05-06 09:59:52.000", 1),
            ("2024-05-06 09:59:56.000", 1),
            ("2024-05-06 10:00:00.000", 1),
        ],
    ),
    "errors/rank_function": Different(
        "a rank selects the rows that have it, however many they are",
        ("id",),
        [(1,)],
    ),
    "dedup-topn/rank_desc_time": Different(
        "a rank selects the rows that have it, however many they are",
        ("id", "k", "rn"),
        [
            (12, "a", 1),
            (3, "a", 2),
            (7, "a", 2),
            (11, "b", 1),
            (2, "b", 2),
            (5, None, 1),
            (10, None, 2),
        ],
        "materialized",
    ),
    "dedup-topn/dense_rank": Different(
        "a rank selects the rows that have it, however many they are",
        ("id", "k", "rn"),
        [
            (12, "a", 1),
            (3, "a", 2),
            (7, "a", 2),
            (11, "b", 1),
            (2, "b", 2),
            (5, None, 1),
            (10, None, 2),
        ],
        "materialized",
    ),
    "errors/over_descending": Different(
        "in an order other than that of time, results are updated",
        ("id", "s"),
        [(1, 1.5)],
    ),
    "errors/over_following": Different(
        "with rows that follow, results are updated",
        ("id", "s"),
        [(1, 1.5)],
    ),
    "errors/over_without_order": Different(
        "without an order, results are updated",
        ("id", "s"),
        [(1, 1.5)],
    ),
    "errors/over_filter": Different(
        "an aggregate has the same meaning with OVER",
        ("id", "s"),
        [
            (1, None),
            (10, 20),
            (11, 19),
            (12, 32),
            (2, 2),
            (3, 7),
            (4, 4),
            (5, 2),
            (6, 20),
            (7, 20),
            (8, 8),
            (9, 11),
        ],
    ),
    "errors/over_lead": Different(
        "the row after another is known when it comes, and updates the result",
        ("id", "l"),
        [
            (1, 4),
            (10, 12),
            (11, None),
            (12, None),
            (2, None),
            (3, 6),
            (4, 3),
            (5, 9),
            (6, 7),
            (7, -10),
            (8, 11),
            (9, None),
        ],
    ),
    "errors/over_two_windows": Different(
        "each window gets an operator",
        ("id", "a", "b"),
        [
            (1, 1, 1),
            (10, 11, 2),
            (11, 19, 2),
            (12, 23, 2),
            (2, 2, 2),
            (3, 8, 2),
            (4, 5, 2),
            (5, 2, 2),
            (6, 21, 2),
            (7, 21, 2),
            (8, 8, 2),
            (9, 11, 2),
        ],
    ),
    "match-recognize/error_all_rows": Different(
        _STANDARD,
        ("k", "ts", "a", "id", "x"),
        [
            ("a", "2024-05-06 10:00:01.000", 1, 1, 1),
            ("a", "2024-05-06 10:00:02.000", 1, 2, 2),
        ],
    ),
    "match-recognize/error_alternation": Different(_STANDARD, ("k", "a"), [("a", 1)]),
    "match-recognize/error_classifier": Different(_STANDARD, ("k", "c"), [("a", "B")]),
    # Three rows would be needed, and two came; or a row before the first one.
    "match-recognize/error_group": Different(_STANDARD, ("k", "a"), []),
    "match-recognize/error_match_number": Different(_STANDARD, ("k", "c"), [("a", 1)]),
    "match-recognize/error_next": Different(_STANDARD, ("k", "a"), []),
    "match-recognize/error_permute": Different(_STANDARD, ("k", "a"), [("a", 1)]),
    "match-recognize/error_prev": Different(_STANDARD, ("k", "a"), [("a", 1)]),
    "match-recognize/error_prev_offset": Different(_STANDARD, ("k", "a"), []),
    "match-recognize/error_running": Different(_STANDARD, ("k", "c"), [("a", 1)]),
    "quirks/over_range_before_1970": Different(
        "times before 1970 are times like any others",
        ("id", "n"),
        [(1, 1), (2, 2), (3, 3), (4, 4)],
    ),
    "quirks/over_rank_of_ties": Different(
        "rows with equal times have the same rank, as in Flink's batch mode",
        ("id", "n"),
        [(1, 1), (10, 6), (12, 7), (3, 3), (4, 2), (6, 4), (7, 4)],
    ),
    "quirks/over_dense_rank_of_ties": Different(
        "rows with equal times have the same rank, as in Flink's batch mode",
        ("id", "n"),
        [(1, 1), (10, 5), (12, 6), (3, 3), (4, 2), (6, 4), (7, 4)],
    ),
    "quirks/over_lag_of_ties": Different(
        "of rows with equal times, the first to arrive is before the others, as in "
        "Flink's batch mode",
        ("id", "l"),
        [(1, None), (10, 7), (12, 10), (3, 4), (4, 1), (6, 3), (7, 6)],
    ),
    "subquery/in_value_empty": Different(
        "no row is dropped by a column: it is FALSE while the subquery is empty",
        ("id", "among"),
        [(id_, False) for id_ in range(1, 8)],
    ),
    "subquery/quantified_all_empty": Different(
        "while the subquery is empty, no value contradicts ALL",
        ("id",),
        [(id_,) for id_ in range(1, 8)],
    ),
    "subquery/not_in_maximum": Different(
        "without rows the maximum is NULL, which may be any value, so id 5 is not there",
        ("id",),
        [(1,), (3,)],
    ),
    "subquery/exists_limit_correlated": Different(
        "the subquery is about one outer row", ("id",), [(2,), (3,)], compare="materialized"
    ),
    "subquery/on_exists": Different(
        "the condition is about l.v, for which Flink takes a column of r",
        ("id", "rid"),
        [(1, 11), (1, 13), (2, 12), (2, 17), (4, 18), (7, 12), (7, 17)],
    ),
    "subquery/lateral_rows": Different(
        "Flink joins the outer columns that the subquery uses by `=`, which drops the NULLs of id 6",
        ("id", "total"),
        [(1, 20), (2, 40), (2, 40), (3, 40), (6, None), (7, 40), (7, 40)],
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
    return CASES.get(case.name) or AREAS.get(case.area)
