"""MATCH_RECOGNIZE, with a kernel."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from tidemark.operators.match_recognize import match_recognize_kernel, measure_name
from tidemark.plan.nodes import Match
from tidemark.spark.types import to_spark
from tidemark.spark.windowed import WindowInput, emitted

if TYPE_CHECKING:
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder
    from tidemark.spark.frame import Frame


def match_recognize(builder: Builder, operator: Operator) -> Frame:
    from pyspark.sql.types import StructField

    node = operator.node
    assert isinstance(node, Match)
    input_ = WindowInput.of(builder, operator)
    now = dt.datetime.now(dt.UTC)
    kernel = match_recognize_kernel(node, input_.keys, input_.names, builder.zone, now)
    measures = [
        StructField(measure_name(place), to_spark(column.type))
        for place, (column, _) in enumerate(node.measures)
    ]
    return emitted(builder, input_, kernel, [*input_.fields(input_.key_columns), *measures])
