"""Keep-first deduplication, with a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.plan.nodes import KeepFirst
from tidemark.spark.windowed import WindowInput, emitted

if TYPE_CHECKING:
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder
    from tidemark.spark.frame import Frame


def keep_first(builder: Builder, operator: Operator) -> Frame:
    from tidemark.kernels.columns import TIME
    from tidemark.kernels.contenders import Contenders
    from tidemark.kernels.keep_first import KeepFirstKernel
    from tidemark.kernels.order import Order

    node = operator.node
    assert isinstance(node, KeepFirst)
    assert builder.state is not None
    input_ = WindowInput.of(builder, operator)
    kernel = KeepFirstKernel(
        input_.keys, processing_time=node.processing_time, ttl=builder.state.ttl_ms or None
    )
    order = () if node.processing_time else (Order(TIME),)
    rows = input_.contending(Contenders(input_.keys, order, 1))
    return emitted(builder, input_, kernel, input_.fields(input_.names), rows)
