"""Regular joins as DataFrames: rows of both sides under their keys, for a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.functions import spark_text
from tidemark.plan.nodes import Edge, Node, RegularJoin
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.interval_joins import output_of, polars
from tidemark.spark.remembering import named, row_schema
from tidemark.spark.watermarks import input_of

if TYPE_CHECKING:
    from tidemark.kernels.regular_lives import JoinInput
    from tidemark.spark.builder import Builder
    from tidemark.spark.stateful.operator import StatefulInput


def regular_join(builder: Builder, node: RegularJoin) -> Frame:
    from tidemark.kernels.regular_join import RegularJoin as Kernel

    assert builder.state is not None
    names = spark_text.safe_names((*node.left.edge.names, *node.right.edge.names))
    width = len(node.left.edge.columns)
    left = _Side.of(builder, node.left, names[:width], node.left_keys)
    right = _Side.of(builder, node.right, names[width:], node.right_keys)
    output = output_of(node, names, width)
    kernel = Kernel(
        left.known,
        right.known,
        how=node.how,
        condition=None if node.condition is None else polars(node.condition, names),
        nulls_equal=node.nulls_equal,
        wanted=output,
        ttl=builder.state.ttl_ms or None,
        at_end=node.at_end,
    )
    kinds = node.edge.changelog is not Changelog.APPEND
    schema = row_schema([left.frame.data, right.frame.data], kinds=kinds, only=output)
    packed = builder.run_kernel("regular-join", kernel, [left.input, right.input], schema)
    return Frame.of(packed, names_of(node.edge), node.edge.changelog)


@dataclass(frozen=True, slots=True)
class _Side:
    """One input of the join, and what the kernel knows of it."""

    frame: Frame
    known: JoinInput
    input: StatefulInput

    @classmethod
    def of(
        cls, builder: Builder, node: Node, names: tuple[str, ...], keys: tuple[int, ...]
    ) -> _Side:
        from tidemark.kernels.regular_lives import JoinInput
        from tidemark.spark.stateful.operator import StatefulInput

        source = input_of(builder, node)
        frame = named(source.frame, names)
        by = tuple(names[index] for index in keys)
        known = JoinInput(by, frame.changelog is not Changelog.APPEND, _unique(node.edge, names))
        rows = StatefulInput(frame.data, by, None, source.watermark, chained=source.chained)
        return cls(frame, known, rows)


def _unique(edge: Edge, names: tuple[str, ...]) -> tuple[str, ...]:
    """A key of the rows, if they have one."""
    key = edge.keys[0] if edge.keys else ()
    return tuple(names[edge.names.index(column)] for column in key)
