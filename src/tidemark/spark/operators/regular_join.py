"""Regular joins, with a kernel that keeps both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.plan.nodes import Edge, RegularJoin
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.inputs import InputSide, Sides, has_kinds
from tidemark.spark.pair_conditions import pair_condition

if TYPE_CHECKING:
    from tidemark.kernels.regular_join.lifetimes import JoinInput
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder


def regular_join(builder: Builder, operator: Operator) -> Frame:
    from tidemark.kernels.regular_join.kernel import RegularJoinKernel

    node = operator.node
    assert isinstance(node, RegularJoin)
    sides = Sides.of(builder, operator)
    left, right = (input_.stage.edge for input_ in operator.inputs)
    condition = None if node.condition is None else pair_condition(node.condition, sides.names)
    kernel = RegularJoinKernel(
        _known(sides.left, left),
        _known(sides.right, right),
        how=node.how,
        condition=condition,
        nulls_equal=node.nulls_equal,
        wanted=sides.output,
        ttl=builder.state.ttl_ms or None,
        at_end=node.at_end,
    )
    schema = sides.schema(kinds=operator.edge.changelog is not Changelog.APPEND)
    packed = builder.run_kernel(operator, kernel, sides.inputs, schema)
    return Frame.of(packed, names_of(operator.edge), operator.edge.changelog)


def _known(side: InputSide, edge: Edge) -> JoinInput:
    """What the kernel knows about a side."""
    from tidemark.kernels.regular_join.lifetimes import JoinInput

    unique = edge.keys[0] if edge.keys else ()
    columns = tuple(side.frame.columns[edge.names.index(column)] for column in unique)
    return JoinInput(side.keys, has_kinds(side.frame), columns)
