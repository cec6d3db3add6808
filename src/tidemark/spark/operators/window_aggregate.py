"""Aggregation in windows, by a kernel; in two phases where rows can be combined before a move."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START, CountSliding, Given
from tidemark.plan.nodes import WindowAggregate
from tidemark.spark.aggregate_calls import calls_of, result_fields, results
from tidemark.spark.assign_windows import shown_bounds
from tidemark.spark.frame import KIND, Frame, names_of
from tidemark.spark.windowed import GIVEN, WindowInput, by_wall_clock, called

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from tidemark.kernels.windows.aggregate import WindowAggregate as Kernel
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder


def window_aggregate(builder: Builder, operator: Operator) -> Frame:
    from tidemark.spark.stateful.packing import Combine

    node = operator.node
    assert isinstance(node, WindowAggregate)
    input_ = WindowInput.of(builder, operator, node.given)
    kernel, rows = _kernel(node, input_), input_.rows
    schema = _schema(node, input_, kinds=kernel.changelog_output)
    time = operator.edge.columns[len(node.keys) + 2].type
    runs = input_.given_time(by_wall_clock(kernel, time, builder.zone, by_clock=node.by_clock))
    if runs is kernel and kernel.combinable and operator.phases != "one_phase":
        runs = replace(kernel, combined=True)
        rows = replace(rows, combine=Combine(runs.combine, if_fewer=operator.phases == "auto"))
    data = builder.run_kernel(operator, runs, [rows], schema).rows
    nothing = "CAST(NULL AS TIMESTAMP_NTZ)"
    bounds = (
        (nothing,) * 3 if _has_no_bounds(node) else shown_bounds(WINDOW_START, WINDOW_END, time)
    )
    texts = called([*input_.key_columns, *bounds, *results(node.calls)], operator.edge)
    changelog = operator.edge.changelog
    kinds = [KIND] * (changelog is not Changelog.APPEND)
    return Frame(data.selectExpr(*texts, *kinds), names_of(operator.edge), changelog)


def _kernel(node: WindowAggregate, input_: WindowInput) -> Kernel:
    from tidemark.kernels.windows.aggregate import WindowAggregate as Kernel

    return Kernel(
        input_.keys,
        node.assigner if node.given is None else Given(*GIVEN),
        calls_of(node.calls, input_.names),
        emit=node.emit,
        lateness_ms=node.lateness_ms,
        processing_time=node.by_clock,
        retracts=input_.retracts,
    )


def _schema(node: WindowAggregate, input_: WindowInput, *, kinds: bool) -> StructType:
    from pyspark.sql.types import StructField, StructType, TimestampNTZType

    bounds = () if _has_no_bounds(node) else (WINDOW_START, WINDOW_END)
    times = [StructField(name, TimestampNTZType()) for name in bounds]
    return StructType([*result_fields(node.calls, input_, kinds=kinds), *times])


def _has_no_bounds(node: WindowAggregate) -> bool:
    """Windows of rows begin and end at no time."""
    return isinstance(node.assigner, CountSliding)
