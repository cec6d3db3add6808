"""The kernels of joins, over the columns of both inputs under names of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import time_ns
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.functions.spark_text import safe_names
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START
from tidemark.operators.outlets import handing_out
from tidemark.operators.pair_conditions import pair_condition
from tidemark.operators.times import by_watermark
from tidemark.plan.nodes import PointInTime

if TYPE_CHECKING:
    import polars as pl

    from tidemark.kernels.co_group.kernel import WindowAssignment
    from tidemark.kernels.protocol import Kernel
    from tidemark.kernels.regular_join.kernel import RegularJoinKernel
    from tidemark.kernels.regular_join.lifetimes import JoinInput
    from tidemark.kernels.temporal_join.clean_up import Retention
    from tidemark.physical import Operator
    from tidemark.plan.expressions import Expression
    from tidemark.plan.nodes import (
        Edge,
        IntervalJoin,
        RegularJoin,
        SnapshotJoin,
        TemporalJoin,
        WindowColumn,
        WindowJoin,
    )


@dataclass(frozen=True, slots=True)
class JoinColumns:
    """The columns of a join: the keys of both sides, all names, and the ones that are emitted."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    names: tuple[str, ...]
    output: tuple[str, ...]

    def of_left(self, operator: Operator) -> tuple[str, ...]:
        """The names of the left side's columns."""
        return self.names[: operator.inputs[0].width]

    def of_right(self, operator: Operator) -> tuple[str, ...]:
        return self.names[operator.inputs[0].width :]


def names_of_sides(operator: Operator) -> tuple[str, ...]:
    """Names for the columns of both inputs that the query sees, all of them distinct."""
    left, right = (input_.stage.edge.names[: input_.width] for input_ in operator.inputs)
    return safe_names((*left, *right))


def output_of(operator: Operator, names: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that an operator emits, of these names of its inputs."""
    assert operator.output is not None
    return tuple(names[index] for index in operator.output)


def retention_of(ttl_ms: int) -> Retention | None:
    """How long the state of idle keys is kept; None keeps it."""
    from tidemark.kernels.temporal_join.clean_up import Retention

    return Retention.of(ttl_ms) if ttl_ms else None


def temporal_join_kernel(operator: Operator, columns: JoinColumns, ttl_ms: int) -> Kernel:
    from tidemark.kernels.held_back import held_back

    node = _node(operator)
    kernel_of = _by_processing_time if node.right_time is None else _by_event_time
    kernel = handing_out(kernel_of(node, columns, retention_of(ttl_ms)), operator)
    return held_back(kernel, operator.held_back_ms)


def _node(operator: Operator) -> TemporalJoin:
    from tidemark.plan.nodes import TemporalJoin

    assert isinstance(operator.node, TemporalJoin)
    return operator.node


def _by_event_time(node: TemporalJoin, columns: JoinColumns, kept: Retention | None) -> Kernel:
    from tidemark.kernels.temporal_join.event_time import TemporalJoinKernel

    return TemporalJoinKernel(
        columns.left,
        columns.right,
        node.how,
        update_before="ends version" if node.retractions_overwrite else "ignored",
        retention=kept,
        drops_late=node.drops_late,
    )


def _by_processing_time(node: TemporalJoin, columns: JoinColumns, kept: Retention | None) -> Kernel:
    from tidemark.kernels.temporal_join.load_phase import AfterLoading
    from tidemark.kernels.temporal_join.processing_time import ProcessingTimeTemporalJoinKernel

    kernel = ProcessingTimeTemporalJoinKernel(columns.left, columns.right, node.how, retention=kept)
    return kernel if node.load_idle_ms is None else AfterLoading(kernel, node.load_idle_ms)


def snapshot_join_kernel(
    operator: Operator, node: SnapshotJoin, columns: JoinColumns, ttl_ms: int, zone: str
) -> Kernel:
    from tidemark.kernels.held_back import held_back
    from tidemark.kernels.regular_join.lifetimes import JoinInput
    from tidemark.kernels.snapshot_join.kernel import SnapshotJoinKernel

    right = operator.inputs[1].stage.edge
    time, until = right.columns[node.right_time].type, node.load_until
    at_start = until is None
    until = until or PointInTime(epoch_ms=time_ns() // 1_000_000)
    known = _known(columns.right, columns.of_right(operator), right)
    # Rows of a table that only inserts are all there, even if its key is not unique.
    known = known if known.retracts else JoinInput(known.keys)
    kernel = SnapshotJoinKernel(
        columns.left,
        known,
        until.as_event_time(time, zone),
        at_start=at_start,
        how=node.how,
        idle_ms=node.load_idle_ms,
        condition=_condition(node.condition, columns.names),
        nulls_equal=node.nulls_equal,
        wanted=columns.output,
        retention=retention_of(node.ttls_ms(ttl_ms)[0]),
    )
    return held_back(handing_out(kernel, operator), operator.held_back_ms)


def interval_join_kernel(operator: Operator, node: IntervalJoin, columns: JoinColumns) -> Kernel:
    """The kernel of SQL or that of the stream API."""
    from tidemark.kernels.held_back import held_back

    kernel = _interval_join_kernel(node, columns)
    return held_back(handing_out(kernel, operator), operator.held_back_ms)


def _interval_join_kernel(node: IntervalJoin, columns: JoinColumns) -> Kernel:
    from tidemark.kernels.interval_join.kernel import IntervalJoinKernel
    from tidemark.kernels.interval_join.stream_api import StreamIntervalJoinKernel

    left, right = columns.left, columns.right
    if node.drops_late:
        return StreamIntervalJoinKernel(left, right, node.lower_ms, node.upper_ms)
    return IntervalJoinKernel(
        left,
        right,
        lower=node.lower_ms,
        upper=node.upper_ms,
        how=node.how,
        condition=_condition(node.condition, columns.names),
        nulls_equal=node.nulls_equal or None,
        time="processing" if node.processing_time else "event",
        slack=node.slack_ms,
        wanted=columns.output,
    )


def regular_join_kernel(
    operator: Operator, node: RegularJoin, columns: JoinColumns, ttl_ms: int
) -> RegularJoinKernel:
    from tidemark.kernels.regular_join.kernel import RegularJoinKernel

    left, right = (input_.stage.edge for input_ in operator.inputs)
    left_ttl, right_ttl = node.ttls_ms(ttl_ms)
    return RegularJoinKernel(
        _known(columns.left, columns.of_left(operator), left),
        _known(columns.right, columns.of_right(operator), right),
        how=node.how,
        condition=_condition(node.condition, columns.names),
        nulls_equal=node.nulls_equal,
        wanted=columns.output,
        ttls=(left_ttl or None, right_ttl or None),
        at_end=node.at_end,
    )


def _known(keys: tuple[str, ...], names: tuple[str, ...], edge: Edge) -> JoinInput:
    """What the kernel knows about a side."""
    from tidemark.kernels.regular_join.lifetimes import JoinInput

    unique = edge.keys[0] if edge.keys else ()
    columns = tuple(names[edge.names.index(column)] for column in unique)
    return JoinInput(keys, edge.changelog is not Changelog.APPEND, columns)


def window_join_kernel(
    operator: Operator,
    node: WindowJoin,
    columns: JoinColumns,
    windows: tuple[WindowAssignment, WindowAssignment],
    zone: str,
) -> Kernel:
    from tidemark.kernels.window_join import window_join

    kernel = window_join(
        columns.left,
        columns.right,
        *windows,
        node.how,
        condition=_condition(node.condition, columns.names),
        nulls_equal=node.nulls_equal or None,
        wanted=columns.output,
    )
    return by_watermark(operator, kernel, node.time_type, zone)


def _condition(condition: Expression | None, names: Sequence[str]) -> pl.Expr | None:
    return None if condition is None else pair_condition(condition, names)


def shown(window: WindowColumn) -> pl.Expr:
    """What the query sees of a window, from its milliseconds."""
    import polars as pl

    bound = pl.col(WINDOW_START if window.says == "start" else WINDOW_END)
    if window.says != "time":
        return (bound * 1000).cast(pl.Datetime("us"))
    zone = "UTC" if isinstance(window.time, t.TimestampLtz) else None
    return ((bound - 1) * 1000).cast(pl.Datetime("us", zone))
