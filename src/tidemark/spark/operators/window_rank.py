"""Top-N in windows, by a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.operators.times import by_wall_clock
from tidemark.operators.windows import RANK, window_rank_kernel
from tidemark.plan.nodes import WindowRank
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.windowed import WindowInput

if TYPE_CHECKING:
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder


def window_rank(builder: Builder, operator: Operator) -> Frame:
    from pyspark.sql.types import LongType, StructField, StructType

    node = operator.node
    assert isinstance(node, WindowRank)
    input_ = WindowInput.of(builder, operator, node.bounds)
    kernel = window_rank_kernel(node, input_.keys, input_.names)
    runs = input_.given_time(by_wall_clock(kernel, node.time_type, builder.zone))
    schema = StructType([*input_.fields(input_.names), StructField(RANK, LongType())])
    rows = input_.contending(kernel.contenders)
    packed = builder.run_kernel(operator, runs, [rows], schema)
    return Frame.of(packed, names_of(operator.edge), Changelog.APPEND)
