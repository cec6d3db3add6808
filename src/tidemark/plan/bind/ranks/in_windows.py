"""Window Top-N and deduplication: the window's start and end are among the keys."""

from __future__ import annotations

from sqlglot import exp

from tidemark.errors import PlanError
from tidemark.plan.bind.ranks.computed import with_columns
from tidemark.plan.bind.ranks.numbered import BoundRank
from tidemark.plan.bind.ranks.rule import Ranked, check_end
from tidemark.plan.nodes import Node, WindowOrder, WindowRank
from tidemark.plan.nodes.window_columns import is_in_processing_time, time_of_window
from tidemark.plan.nodes.window_rank import RANK


def applies(rank: BoundRank) -> bool:
    return rank.window_bounds >= {"start", "end"}


def plan(rank: BoundRank) -> Ranked:
    """The wanted rows of each key and window, with their number as a column."""
    _check(rank)
    node, places = with_columns(rank.rows, [*rank.keys, *(by.value for by in rank.order)])
    of_keys, of_values = places[: len(rank.keys)], places[len(rank.keys) :]
    bounds = {_bound_of(node, place): place for place in of_keys}
    ranked = WindowRank(
        node,
        keys=tuple(place for place in of_keys if _bound_of(node, place) is None),
        bounds=(bounds["start"], bounds["end"]),
        order=tuple(
            WindowOrder(place, by.descending, by.nulls_last)
            for place, by in zip(of_values, rank.order, strict=True)
        ),
        low=rank.numbered.low,
        high=rank.numbered.high or 0,
        newest_first=_is_deduplication(rank),
        time_type=time_of_window(node.edge, bounds["start"]).type,
        by=rank.numbered.by,
    )
    return Ranked(ranked, exp.Column(this=exp.to_identifier(RANK, quoted=True)))


def _check(rank: BoundRank) -> None:
    check_end(rank)
    by = rank.numbered.by
    if rank.rows.edge.changes:
        raise PlanError(
            f"{by}() over a window requires append-only rows, and these are updated or deleted",
            at=rank.at,
        )
    if is_in_processing_time(rank.rows):
        raise PlanError(
            f"{by}() is not supported over processing-time windows",
            at=rank.at,
            notes={"why": "rows do not determine when such a window ends (same in Flink)"},
            hint="use windows over a time with a WATERMARK",
        )
    if not rank.order:
        raise PlanError(f"{by}() requires ORDER BY", at=rank.at)


def _bound_of(node: Node, place: int) -> str | None:
    window = node.edge.columns[place].window
    return window.says if window is not None else None


def _is_deduplication(rank: BoundRank) -> bool:
    """Whether the newest row by time is kept: among equals, the last to arrive, as in Flink."""
    if rank.numbered.by != "ROW_NUMBER" or not rank.is_first_only:
        return False
    if len(rank.order) != 1 or not rank.order[0].descending:
        return False
    column = rank.column(rank.order[0].value)
    return column is not None and column.time is not None
