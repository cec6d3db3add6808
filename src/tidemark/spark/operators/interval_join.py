"""Interval joins, with the kernel of SQL or that of the stream API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.plan.nodes import IntervalJoin
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.inputs import Sides
from tidemark.spark.outlets import handing_out
from tidemark.spark.pair_conditions import pair_condition

if TYPE_CHECKING:
    from tidemark.kernels.protocol import Kernel
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder


def interval_join(builder: Builder, operator: Operator) -> Frame:
    from tidemark.kernels.held_back import held_back

    node = operator.node
    assert isinstance(node, IntervalJoin)
    sides = Sides.of(builder, operator)
    kernel = held_back(handing_out(_kernel(node, sides), operator), operator.held_back_ms)
    packed = builder.run_kernel(operator, kernel, sides.inputs, sides.schema())
    return Frame.of(packed, names_of(operator.edge), Changelog.APPEND)


def _kernel(node: IntervalJoin, sides: Sides) -> Kernel:
    from tidemark.kernels.interval_join.kernel import IntervalJoinKernel
    from tidemark.kernels.interval_join.stream_api import StreamIntervalJoinKernel

    left, right = sides.left.keys, sides.right.keys
    if node.drops_late:
        return StreamIntervalJoinKernel(left, right, node.lower_ms, node.upper_ms)
    condition = None if node.condition is None else pair_condition(node.condition, sides.names)
    return IntervalJoinKernel(
        left,
        right,
        lower=node.lower_ms,
        upper=node.upper_ms,
        how=node.how,
        condition=condition,
        nulls_equal=node.nulls_equal or None,
        time="processing" if node.by_clock else "event",
        slack=node.slack_ms,
        wanted=sides.output,
    )
