"""Regular joins, with a kernel that keeps both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.operators.joins import regular_join_kernel
from tidemark.plan.nodes import RegularJoin
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.inputs import Sides

if TYPE_CHECKING:
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder


def regular_join(builder: Builder, operator: Operator) -> Frame:
    node = operator.node
    assert isinstance(node, RegularJoin)
    sides = Sides.of(builder, operator)
    kernel = regular_join_kernel(operator, node, sides.columns, builder.state.ttl_ms)
    schema = sides.schema(kinds=operator.edge.changelog is not Changelog.APPEND)
    packed = builder.run_kernel(operator, kernel, sides.inputs, schema)
    return Frame.of(packed, names_of(operator.edge), operator.edge.changelog)
