"""Joins with the current rows of a table that is read along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.operators.joins import snapshot_join_kernel
from tidemark.plan.nodes import SnapshotJoin
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.inputs import Sides

if TYPE_CHECKING:
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder


def snapshot_join(builder: Builder, operator: Operator) -> Frame:
    node = operator.node
    assert isinstance(node, SnapshotJoin)
    sides = Sides.of(builder, operator)
    settings = builder.state.ttl_ms, builder.zone
    kernel = snapshot_join_kernel(operator, node, sides.columns, *settings)
    packed = builder.run_kernel(operator, kernel, sides.inputs, sides.schema())
    return Frame.of(packed, names_of(operator.edge), operator.edge.changelog)
