"""Rows of sessions, by a kernel that holds them until their session is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START, Session
from tidemark.plan.nodes import AssignWindows
from tidemark.spark.assign_windows import shown_bounds
from tidemark.spark.frame import KIND, Frame, names_of
from tidemark.spark.windowed import WindowInput, by_wall_clock, called

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder


def session_window(builder: Builder, operator: Operator) -> Frame:
    """Each row when its session is over, with the session's columns."""
    from tidemark.kernels.windows.session_rows import SessionRows

    node = operator.node
    assert isinstance(node, AssignWindows) and isinstance(node.assigner, Session)
    input_ = WindowInput.of(builder, operator)
    time = operator.edge.columns[-1].type
    kernel = SessionRows(input_.keys, node.assigner.gap, processing_time=node.by_clock)
    shown = by_wall_clock(kernel, time, builder.zone, by_clock=node.by_clock)
    runs = input_.given_time(shown)
    data = builder.run_kernel(operator, runs, [input_.rows], _schema(input_)).rows
    values = [*input_.names, *shown_bounds(WINDOW_START, WINDOW_END, time)]
    texts = [*called(values, operator.edge), *[KIND] * input_.retracts]
    return Frame(data.selectExpr(*texts), names_of(operator.edge), operator.edge.changelog)


def _schema(input_: WindowInput) -> StructType:
    from pyspark.sql.types import StructField, StructType, TimestampNTZType

    bounds = [StructField(name, TimestampNTZType()) for name in (WINDOW_START, WINDOW_END)]
    return StructType([*input_.fields((*input_.names, *[KIND] * input_.retracts)), *bounds])
