"""Upserts with the rows that they replace, by a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.operators.windows import normalize_kernel
from tidemark.plan.nodes import ChangelogNormalize
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.windowed import WindowInput, kind_fields

if TYPE_CHECKING:
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder


def changelog_normalize(builder: Builder, operator: Operator) -> Frame:
    from pyspark.sql.types import StructType

    node = operator.node
    assert isinstance(node, ChangelogNormalize)
    assert builder.state is not None
    input_ = WindowInput.of(builder, operator)
    kernel = normalize_kernel(node, input_.keys, input_.names, builder.state.ttl_ms)
    names = [input_.names[place] for place in node.given]
    schema = StructType([*input_.fields(names), *kind_fields(operator.edge)])
    packed = builder.run_kernel(operator, input_.given_time(kernel), [input_.rows], schema)
    return Frame.of(packed, names_of(operator.edge), operator.edge.changelog)
