"""Rows of sessions, as DataFrames that a kernel makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.functions import spark_text
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START, Session
from tidemark.plan.nodes import AssignWindows
from tidemark.spark.assign_windows import shown_bounds
from tidemark.spark.by_clock import tick_of
from tidemark.spark.frame import KIND, Frame, names_of
from tidemark.spark.windows import WindowInput

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from tidemark.spark.builder import Builder


def rows_of_sessions(builder: Builder, node: AssignWindows) -> Frame:
    """Each row when its session is over, with the session's columns."""
    from tidemark.kernels.windows.session_rows import SessionRows

    assert isinstance(node.assigner, Session)
    input_ = WindowInput(builder, node.input, node.keys, None, by_clock=node.by_clock)
    kernel = SessionRows(input_.keys, node.assigner.gap, processing_time=node.by_clock)
    time = node.edge.columns[-1].type
    rows = input_.stateful(None if node.by_clock else node.time)
    wrapped = input_.wrapped(kernel, time, builder.zone)
    tick = tick_of(node.assigner) if node.by_clock else None
    data = builder.run_kernel("session-window", wrapped, [rows], _schema(input_), tick).rows
    names, kinds = names_of(node.edge), [KIND] * input_.retracts
    values = [*input_.names, *shown_bounds(WINDOW_START, WINDOW_END, time)]
    texts = [
        f"{value} AS {spark_text.name(name)}" for value, name in zip(values, names, strict=True)
    ]
    return Frame(data.selectExpr(*texts, *kinds), names, node.edge.changelog)


def _schema(input_: WindowInput) -> StructType:
    from pyspark.sql.types import StructField, StructType, TimestampNTZType

    kinds = [KIND] * input_.retracts
    fields = [input_.data.schema[name] for name in (*input_.names, *kinds)]
    bounds = [StructField(name, TimestampNTZType()) for name in (WINDOW_START, WINDOW_END)]
    return StructType([*fields, *bounds])
