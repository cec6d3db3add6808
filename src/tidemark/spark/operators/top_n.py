"""Top-N, by a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.operators.windows import RANK, top_n_kernel
from tidemark.plan.nodes import TopN
from tidemark.spark.windowed import ALWAYS_OPEN, WindowInput, emitted

if TYPE_CHECKING:
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder
    from tidemark.spark.frame import Frame


def top_n(builder: Builder, operator: Operator) -> Frame:
    from pyspark.sql.types import LongType, StructField

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
    return emitted(builder, input_, kernel, [*input_.fields(input_.names), *number], rows)
