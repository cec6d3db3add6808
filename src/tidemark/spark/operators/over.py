"""OVER aggregations, by a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.operators.over import over_kernel
from tidemark.plan.nodes import Over
from tidemark.spark.windowed import WindowInput, emitted, result_fields

if TYPE_CHECKING:
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder
    from tidemark.spark.frame import Frame


def over(builder: Builder, operator: Operator) -> Frame:
    node = operator.node
    assert isinstance(node, Over)
    assert builder.state is not None
    input_ = WindowInput.of(builder, operator)
    kernel = over_kernel(
        node, input_.keys, input_.names, builder.state.ttl_ms, retracts=input_.retracts
    )
    results = result_fields([function.call for function in node.functions])
    return emitted(builder, input_, kernel, [*input_.fields(input_.names), *results])
