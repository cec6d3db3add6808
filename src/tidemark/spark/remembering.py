"""Nodes that remember rows, as DataFrames: each is a kernel on the stateful runtime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tidemark.catalog.tables import Changelog
from tidemark.functions import spark_text
from tidemark.plan.nodes import KeepLast, TemporalJoin, delay_ms
from tidemark.spark.frame import KIND, SEEN, WATERMARK, Frame, like, names_of
from tidemark.spark.watermarks import input_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField, StructType

    from tidemark.spark.builder import Builder


def keep_last(builder: Builder, node: KeepLast) -> Frame:
    from tidemark.kernels.held_back import held_back
    from tidemark.kernels.keep_last import KeepLast as Kernel
    from tidemark.spark.stateful.operator import StatefulInput

    input_ = input_of(builder, node.input)
    below = named(input_.frame, input_.frame.columns)
    keys = tuple(below.columns[index] for index in node.keys)
    rows = StatefulInput(
        below.data, keys, below.columns[node.time], input_.watermark, chained=input_.chained
    )
    schema = row_schema([below.data], kinds=True)
    kernel = held_back(Kernel(keys), delay_ms(node.input))
    packed = builder.run_kernel("keep-last", kernel, [rows], schema)
    return Frame.of(packed, below.columns, Changelog.RETRACT)


def temporal_join(builder: Builder, node: TemporalJoin) -> Frame:
    from tidemark.kernels.held_back import held_back
    from tidemark.kernels.load_phase import AfterLoading
    from tidemark.kernels.temporal_join import TemporalJoin as EventTime
    from tidemark.kernels.temporal_join_processing_time import ProcessingTimeTemporalJoin
    from tidemark.spark.stateful.operator import StatefulInput

    # No two columns of both sides may have one name, also of those that are not given out.
    width, both = len(node.left.edge.columns), (*node.left.edge.names, *node.right.edge.names)
    names = spark_text.safe_names(both)
    sides = [input_of(builder, node.left), input_of(builder, node.right)]
    left, right = named(sides[0].frame, names[:width]), named(sides[1].frame, names[width:])
    left_keys = tuple(left.columns[index] for index in node.left_keys)
    right_keys = tuple(right.columns[index] for index in node.right_keys)
    kernel: Any
    if node.right_time is None:
        kernel = ProcessingTimeTemporalJoin(
            left_keys, right_keys, node.how, retention=builder.retention()
        )
        if node.load_idle_ms is not None:
            kernel = AfterLoading(kernel, node.load_idle_ms)
        times: tuple[str | None, str | None] = (None, None)
    else:
        update_before = "ends version" if node.retractions_overwrite else "ignored"
        kernel = EventTime(
            left_keys,
            right_keys,
            node.how,
            update_before=update_before,  # type: ignore[arg-type]
            retention=builder.retention(),
        )
        times = (left.columns[node.left_time], right.columns[node.right_time])
    output = names if node.output is None else tuple(names[index] for index in node.output)
    shown = {*output, *left_keys, *right_keys}
    inputs = [
        StatefulInput(
            frame.data,
            keys,
            time,
            side.watermark,
            chained=side.chained,
            shows_time=time in shown,
        )
        for frame, keys, time, side in zip(
            (left, right), (left_keys, right_keys), times, sides, strict=True
        )
    ]
    has_kinds = left.changelog is not Changelog.APPEND
    schema = row_schema([left.data, right.data], kinds=has_kinds, only=output)
    kernel = held_back(kernel, max(delay_ms(node.left), delay_ms(node.right)))
    tick = None if node.load_idle_ms is None else min(_LOADING_TICK_MS, node.load_idle_ms)
    packed = builder.run_kernel("temporal-join", kernel, inputs, schema, tick)
    return Frame.of(packed, names_of(node.edge), left.changelog)


# How often a join that waits for its right side looks at the clock.
_LOADING_TICK_MS = 1000


def named(frame: Frame, names: tuple[str, ...]) -> Frame:
    """The rows under other names, and without the watermark, which the operator is told."""
    data = frame.data.drop(WATERMARK, SEEN)
    return like(frame.over(data, followed=False, stamped=False), names, frame.changelog)


def row_schema(
    frames: list[DataFrame], kinds: bool, only: tuple[str, ...] | None = None
) -> StructType:
    """The columns of all the frames, or only some, and a row kind at the end if there are kinds."""
    fields = [field for frame in frames for field in frame.schema.fields if field.name != KIND]
    names = tuple(field.name for field in fields) if only is None else only
    return schema_of(fields, names, kinds=kinds)


def schema_of(
    fields: Sequence[StructField], only: tuple[str, ...], *, kinds: bool = False
) -> StructType:
    """The fields of these names, any of which may be null."""
    from pyspark.sql.types import StringType, StructField, StructType

    types = {field.name: field.dataType for field in fields}
    found = [StructField(name, types[name], True) for name in only]
    return StructType([*found, *[StructField(KIND, StringType(), False)] * kinds])
