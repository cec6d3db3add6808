"""Temporal joins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.operators.joins import temporal_join_kernel
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.inputs import Sides, has_kinds

if TYPE_CHECKING:
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder


def temporal_join(builder: Builder, operator: Operator) -> Frame:
    sides = Sides.of(builder, operator)
    kernel = temporal_join_kernel(operator, sides.columns, builder.state.ttl_ms)
    schema = sides.schema(kinds=has_kinds(sides.left.frame))
    packed = builder.run_kernel(operator, kernel, sides.inputs, schema)
    return Frame.of(packed, names_of(operator.edge), sides.left.frame.changelog)
