"""Keep-last deduplication, with a kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.operators.joins import output_of
from tidemark.operators.times import emitting_stamps, given_time
from tidemark.operators.windows import keep_last_kernel
from tidemark.spark.frame import SEEN, Frame, names_of
from tidemark.spark.inputs import GivenRows, build_input, named, schema_of, stateful_input
from tidemark.spark.windowed import contending

if TYPE_CHECKING:
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder


def keep_last(builder: Builder, operator: Operator) -> Frame:
    from pyspark.sql.types import LongType, StructField, StructType

    from tidemark.kernels.columns import TIME
    from tidemark.kernels.contenders import Contenders
    from tidemark.kernels.order import Order

    [input_] = operator.inputs
    frame = build_input(builder, input_)
    below = named(frame, frame.columns, stamped=frame.stamped)
    keys = tuple(below.columns[index] for index in input_.keys)
    assert input_.time is not None
    time = below.columns[input_.time]
    given = GivenRows(below.rows, below.schema)
    rows = stateful_input(builder, input_, below, given, keys, time, below.packed)
    newest = Contenders(keys, (Order(TIME, descending=True),), 1)
    output = output_of(operator, below.columns)
    changelog = operator.edge.changelog
    kinds = changelog is not Changelog.APPEND
    fields = schema_of(below.schema.fields, output, kinds=kinds).fields
    schema = StructType([*fields, *[StructField(SEEN, LongType())] * operator.stamps])
    assert builder.state is not None
    kernel = emitting_stamps(keep_last_kernel(operator, keys, builder.state.ttl_ms), operator)
    timed = given_time(kernel, operator, stamped=frame.stamped)
    packed = builder.run_kernel(operator, timed, [contending(operator, rows, newest)], schema)
    return replace(Frame.of(packed, names_of(operator.edge), changelog), stamped=operator.stamps)
