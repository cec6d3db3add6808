"""Top-N in windows, by a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.plan.nodes import WindowRank
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.windowed import GIVEN, WindowInput, by_wall_clock

if TYPE_CHECKING:
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder

_RANK = "_tm_rank"


def window_rank(builder: Builder, operator: Operator) -> Frame:
    from pyspark.sql.types import LongType, StructField, StructType

    from tidemark.kernels.windows.rank import Order, WindowRankKernel

    node = operator.node
    assert isinstance(node, WindowRank)
    input_ = WindowInput.of(builder, operator, node.bounds)
    order = [Order(input_.names[by.column], by.descending, by.nulls_last) for by in node.order]
    kernel = WindowRankKernel(
        input_.keys, *GIVEN, tuple(order), node.low, node.high, _RANK, node.newest_first
    )
    runs = input_.given_time(by_wall_clock(kernel, node.time_type, builder.zone))
    schema = StructType([*input_.fields(input_.names), StructField(_RANK, LongType())])
    packed = builder.run_kernel(operator, runs, [input_.rows], schema)
    return Frame.of(packed, names_of(operator.edge), Changelog.APPEND)
