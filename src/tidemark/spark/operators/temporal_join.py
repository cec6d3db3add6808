"""Temporal joins, with the event-time or the processing-time kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.plan.nodes import TemporalJoin
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.inputs import Sides, has_kinds

if TYPE_CHECKING:
    from tidemark.kernels.protocol import Kernel
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder


def temporal_join(builder: Builder, operator: Operator) -> Frame:
    from tidemark.kernels.held_back import held_back

    node = operator.node
    assert isinstance(node, TemporalJoin)
    sides = Sides.of(builder, operator)
    kernel_of = _by_processing_time if node.right_time is None else _by_event_time
    kernel = held_back(kernel_of(builder, node, sides), operator.held_back_ms)
    schema = sides.schema(kinds=has_kinds(sides.left.frame))
    packed = builder.run_kernel(operator, kernel, sides.inputs, schema)
    return Frame.of(packed, names_of(operator.edge), sides.left.frame.changelog)


def _by_event_time(builder: Builder, node: TemporalJoin, sides: Sides) -> Kernel:
    from tidemark.kernels.temporal_join.event_time import TemporalJoinKernel

    return TemporalJoinKernel(
        sides.left.keys,
        sides.right.keys,
        node.how,
        update_before="ends version" if node.retractions_overwrite else "ignored",
        retention=builder.retention(),
    )


def _by_processing_time(builder: Builder, node: TemporalJoin, sides: Sides) -> Kernel:
    from tidemark.kernels.temporal_join.load_phase import AfterLoading
    from tidemark.kernels.temporal_join.processing_time import ProcessingTimeTemporalJoinKernel

    kernel = ProcessingTimeTemporalJoinKernel(
        sides.left.keys, sides.right.keys, node.how, retention=builder.retention()
    )
    return kernel if node.load_idle_ms is None else AfterLoading(kernel, node.load_idle_ms)
