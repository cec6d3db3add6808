"""Aggregation without windows: a group is a window that does not end, and updates at each row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.operators.times import by_wall_clock
from tidemark.operators.windows import group_aggregate_kernel
from tidemark.plan.nodes import GroupAggregate
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.operators.window_aggregate import in_phases
from tidemark.spark.windowed import ALWAYS_OPEN, WindowInput, kind_fields, result_fields

if TYPE_CHECKING:
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder


def group_aggregate(builder: Builder, operator: Operator) -> Frame:
    from pyspark.sql.types import StructType

    node = operator.node
    assert isinstance(node, GroupAggregate)
    input_ = WindowInput.of(builder, operator, more=ALWAYS_OPEN)
    kernel = group_aggregate_kernel(
        node,
        operator.edge,
        input_.keys,
        input_.names,
        builder.state.ttl_ms,
        retracts=input_.retracts,
    )
    shown = by_wall_clock(kernel, t.Timestamp(3), builder.zone)
    if operator.combines:
        runs, rows = in_phases(input_, kernel, shown)
    else:
        runs, rows = input_.given_time(shown), input_.rows
    results, kinds = result_fields(node.calls), kind_fields(operator.edge)
    schema = StructType([*input_.fields(input_.key_columns), *results, *kinds])
    packed = builder.run_kernel(operator, runs, [rows], schema)
    return Frame.of(packed, names_of(operator.edge), operator.edge.changelog)
