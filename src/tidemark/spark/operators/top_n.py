"""Top-N, by a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.operators.windows import RANK, top_n_kernel
from tidemark.plan.nodes import TopN
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.windowed import ALWAYS_OPEN, WindowInput, kind_fields

if TYPE_CHECKING:
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder


def top_n(builder: Builder, operator: Operator) -> Frame:
    from pyspark.sql.types import LongType, StructField, StructType

    from tidemark.kernels.windows.rank import WindowRankKernel

    node = operator.node
    assert isinstance(node, TopN)
    assert builder.state is not None
    input_ = WindowInput.of(builder, operator, more=ALWAYS_OPEN if node.at_end else ())
    kernel = top_n_kernel(node, input_.keys, input_.names, builder.state.ttl_ms)
    rows = input_.rows
    if isinstance(kernel, WindowRankKernel):
        rows = input_.contending(kernel.contenders)
    number = [StructField(RANK, LongType())] * node.ranked
    fields = [*input_.fields(input_.names), *number, *kind_fields(operator.edge)]
    timed = input_.given_time(kernel)
    packed = builder.run_kernel(operator, timed, [rows], StructType(fields))
    return Frame.of(packed, names_of(operator.edge), operator.edge.changelog)
