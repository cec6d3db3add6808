"""Sorting a stream by its event time, with a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.operators.windows import sort_by_time_kernel
from tidemark.plan.nodes import SortByTime
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.windowed import WindowInput

if TYPE_CHECKING:
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder


def sort_by_time(builder: Builder, operator: Operator) -> Frame:
    from pyspark.sql.types import StructType

    node = operator.node
    assert isinstance(node, SortByTime)
    input_ = WindowInput.of(builder, operator)
    kernel = input_.given_time(sort_by_time_kernel(node, input_.names))
    schema = StructType(input_.fields(input_.names))
    packed = builder.run_kernel(operator, kernel, [input_.rows], schema)
    return Frame.of(packed, names_of(operator.edge), operator.edge.changelog)
