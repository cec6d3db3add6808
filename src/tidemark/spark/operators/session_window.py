"""Rows of sessions, by a kernel that holds them until their session is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.kernels.windows.spec import Session
from tidemark.operators.times import by_wall_clock, with_window_time
from tidemark.plan.nodes import AssignWindows
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.windowed import WindowInput, bound_fields, kind_fields

if TYPE_CHECKING:
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder


def session_window(builder: Builder, operator: Operator) -> Frame:
    """Each row when its session is over, with the session's columns."""
    from pyspark.sql.types import StructType

    from tidemark.kernels.windows.session_rows import SessionRows

    node = operator.node
    assert isinstance(node, AssignWindows) and isinstance(node.assigner, Session)
    input_ = WindowInput.of(builder, operator)
    time = operator.edge.columns[-1].type
    kernel = SessionRows(input_.keys, node.assigner.gap, processing_time=node.processing_time)
    shown = by_wall_clock(kernel, time, builder.zone, processing_time=node.processing_time)
    runs = input_.given_time(shown)
    kinds = kind_fields(operator.edge)
    schema = StructType([*input_.fields(input_.names), *bound_fields(time), *kinds])
    timed = with_window_time(runs, time, builder.zone)
    packed = builder.run_kernel(operator, timed, [input_.rows], schema)
    return Frame.of(packed, names_of(operator.edge), operator.edge.changelog)
