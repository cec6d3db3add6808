"""The rows of a query by the primary key of their sink, by a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.operators.windows import materialize_kernel
from tidemark.plan.nodes import SinkUpsertMaterializer
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.windowed import WindowInput, kind_fields

if TYPE_CHECKING:
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder


def sink_upsert_materializer(builder: Builder, operator: Operator) -> Frame:
    from pyspark.sql.types import StructType

    node = operator.node
    assert isinstance(node, SinkUpsertMaterializer)
    assert builder.state is not None
    input_ = WindowInput.of(builder, operator)
    kernel = materialize_kernel(node, input_.keys, builder.state.ttl_ms)
    schema = StructType([*input_.fields(input_.names), *kind_fields(operator.edge)])
    packed = builder.run_kernel(operator, input_.given_time(kernel), [input_.rows], schema)
    return Frame.of(packed, names_of(operator.edge), operator.edge.changelog)
