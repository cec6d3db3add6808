"""When rows with OVER are emitted: by time, at the end of a batch, or at once and then updated."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.catalog.options import STATE_TTL
from tidemark.errors import Span
from tidemark.kernels.over.spec import PLACES
from tidemark.plan import unsupported
from tidemark.plan.context import Context
from tidemark.plan.nodes import Node, Over, OverFunction, WindowOrder
from tidemark.plan.over.windows import BoundWindow
from tidemark.plan.processing_times import changing_times, with_times, without_times


def over_node(
    rows: Node,
    window: BoundWindow,
    functions: tuple[OverFunction, ...],
    context: Context,
    at: Span | None,
) -> Node:
    """The operator of calls with one window."""
    times = changing_times(rows)
    used = {place for function in functions for place in function.call.used}
    if times & {*used, *window.keys, *(by.column for by in window.order)}:
        raise unsupported.OVER_CHANGING_TIMES.error(at)
    at_end = context.batch and not rows.edge.changes
    by_time = not rows.edge.changes and _goes_by_time(rows, window.order, functions)
    updates = not at_end and not by_time
    if updates and not rows.edge.bounded and not context.state_ttl_ms:
        context.warn(
            "OVER in an order other than that of time, or over rows that change, keeps all rows "
            f"forever: SET '{STATE_TTL}' = '1 d' to expire a key a day after its last row"
        )
    over = Over(
        without_times(rows), window.keys, window.order, functions, at_end=at_end, updates=updates
    )
    return with_times(over, times)


def _goes_by_time(
    rows: Node, order: Sequence[WindowOrder], functions: Sequence[OverFunction]
) -> bool:
    """Whether results are final once the watermark has reached a row."""
    if len(order) != 1 or order[0].descending or rows.edge.columns[order[0].column].time is None:
        return False
    return not any(_needs_more(function) for function in functions)


def _needs_more(function: OverFunction) -> bool:
    """Whether a function needs more than rows up to the current one, some distance back or all."""
    frame, name = function.frame, function.call.function
    ends_before = frame.start is None and frame.end != 0
    return name in PLACES or name == "LEAD" or frame.looks_ahead or ends_before
