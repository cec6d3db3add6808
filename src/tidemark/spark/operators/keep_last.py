"""Keep-last deduplication, by a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.spark.frame import Frame
from tidemark.spark.inputs import build_input, named, schema_of, stateful_input

if TYPE_CHECKING:
    from tidemark.physical import Operator
    from tidemark.spark.builder import Builder


def keep_last(builder: Builder, operator: Operator) -> Frame:
    from tidemark.kernels.held_back import held_back
    from tidemark.kernels.keep_last import KeepLast as Kernel

    [input_] = operator.inputs
    frame = build_input(builder, input_)
    below = named(frame, frame.columns)
    keys = tuple(below.columns[index] for index in input_.keys)
    assert input_.time is not None
    rows = stateful_input(builder, input_, below.data, keys, below.columns[input_.time])
    schema = schema_of(below.data.schema.fields, below.columns, kinds=True)
    kernel = held_back(Kernel(keys), operator.held_back_ms)
    packed = builder.run_kernel(operator, kernel, [rows], schema)
    return Frame.of(packed, below.columns, Changelog.RETRACT)
