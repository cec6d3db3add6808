"""Window joins as DataFrames: rows with their times or the bounds of their windows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.functions import spark_text
from tidemark.functions.moments import micros_of_clock
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START, Cumulating, Given, Sliding
from tidemark.plan.expressions import Ref
from tidemark.plan.nodes import Filter, Node, Project, WindowColumn, WindowJoin, delay_ms
from tidemark.spark.frame import WATERMARK, Frame, like, names_of
from tidemark.spark.interval_joins import output_of, polars
from tidemark.spark.remembering import named, schema_of
from tidemark.spark.types import to_spark
from tidemark.spark.watermarks import input_in_windows, input_of

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField

    from tidemark.kernels.co_group import Placing
    from tidemark.kernels.protocol import Kernel
    from tidemark.plan.windows.unassigned import Unassigned
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
    assert left.placing is not None and right.placing is not None
    output = output_of(node, names, width)
    kernel = kernel_of(
        left.keys,
        right.keys,
        left.placing,
        right.placing,
        node.how,
        condition=None if node.condition is None else polars(node.condition, names),
        nulls_equal=node.nulls_equal or None,
        wanted=output,
    )
    schema = schema_of([*left.fields, *right.fields], output)
    runs = by_watermark(kernel, node.time_type, builder.zone, (node.left, node.right))
    packed = builder.run_kernel("window-join", runs, [left.input, right.input], schema)
    return Frame.of(packed, names_of(node.edge), Changelog.APPEND)


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
    """One input of the join, and how its rows come into windows; None where both sides say it."""

    fields: tuple[StructField, ...]  # the columns that the query knows of
    keys: tuple[str, ...]
    placing: Placing | None
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
        rows = _Rows(node, names, tuple(names[key] for key in keys), side)
        before = None if window is None else _before_windows(node, keys, builder.zone)
        if window is not None and before is not None:
            return cls._placed_by_kernel(builder, rows, before, names[window[0]])
        return cls._as_given(builder, rows, window, None if time is None else names[time])

    @classmethod
    def _placed_by_kernel(
        cls, builder: Builder, asked: _Rows, before: Unassigned, start: str
    ) -> WindowSide:
        """Rows without windows: one that is in several is moved once, and no bounds with it."""
        from pyspark.sql.types import StructField

        from tidemark.kernels.co_group import Placing
        from tidemark.spark.stateful.operator import StatefulInput

        source = input_of(builder, before.node)
        rows = named(source.frame, asked.names)
        columns = list(zip(asked.names, asked.node.edge.columns, strict=True))
        windows = {name: column.window for name, column in columns if column.window is not None}
        # Where the window's columns stood is the time now, which another column may be, too.
        twin = _twin(before.node, asked.names, asked.names.index(start), windows)
        time = twin or start
        data = rows.data.drop(*(name for name in windows if name != time))
        known = data.schema
        fields = (
            StructField(name, to_spark(column.type)) if name in windows else known[name]
            for name, column in columns
        )
        shown = tuple(_shown(window).alias(name) for name, window in windows.items())
        assigner = before.found.assigner
        assert isinstance(assigner, Sliding | Cumulating)
        keys, data = asked.keyed(data)
        input_ = StatefulInput(
            data, keys, time, source.watermark, chained=source.chained, shows_time=time == twin
        )
        return cls(tuple(fields), keys, Placing(assigner, shown), input_)

    @classmethod
    def _as_given(
        cls, builder: Builder, asked: _Rows, window: tuple[int, int] | None, time: str | None
    ) -> WindowSide:
        """Rows that tell their windows in two columns more, or nothing of them but their time."""
        from tidemark.kernels.co_group import Placing
        from tidemark.spark.stateful.operator import StatefulInput

        names = asked.names
        source = (input_of if window is None else input_in_windows)(builder, asked.node)
        frame = like(source.frame, names, Changelog.APPEND)
        given = Given(f"_tm_start_{asked.side}", f"_tm_end_{asked.side}")
        bounds = zip(window or (), (given.start, given.end), strict=window is not None)
        texts = [f"{_milliseconds(names[column])} AS {to}" for column, to in bounds]
        follows = source.watermark is not None and source.watermark.column is not None
        kept = [*map(spark_text.name, names), *[WATERMARK] * follows]
        keys, data = asked.keyed(frame.data.selectExpr(*kept, *texts))
        input_ = StatefulInput(data, keys, time, source.watermark, chained=source.chained)
        fields = tuple(data.schema[name] for name in names)
        return cls(fields, keys, None if window is None else Placing(given), input_)


@dataclass(frozen=True, slots=True)
class _Rows:
    """What a side asks for: the rows of a node, what they call their columns, and their keys."""

    node: Node
    names: tuple[str, ...]
    keys: tuple[str, ...]
    side: str

    def keyed(self, data: DataFrame) -> tuple[tuple[str, ...], DataFrame]:
        """The key columns of the rows; those without a key are all of one."""
        if self.keys:
            return self.keys, data
        everyone = f"_tm_all_{self.side}"
        return (everyone,), data.selectExpr("*", f"TRUE AS {everyone}")


def _before_windows(node: Node, keys: tuple[int, ...], zone: str) -> Unassigned | None:
    """The rows before they were put into windows, where a kernel can do that itself."""
    from tidemark.plan.windows.unassigned import unassigned

    before = unassigned(node)
    if before is None or before.found.by_clock or before.found.last_only:
        return None
    if not isinstance(before.found.assigner, Sliding | Cumulating):
        return None
    # Of windows over windows it is not known here which ones a column speaks of.
    if any(column.window is not None for column in before.found.input.edge.columns):
        return None
    windows = {place for place, column in enumerate(node.edge.columns) if column.window is not None}
    instants = (isinstance(node.edge.columns[place].type, t.TimestampLtz) for place in windows)
    if windows.intersection(keys) or (any(instants) and zone.upper() not in _UTC):
        return None
    return before


def _twin(node: Node, names: tuple[str, ...], place: int, but: Collection[str]) -> str | None:
    """Another column of these names, none of `but`, with the same values as the one at `place`."""
    origin = _origin(node, place)
    same = (
        name
        for other, name in enumerate(names)
        if name not in but and _origin(node, other) == origin
    )
    return next(same, None)


def _origin(node: Node, place: int) -> tuple[int, int]:
    """Which column of which node it is that the one at `place` only hands on."""
    while isinstance(node, Filter | Project):
        if isinstance(node, Project):
            expression = node.expressions[place]
            if not isinstance(expression, Ref):
                break
            place = expression.index
        node = node.input
    return id(node), place


def _shown(window: WindowColumn) -> pl.Expr:
    """What the query sees of a window, from its milliseconds."""
    import polars as pl

    bound = pl.col(WINDOW_START if window.says == "start" else WINDOW_END)
    if window.says != "time":
        return (bound * 1000).cast(pl.Datetime("us"))
    zone = "UTC" if isinstance(window.time, t.TimestampLtz) else None
    return ((bound - 1) * 1000).cast(pl.Datetime("us", zone))
