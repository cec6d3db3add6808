"""Aggregation without windows: a group is a window that does not end, and updates at each row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.kernels.windows.spec import Emit, Firing, Given
from tidemark.plan.nodes import GroupAggregate
from tidemark.spark.aggregate_calls import calls_of, result_fields
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.windowed import GIVEN, WindowInput, by_wall_clock, kind_fields

if TYPE_CHECKING:
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder

_ALWAYS = (f"0L AS {GIVEN[0]}", f"{2**62}L AS {GIVEN[1]}")


def group_aggregate(builder: Builder, operator: Operator) -> Frame:
    from pyspark.sql.types import StructType

    from tidemark.kernels.windows.aggregate import WindowAggregateKernel

    node, changelog = operator.node, operator.edge.changelog
    assert isinstance(node, GroupAggregate)
    input_ = WindowInput.of(builder, operator, more=_ALWAYS)
    kernel = WindowAggregateKernel(
        input_.keys,
        Given(*GIVEN, endless=not node.at_end),
        calls_of(node.calls, input_.names),
        Emit() if node.at_end else Emit(early=Firing(each_row=True)),
        retracts=input_.retracts,
        idle_ms=builder.state.ttl_ms or None,
        # As in Flink; but rows of DISTINCT come out once.
        repeats=builder.state.ttl_ms > 0 and changelog is not Changelog.APPEND,
    )
    runs = input_.given_time(by_wall_clock(kernel, t.Timestamp(3), builder.zone))
    results, kinds = result_fields(node.calls), kind_fields(operator.edge)
    schema = StructType([*input_.fields(input_.key_columns), *results, *kinds])
    packed = builder.run_kernel(operator, runs, [input_.rows], schema)
    return Frame.of(packed, names_of(operator.edge), changelog)
