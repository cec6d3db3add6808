"""The operator that keeps the first rows of each key, for Top-N and for ORDER BY with LIMIT."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.errors import Span
from tidemark.kernels.windows.spec import Numbering
from tidemark.plan import unsupported
from tidemark.plan.bind.ranks.progress import input_of
from tidemark.plan.context import Context
from tidemark.plan.nodes import Node, TopN, WindowOrder
from tidemark.plan.processing_times import changing_times, with_times, without_times


def first_rows(
    rows: Node,
    keys: tuple[int, ...],
    order: tuple[WindowOrder, ...],
    wanted: tuple[int, int | None],
    context: Context,
    *,
    by: Numbering = "ROW_NUMBER",
    ranked: bool,
    at: Span | None = None,
) -> Node:
    """The rows from one number to another, followed by their number if they are `ranked`."""
    input_, unique = input_of(rows, keys, order)
    times = changing_times(rows)
    newest_first = False
    if by == "ROW_NUMBER" and order and rows.edge.columns[order[0].column].time == "processing":
        # No row arrives at the time of another one, so nothing else in the order counts. Of rows
        # that change the first to arrive come first in either order, as in Flink.
        newest_first, order = order[0].descending and input_ == "inserts", ()
    elif by != "ROW_NUMBER":
        _check_times(times, order, at)
        if input_ == "updates":
            # A row that gets better changes the ranks of its peers.
            input_, unique = "retractions", ()
    top = TopN(
        without_times(rows),
        keys,
        order,
        *wanted,
        input_,
        unique,
        ranked=ranked,
        at_end=context.batch,
        by=by,
        newest_first=newest_first,
    )
    return with_times(top, times)


def _check_times(times: frozenset[int], order: Sequence[WindowOrder], at: Span | None) -> None:
    if times.intersection(one.column for one in order):
        raise unsupported.OVER_CHANGING_TIMES.error(at)
