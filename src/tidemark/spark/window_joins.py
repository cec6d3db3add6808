"""Window joins as DataFrames: rows with the milliseconds of their windows, for a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.functions import spark_text
from tidemark.functions.moments import micros_of_clock
from tidemark.kernels.windows.spec import Given
from tidemark.plan.nodes import Node, WindowJoin, delay_ms
from tidemark.spark.frame import WATERMARK, Frame, like
from tidemark.spark.interval_joins import output_of, polars
from tidemark.spark.remembering import named, row_schema
from tidemark.spark.watermarks import input_in_windows, input_of

if TYPE_CHECKING:
    from tidemark.kernels.protocol import Kernel
    from tidemark.spark.builder import Builder
    from tidemark.spark.stateful.operator import StatefulInput

_UTC = ("UTC", "ETC/UTC", "GMT", "Z")


def window_join(builder: Builder, node: WindowJoin) -> Frame:
    from tidemark.kernels.window_join import window_join as kernel_of

    width = len(node.left.edge.columns)
    names = spark_text.safe_names((*node.left.edge.names, *node.right.edge.names))
    left = WindowSide.of(builder, node.left, names[:width], node.left_keys, node.left_window, "l")
    right = WindowSide.of(
        builder, node.right, names[width:], node.right_keys, node.right_window, "r"
    )
    assert left.window is not None and right.window is not None
    kernel = kernel_of(
        left.keys,
        right.keys,
        left.window,
        right.window,
        node.how,
        condition=None if node.condition is None else polars(node.condition, names),
        nulls_equal=node.nulls_equal or None,
    )
    output = output_of(node, names, width)
    schema = row_schema([left.frame.data, right.frame.data], kinds=False, only=output)
    runs = by_watermark(kernel, node.time_type, builder.zone, (node.left, node.right))
    data = builder.run_kernel("window-join", runs, [left.input, right.input], schema)
    return Frame(data, output, Changelog.APPEND)


def _milliseconds(column: str) -> str:
    """A bound of a window, which is what a clock shows, in milliseconds since 1970."""
    return f"CAST(floor({micros_of_clock(spark_text.name(column))} / 1000) AS BIGINT)"


def clock_of(milliseconds: str) -> str:
    """What a clock shows, from milliseconds since 1970."""
    epoch = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
    return f"timestampadd(MICROSECOND, {milliseconds} * 1000L, {epoch})"


def by_watermark(kernel: Kernel, time: t.DataType, zone: str, inputs: tuple[Node, Node]) -> Kernel:
    """The kernel, told when rows are late and what the clock shows."""
    from tidemark.kernels.held_back import held_back
    from tidemark.kernels.windows.wall_clock import WallClock

    if isinstance(time, t.TimestampLtz) and zone.upper() not in _UTC:
        kernel = WallClock(kernel, zone)
    return held_back(kernel, max(map(delay_ms, inputs)))


@dataclass(frozen=True, slots=True)
class WindowSide:
    """One input of the join, whose rows tell their windows in two columns more."""

    frame: Frame  # the columns that the query knows of
    keys: tuple[str, ...]
    window: Given | None  # None where rows do not say it
    input: StatefulInput

    @classmethod
    def of(
        cls,
        builder: Builder,
        node: Node,
        names: tuple[str, ...],
        keys: tuple[int, ...],
        window: tuple[int, int] | None,
        side: str,
        time: int | None = None,
    ) -> WindowSide:
        from tidemark.spark.stateful.operator import StatefulInput

        source = (input_of if window is None else input_in_windows)(builder, node)
        frame = named(source.frame, names)
        start, end = f"_tm_start_{side}", f"_tm_end_{side}"
        bounds = zip(window or (), (start, end), strict=window is not None)
        texts = [f"{_milliseconds(frame.columns[column])} AS {to}" for column, to in bounds]
        # Rows without a key are all of one.
        everyone = f"_tm_all_{side}"
        texts += [] if keys else [f"TRUE AS {everyone}"]
        columns = tuple(frame.columns[index] for index in keys)
        follows = source.watermark is not None and source.watermark.column is not None
        kept = [*map(spark_text.name, frame.columns), *[WATERMARK] * follows]
        rows = StatefulInput(
            like(source.frame, names, Changelog.APPEND).data.selectExpr(*kept, *texts),
            columns or (everyone,),
            None if time is None else frame.columns[time],
            source.watermark,
            chained=source.chained,
        )
        given = None if window is None else Given(start, end)
        return cls(frame, columns, given, rows)
