"""Window joins, with a kernel that takes rows with their times, or with the bounds of their
windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.functions import spark_text
from tidemark.kernels.windows.spec import Given
from tidemark.operators.joins import (
    JoinColumns,
    names_of_sides,
    output_of,
    shown,
    window_join_kernel,
)
from tidemark.operators.outlets import columns_beside
from tidemark.plan.nodes import CoGroup, WindowJoin
from tidemark.spark.frame import Frame, like, names_of
from tidemark.spark.inputs import (
    GivenRows,
    build_input,
    keyed,
    named,
    schema_of,
    stateful_input,
)
from tidemark.spark.moments import WATERMARK
from tidemark.spark.stateful.added import ClockMillis
from tidemark.spark.types import to_spark

if TYPE_CHECKING:
    from pyspark.sql.types import StructField

    from tidemark.kernels.co_group.kernel import WindowAssignment
    from tidemark.physical import Input, Operator
    from tidemark.plan.nodes import Edge
    from tidemark.spark.builder import Builder
    from tidemark.spark.stateful.operator import StatefulInput


def window_join(builder: Builder, operator: Operator) -> Frame:
    node = operator.node
    assert isinstance(node, WindowJoin)
    names, (left, right) = window_sides(builder, operator)
    assert left.assignment is not None and right.assignment is not None
    output = output_of(operator, names)
    columns = JoinColumns(left.keys, right.keys, names, output)
    windows = left.assignment, right.assignment
    kernel = window_join_kernel(operator, node, columns, windows, builder.zone)
    schema = schema_of([*left.fields, *right.fields], output)
    packed = builder.run_kernel(operator, kernel, [left.input, right.input], schema)
    return Frame.of(packed, names_of(operator.edge), Changelog.APPEND)


def window_sides(
    builder: Builder, operator: Operator
) -> tuple[tuple[str, ...], tuple[WindowSide, WindowSide]]:
    """Names for all columns, and both inputs."""
    node, names = operator.node, names_of_sides(operator)
    assert isinstance(node, WindowJoin | CoGroup)
    left, right = operator.inputs
    width = left.width
    mine = WindowSide.of(builder, left, node.left.edge, names[:width], node.left_window, "l")
    theirs = WindowSide.of(builder, right, node.right.edge, names[width:], node.right_window, "r")
    return names, (mine, theirs)


Window = tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class WindowSide:
    """One input of the join, and how its rows are assigned to windows; None if both sides have
    them.
    """

    fields: tuple[StructField, ...]  # the columns that the query sees
    keys: tuple[str, ...]
    assignment: WindowAssignment | None
    input: StatefulInput

    @classmethod
    def of(
        cls,
        builder: Builder,
        input_: Input,
        edge: Edge,
        names: tuple[str, ...],
        window: Window,
        side: str,
    ) -> WindowSide:
        """The rows of an input as the query sees them: with the columns of `edge`."""
        if input_.windows is not None:
            return cls._placed_by_kernel(builder, input_, edge, names, side)
        return cls._as_given(builder, input_, names, window, side)

    @classmethod
    def _placed_by_kernel(
        cls, builder: Builder, input_: Input, edge: Edge, names: tuple[str, ...], side: str
    ) -> WindowSide:
        """Rows without windows: one that is in several is exchanged once, and without bounds."""
        from pyspark.sql.types import StructField

        from tidemark.kernels.co_group.kernel import WindowAssignment

        assert input_.time is not None and input_.windows is not None
        every = (*names, *columns_beside(input_))
        rows, time = named(build_input(builder, input_), every), every[input_.time]
        columns = list(zip(names, edge.columns, strict=True))
        windows = {name: column.window for name, column in columns if column.window is not None}
        known = rows.schema
        fields = (
            StructField(name, to_spark(column.type)) if name in windows else known[name]
            for name, column in columns
        )
        bounds_shown = tuple(shown(window).alias(name) for name, window in windows.items())
        keys, added = keyed(tuple(names[key] for key in input_.keys), f"_tm_all_{side}")
        given = GivenRows.of(rows, ["*"], added).without(windows.keys() - {time})
        seen = stateful_input(builder, input_, rows, given, keys, time, rows.packed, added)
        return cls(tuple(fields), keys, WindowAssignment(input_.windows, bounds_shown), seen)

    @classmethod
    def _as_given(
        cls, builder: Builder, input_: Input, names: tuple[str, ...], window: Window, side: str
    ) -> WindowSide:
        """Rows with their windows in two additional columns, or with only their time."""
        from tidemark.kernels.co_group.kernel import WindowAssignment

        every = (*names, *columns_beside(input_))
        frame = like(build_input(builder, input_), every, Changelog.APPEND)
        given = Given(f"_tm_start_{side}", f"_tm_end_{side}")
        bounds = zip(window or (), (given.start, given.end), strict=window is not None)
        keys, for_keys = keyed(tuple(names[key] for key in input_.keys), f"_tm_all_{side}")
        added = [*(ClockMillis(to, names[column]) for column, to in bounds), *for_keys]
        follows = input_.watermark is not None and input_.watermark.followed
        kept = [*map(spark_text.name, every), *[WATERMARK] * follows, *frame.passed]
        seen = GivenRows.of(frame, kept, added)
        time = None if input_.time is None else every[input_.time]
        rows = stateful_input(builder, input_, frame, seen, keys, time, frame.packed, added)
        fields = tuple(seen.schema[name] for name in names)
        return cls(fields, keys, None if window is None else WindowAssignment(given), rows)
