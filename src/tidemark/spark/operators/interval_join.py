"""Interval joins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.operators.joins import interval_join_kernel
from tidemark.plan.nodes import IntervalJoin
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.inputs import Sides

if TYPE_CHECKING:
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder


def interval_join(builder: Builder, operator: Operator) -> Frame:
    node = operator.node
    assert isinstance(node, IntervalJoin)
    sides = Sides.of(builder, operator)
    kernel = interval_join_kernel(operator, node, sides.columns)
    packed = builder.run_kernel(operator, kernel, sides.inputs, sides.schema())
    return Frame.of(packed, names_of(operator.edge), Changelog.APPEND)
