"""How kernels are given time: by the session's clock, held back, or row by row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from tidemark import types as t
from tidemark.functions.moments import is_utc
from tidemark.operators.outlets import handing_out
from tidemark.plan.nodes import KeepFirst, Over

if TYPE_CHECKING:
    from tidemark.kernels.protocol import Kernel
    from tidemark.physical import Operator

# Where rows say which window they are in: its bounds in milliseconds.
GIVEN: Final = ("_tm_given_start", "_tm_given_end")


def given_time(kernel: Kernel, operator: Operator, *, stamped: bool) -> Kernel:
    """The kernel of an operator with one input, given the watermark before each row if rows are
    `stamped`, or else one that holds back. In processing time, rows pass on what they met.
    """
    from tidemark.kernels.held_back import held_back
    from tidemark.kernels.stamped import Stamped

    if not stamped:
        return held_back(kernel, operator.held_back_ms)
    [input_], node = operator.inputs, operator.node
    if operator.stamps and isinstance(node, Over | KeepFirst) and node.processing_time:
        return kernel
    return Stamped(kernel, emitted=input_.chained)


def emitting_stamps(kernel: Kernel, operator: Operator) -> Kernel:
    """The kernel, which says before which watermark it emits each row if the operator does."""
    if not operator.stamps:
        return kernel
    changed: Any = kernel
    return cast("Kernel", replace(changed, stamps=True))


def by_watermark(operator: Operator, kernel: Kernel, time: t.DataType, zone: str) -> Kernel:
    """The kernel with the watermark held back, in the local time of the zone. It hands out late
    rows where the operator has outlets.
    """
    from tidemark.kernels.held_back import held_back

    shown = by_wall_clock(kernel, time, zone)
    return held_back(handing_out(shown, operator), operator.held_back_ms)


def by_wall_clock(
    kernel: Kernel, time: t.DataType, zone: str, *, processing_time: bool = False
) -> Kernel:
    """The kernel, given what the clock shows where time is an instant, or is that clock's."""
    from tidemark.kernels.windows.wall_clock import ShownClock, WallClock

    if not isinstance(time, t.TimestampLtz) or is_utc(zone):
        return kernel
    return ShownClock(kernel, zone) if processing_time else WallClock(kernel, zone)


def with_window_time(kernel: Kernel, time: t.DataType, zone: str) -> Kernel:
    """The kernel, whose output has the time of each window too, which is of this type."""
    from tidemark.kernels.windows.window_time import WithWindowTime

    instant = isinstance(time, t.TimestampLtz) and not is_utc(zone)
    return WithWindowTime(kernel, zone if instant else None)
