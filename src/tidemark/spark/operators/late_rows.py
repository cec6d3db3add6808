"""The rows that operators drop, with a kernel that drops the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.functions import spark_text
from tidemark.kernels.windows.spec import AggregateSpec, Given, Session
from tidemark.operators.times import GIVEN, by_wall_clock
from tidemark.plan.nodes import LateRows
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.inputs import GivenRows, build_input, named, stateful_input
from tidemark.spark.late_outputs import moment
from tidemark.spark.windowed import WindowInput, called

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql.types import StructType

    from tidemark.kernels.protocol import Kernel
    from tidemark.physical import Input, Operator
    from tidemark.spark.builder import Builder
    from tidemark.spark.stateful.operator import StatefulInput


def late_rows(builder: Builder, operator: Operator) -> Frame:
    from tidemark.kernels.held_back import held_back
    from tidemark.kernels.late_rows import LATE_TIME, LATE_WATERMARK, LateRowsKernel

    node = operator.node
    assert isinstance(node, LateRows)
    input_ = WindowInput.of(builder, operator, node.given)
    time = operator.inputs[0].stage.edge.columns[node.time].type
    others = operator.inputs[1:]
    if node.shares_sessions:
        beside = [_rest_of_sessions(builder, other) for other in others]
    else:
        beside = [_watermark_of(builder, n, other, input_) for n, other in enumerate(others)]
    kernel = LateRowsKernel(_drops(node, input_, beside, time, builder.zone))
    # An operator with other inputs knows the watermark of its batch, not that before each row.
    runs = held_back(kernel, operator.held_back_ms) if beside else input_.given_time(kernel)
    kept = [input_.names[place] for place in node.kept]
    inputs = [input_.rows, *beside]
    data = builder.run_kernel(operator, runs, inputs, _schema(input_, kept)).rows
    values = [
        *kept,
        spark_text.string(node.operator),
        moment(LATE_TIME, time),
        moment(LATE_WATERMARK, time),
        f"{LATE_WATERMARK} - {LATE_TIME}",
        *_kinds(input_),
    ]
    projections = called(values, operator.edge)
    return Frame(data.selectExpr(*projections), names_of(operator.edge), Changelog.APPEND)


def _watermark_of(builder: Builder, number: int, other: Input, rows: WindowInput) -> StatefulInput:
    """An input that advances the watermark, and has no rows for the operator."""
    from tidemark.runtime.combining import Combine

    frame, time = build_input(builder, other), f"_tm_beside{number}"
    [column] = frame.columns
    keys = {f"{time}_{n}": f.dataType for n, f in enumerate(rows.fields(rows.keys))}
    nulls = [f"CAST(NULL AS {type_.simpleString()}) AS {key}" for key, type_ in keys.items()]
    data = frame.data.selectExpr(f"{spark_text.name(column)} AS {time}", *nulls)
    given = GivenRows(data, data.schema)
    moves = stateful_input(builder, other, frame, given, tuple(keys), time)
    return replace(moves, combine=Combine(_none_of))


def _rest_of_sessions(builder: Builder, other: Input) -> StatefulInput:
    """The keys and times of rows that share sessions with others."""
    frame = build_input(builder, other)
    frame = named(frame, tuple(f"_tm_with{n}" for n in range(len(frame.columns))))
    *keys, time = frame.columns
    given = GivenRows(frame.rows, frame.schema)
    return stateful_input(builder, other, frame, given, tuple(keys), time)


def _none_of(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.clear()


def _drops(
    node: LateRows,
    input_: WindowInput,
    beside: Sequence[StatefulInput],
    time: t.DataType,
    zone: str,
) -> Kernel:
    """A kernel that drops the same rows as the operator, with as little state as possible."""
    import polars as pl

    from tidemark.kernels.co_group.kernel import CoGroupKernel
    from tidemark.kernels.co_group.sessions import SharedSessions
    from tidemark.kernels.late_rows import DropLateRows
    from tidemark.kernels.windows.aggregate import WindowAggregateKernel
    from tidemark.kernels.windows.spec import Cumulating, Sliding

    if node.given is not None:
        return by_wall_clock(DropLateRows(Given(*GIVEN), node.lateness_ms), time, zone)
    match node.assigner:
        case None:
            return DropLateRows(None, node.lateness_ms)
        case Session(gap) if node.shares_sessions:
            shared = SharedSessions(input_.keys, beside[0].keys, gap)
            return by_wall_clock(CoGroupKernel(shared, _nothing), time, zone)
        case Session():
            count = AggregateSpec("COUNT", (), "_tm_rows", pl.Int64())
            sessions = WindowAggregateKernel(
                input_.keys, node.assigner, (count,), retracts=input_.retracts
            )
            return by_wall_clock(sessions, time, zone)
        case Sliding() | Cumulating():
            return by_wall_clock(DropLateRows(node.assigner, node.lateness_ms), time, zone)
    raise AssertionError(f"rows are never late for {node.assigner}")


def _nothing(rows: pl.DataFrame, _: pl.DataFrame) -> pl.DataFrame:
    return rows.clear()


def _kinds(input_: WindowInput) -> list[str]:
    from tidemark.kernels.late_rows import LATE_KIND

    return [LATE_KIND] * input_.retracts


def _schema(input_: WindowInput, kept: list[str]) -> StructType:
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    from tidemark.kernels.late_rows import LATE_TIME, LATE_WATERMARK

    late_fields = [StructField(name, LongType()) for name in (LATE_TIME, LATE_WATERMARK)]
    kinds = [StructField(name, StringType()) for name in _kinds(input_)]
    return StructType([*input_.fields(kept), *late_fields, *kinds])
