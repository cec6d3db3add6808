"""Joins of rows, by their kernels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.local.builder import needs_spark
from tidemark.operators import joins as kernels
from tidemark.plan.nodes import IntervalJoin, RegularJoin, SnapshotJoin, TemporalJoin, WindowJoin

if TYPE_CHECKING:
    import polars as pl

    from tidemark.kernels.co_group.kernel import WindowAssignment
    from tidemark.kernels.protocol import Kernel
    from tidemark.local.builder import LocalBuilder
    from tidemark.local.inputs import BothInputs
    from tidemark.local.kernels import KernelInput
    from tidemark.local.rows import LocalRows
    from tidemark.physical import Input, Operator
    from tidemark.plan.nodes import Edge


def temporal_join(builder: LocalBuilder, operator: Operator) -> LocalRows:
    from tidemark.local.inputs import BothInputs

    assert isinstance(operator.node, TemporalJoin)
    sides = BothInputs.of(builder, operator)
    kernel = kernels.temporal_join_kernel(operator, sides.columns, builder.ttl_ms)
    return _joined(builder, operator, sides, kernel)


def snapshot_join(builder: LocalBuilder, operator: Operator) -> LocalRows:
    from tidemark.local.inputs import BothInputs

    node = operator.node
    assert isinstance(node, SnapshotJoin)
    sides = BothInputs.of(builder, operator)
    kernel = kernels.snapshot_join_kernel(
        operator, node, sides.columns, builder.ttl_ms, builder.zone
    )
    return _joined(builder, operator, sides, kernel)


def interval_join(builder: LocalBuilder, operator: Operator) -> LocalRows:
    from tidemark.local.inputs import BothInputs

    assert isinstance(operator.node, IntervalJoin)
    sides = BothInputs.of(builder, operator)
    kernel = kernels.interval_join_kernel(operator, operator.node, sides.columns)
    return _joined(builder, operator, sides, kernel)


def regular_join(builder: LocalBuilder, operator: Operator) -> LocalRows:
    from tidemark.local.inputs import BothInputs

    assert isinstance(operator.node, RegularJoin)
    sides = BothInputs.of(builder, operator)
    kernel = kernels.regular_join_kernel(operator, operator.node, sides.columns, builder.ttl_ms)
    return _joined(builder, operator, sides, kernel)


def _joined(
    builder: LocalBuilder, operator: Operator, sides: BothInputs, kernel: Kernel
) -> LocalRows:
    from tidemark.local.kernels import run_kernel

    inputs, output = [sides.left, sides.right], sides.columns.output
    kinds = operator.edge.changelog is not Changelog.APPEND
    return run_kernel(builder, operator, kernel, inputs, output, kinds=kinds)


def window_join(builder: LocalBuilder, operator: Operator) -> LocalRows:
    from tidemark.local.kernels import run_kernel
    from tidemark.operators.joins import JoinColumns, names_of_sides, output_of

    node, names = operator.node, names_of_sides(operator)
    assert isinstance(node, WindowJoin)
    width = operator.inputs[0].width
    left, mine = _placed(builder, operator, 0, node.left.edge, names[:width], node.left_window)
    right, theirs = _placed(builder, operator, 1, node.right.edge, names[width:], node.right_window)
    columns = JoinColumns(left.keys, right.keys, names, output_of(operator, names))
    kernel = kernels.window_join_kernel(operator, node, columns, (mine, theirs), builder.zone)
    return run_kernel(builder, operator, kernel, [left, right], columns.output, kinds=False)


def _placed(
    builder: LocalBuilder,
    operator: Operator,
    number: int,
    edge: Edge,
    names: tuple[str, ...],
    window: tuple[int, int] | None,
) -> tuple[KernelInput, WindowAssignment]:
    """An input of a window join, and how its rows are assigned to windows."""
    from tidemark.local.inputs import side

    input_ = operator.inputs[number]
    rows = side(builder, input_, names, f"_tm_all_{number}")
    if input_.windows is not None:
        return _by_kernel(input_, rows, edge, names)
    if window is None:
        raise needs_spark("a join of sessions", operator.node)
    return _as_given(rows, names, window, number)


def _by_kernel(
    input_: Input, rows: KernelInput, edge: Edge, names: tuple[str, ...]
) -> tuple[KernelInput, WindowAssignment]:
    """LocalRows without windows: their columns of bounds are made by the kernel."""
    from tidemark.kernels.co_group.kernel import WindowAssignment

    assert input_.windows is not None
    columns = zip(names, edge.columns, strict=True)
    windows = {name: column.window for name, column in columns if column.window is not None}
    bounds = tuple(kernels.shown(window).alias(name) for name, window in windows.items())
    kept = {n: dtype for n, dtype in rows.types.items() if n not in windows or n == rows.time}
    return replace(rows, types=kept), WindowAssignment(input_.windows, bounds)


def _as_given(
    rows: KernelInput, names: tuple[str, ...], window: tuple[int, int], number: int
) -> tuple[KernelInput, WindowAssignment]:
    """LocalRows with their windows in two additional columns."""
    import polars as pl

    from tidemark.kernels.co_group.kernel import WindowAssignment
    from tidemark.kernels.windows.spec import Given
    from tidemark.runtime.times import milliseconds

    given = Given(f"_tm_start_{number}", f"_tm_end_{number}")
    bounds = list(zip(window, (given.start, given.end), strict=True))

    def with_bounds(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(milliseconds(frame[names[at]]).alias(to) for at, to in bounds)

    frames, types = rows.frames, {**rows.types, given.start: pl.Int64(), given.end: pl.Int64()}
    with_windows = replace(rows, frames=lambda: map(with_bounds, frames()), types=types)
    return with_windows, WindowAssignment(given)
