"""Windows, groups and deduplication of rows, by their kernels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START, Session
from tidemark.operators import windows as kernels
from tidemark.operators.aggregate_calls import result_name
from tidemark.operators.times import (
    by_wall_clock,
    emitting_stamps,
    given_time,
    with_window_time,
)
from tidemark.plan.nodes import (
    AssignWindows,
    ChangelogNormalize,
    GroupAggregate,
    KeepFirst,
    Over,
    SinkUpsertMaterializer,
    SortByTime,
    TopN,
    WindowAggregate,
    WindowRank,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.kernels.protocol import Kernel
    from tidemark.local.builder import LocalBuilder
    from tidemark.local.inputs import OneInput
    from tidemark.local.rows import LocalRows
    from tidemark.physical import Operator


def window_aggregate(builder: LocalBuilder, operator: Operator) -> LocalRows:
    node = operator.node
    assert isinstance(node, WindowAggregate)
    input_ = _input(builder, operator, node.given)
    kernel = kernels.window_aggregate_kernel(
        node, input_.keys, input_.names, retracts=input_.retracts
    )
    time = operator.edge.columns[len(node.keys) + 2].type
    shown = by_wall_clock(kernel, time, builder.zone, processing_time=node.processing_time)
    if shown is kernel and kernel.combinable and not input_.stamped and not operator.held_back_ms:
        shown = replace(kernel, counted=True)
    timed = with_window_time(_timed(operator, input_, shown), time, builder.zone)
    results = [result_name(place) for place in range(len(node.calls))]
    return _run(builder, operator, timed, input_, [*input_.key_columns, *_bounds(), *results])


def group_aggregate(builder: LocalBuilder, operator: Operator) -> LocalRows:
    node = operator.node
    assert isinstance(node, GroupAggregate)
    input_ = _input(builder, operator, constant=kernels.ALWAYS)
    kernel = kernels.group_aggregate_kernel(
        node, operator.edge, input_.keys, input_.names, builder.ttl_ms, retracts=input_.retracts
    )
    runs = _timed(operator, input_, by_wall_clock(kernel, t.Timestamp(3), builder.zone))
    results = [result_name(place) for place in range(len(node.calls))]
    return _run(builder, operator, runs, input_, [*input_.key_columns, *results])


def window_rank(builder: LocalBuilder, operator: Operator) -> LocalRows:
    node = operator.node
    assert isinstance(node, WindowRank)
    input_ = _input(builder, operator, node.bounds)
    kernel = kernels.window_rank_kernel(node, input_.keys, input_.names)
    runs = _timed(operator, input_, by_wall_clock(kernel, node.time_type, builder.zone))
    return _run(builder, operator, runs, input_, [*input_.names, kernels.RANK])


def top_n(builder: LocalBuilder, operator: Operator) -> LocalRows:
    node = operator.node
    assert isinstance(node, TopN)
    input_ = _input(builder, operator, constant=kernels.ALWAYS if node.at_end else None)
    kernel = kernels.top_n_kernel(node, input_.keys, input_.names, builder.ttl_ms)
    output = [*input_.names, *[kernels.RANK] * node.ranked]
    return _run(builder, operator, _timed(operator, input_, kernel), input_, output)


def sort_by_time(builder: LocalBuilder, operator: Operator) -> LocalRows:
    node = operator.node
    assert isinstance(node, SortByTime)
    input_ = _input(builder, operator)
    kernel = _timed(operator, input_, kernels.sort_by_time_kernel(node, input_.names))
    return _run(builder, operator, kernel, input_, input_.names)


def session_window(builder: LocalBuilder, operator: Operator) -> LocalRows:
    """Each row when its session is over, with the session's columns."""
    from tidemark.kernels.windows.session_rows import SessionRows

    node = operator.node
    assert isinstance(node, AssignWindows) and isinstance(node.assigner, Session)
    input_ = _input(builder, operator)
    time = operator.edge.columns[-1].type
    kernel = SessionRows(input_.keys, node.assigner.gap, processing_time=node.processing_time)
    shown = by_wall_clock(kernel, time, builder.zone, processing_time=node.processing_time)
    timed = with_window_time(_timed(operator, input_, shown), time, builder.zone)
    return _run(builder, operator, timed, input_, [*input_.names, *_bounds()])


def keep_first(builder: LocalBuilder, operator: Operator) -> LocalRows:
    from tidemark.kernels.keep_first import KeepFirstKernel

    node = operator.node
    assert isinstance(node, KeepFirst)
    input_ = _input(builder, operator)
    kernel = KeepFirstKernel(
        input_.keys, processing_time=node.processing_time, ttl=builder.ttl_ms or None
    )
    return _run(builder, operator, _timed(operator, input_, kernel), input_, input_.names)


def keep_last(builder: LocalBuilder, operator: Operator) -> LocalRows:
    from tidemark.operators.joins import output_of

    input_ = _input(builder, operator)
    kernel = _timed(
        operator, input_, kernels.keep_last_kernel(operator, input_.keys, builder.ttl_ms)
    )
    return _run(builder, operator, kernel, input_, output_of(operator, input_.names))


def changelog_normalize(builder: LocalBuilder, operator: Operator) -> LocalRows:
    node = operator.node
    assert isinstance(node, ChangelogNormalize)
    input_ = _input(builder, operator)
    kernel = kernels.normalize_kernel(node, input_.keys, input_.names, builder.ttl_ms)
    output = [input_.names[place] for place in node.given]
    return _run(builder, operator, _timed(operator, input_, kernel), input_, output)


def sink_upsert_materializer(builder: LocalBuilder, operator: Operator) -> LocalRows:
    assert isinstance(operator.node, SinkUpsertMaterializer)
    input_ = _input(builder, operator)
    kernel = kernels.materialize_kernel(operator.node, input_.keys, builder.ttl_ms)
    return _run(builder, operator, _timed(operator, input_, kernel), input_, list(input_.names))


def over(builder: LocalBuilder, operator: Operator) -> LocalRows:
    from tidemark.operators.over import over_kernel

    node = operator.node
    assert isinstance(node, Over)
    input_ = _input(builder, operator)
    kernel = over_kernel(node, input_.keys, input_.names, builder.ttl_ms, retracts=input_.retracts)
    results = [result_name(place) for place in range(len(node.functions))]
    runs = _timed(operator, input_, kernel)
    return _run(builder, operator, runs, input_, [*input_.names, *results])


def _input(
    builder: LocalBuilder,
    operator: Operator,
    given: tuple[int, int] | None = None,
    constant: tuple[int, int] | None = None,
) -> OneInput:
    from tidemark.local.inputs import OneInput

    return OneInput.of(builder, operator, given, constant)


def _timed(operator: Operator, input_: OneInput, kernel: Kernel) -> Kernel:
    emitting = emitting_stamps(kernel, operator)
    return given_time(emitting, operator, stamped=input_.stamped)


def _bounds() -> tuple[str, str, str]:
    """The columns of a window's start, end and time."""
    from tidemark.kernels.windows.window_time import WINDOW_TIME

    return WINDOW_START, WINDOW_END, WINDOW_TIME


def _run(
    builder: LocalBuilder,
    operator: Operator,
    kernel: Kernel,
    input_: OneInput,
    output: Sequence[str],
) -> LocalRows:
    from tidemark.local.kernels import run_kernel

    kinds = operator.edge.changelog is not Changelog.APPEND
    return run_kernel(builder, operator, kernel, [input_.rows], output, kinds=kinds)
