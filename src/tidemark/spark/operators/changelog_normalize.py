"""Upserts with the rows that they replace, by a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.operators.windows import normalize_kernel
from tidemark.plan.nodes import ChangelogNormalize
from tidemark.spark.windowed import WindowInput, emitted

if TYPE_CHECKING:
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder
    from tidemark.spark.frame import Frame


def changelog_normalize(builder: Builder, operator: Operator) -> Frame:
    node = operator.node
    assert isinstance(node, ChangelogNormalize)
    assert builder.state is not None
    input_ = WindowInput.of(builder, operator)
    kernel = normalize_kernel(node, input_.keys, input_.names, builder.state.ttl_ms)
    names = [input_.names[place] for place in node.given]
    return emitted(builder, input_, kernel, input_.fields(names))
