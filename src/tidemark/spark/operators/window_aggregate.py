"""Aggregation in windows, by a kernel; in two phases where rows can be combined before a move."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.operators.times import by_wall_clock, with_window_time
from tidemark.operators.windows import window_aggregate_kernel
from tidemark.plan.nodes import WindowAggregate
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.windowed import WindowInput, bound_fields, kind_fields, result_fields

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from tidemark.kernels.protocol import Kernel
    from tidemark.kernels.windows.aggregate import WindowAggregateKernel
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder
    from tidemark.spark.stateful.operator import StatefulInput


def window_aggregate(builder: Builder, operator: Operator) -> Frame:
    node = operator.node
    assert isinstance(node, WindowAggregate)
    input_ = WindowInput.of(builder, operator, node.given)
    kernel = window_aggregate_kernel(node, input_.keys, input_.names, retracts=input_.retracts)
    time = operator.edge.columns[len(node.keys) + 2].type
    shown = by_wall_clock(kernel, time, builder.zone, processing_time=node.processing_time)
    runs, rows = in_phases(input_, kernel, shown)
    timed = with_window_time(runs, time, builder.zone)
    packed = builder.run_kernel(operator, timed, [rows], _schema(operator, input_))
    return Frame.of(packed, names_of(operator.edge), operator.edge.changelog)


def in_phases(
    input_: WindowInput, kernel: WindowAggregateKernel, shown: Kernel
) -> tuple[Kernel, StatefulInput]:
    """The kernel that runs, and its rows: combined before the exchange, if they can be and the
    operator wants it. `shown` is the kernel by the clock that its query shows.
    """
    from tidemark.runtime.combining import Combine

    operator, rows = input_.operator, input_.rows
    combinable = shown is kernel and kernel.combinable and input_.is_given_batch_time
    if not combinable:
        return input_.given_time(shown), rows
    if not operator.combines:
        # State stays the same, so a job may resume with another number of phases.
        return input_.given_time(replace(kernel, counted=True)), rows
    combined = replace(kernel, combined=True)
    combine = Combine(combined.combine, if_fewer=operator.phases == "auto")
    return combined, replace(rows, combine=combine)


def _schema(operator: Operator, input_: WindowInput) -> StructType:
    """The keys, what is known of the window, a column for each call, and kinds if there are any."""
    from pyspark.sql.types import StructType

    node = operator.node
    assert isinstance(node, WindowAggregate)
    time = operator.edge.columns[len(node.keys) + 2].type
    results = result_fields(node.calls)
    kinds = kind_fields(operator.edge)
    return StructType([*input_.fields(input_.key_columns), *bound_fields(time), *results, *kinds])
