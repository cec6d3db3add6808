"""Aggregates and ranks of windows and groups, as DataFrames that kernels make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.catalog.tables import Changelog, UserFunction
from tidemark.functions import spark_text
from tidemark.functions.moments import micros_of_clock
from tidemark.kernels.windows.spec import (
    WINDOW_END,
    WINDOW_START,
    Call,
    CountSliding,
    Emit,
    Firing,
    Given,
)
from tidemark.plan.nodes import (
    AggregateCall,
    GroupAggregate,
    Node,
    WindowAggregate,
    WindowRank,
    delay_ms,
)
from tidemark.spark.assign_windows import shown_bounds
from tidemark.spark.by_clock import tick_of, told_end, within_reason
from tidemark.spark.frame import KIND, SEEN, Frame, names_of
from tidemark.spark.types import to_arrow, to_spark
from tidemark.spark.watermarks import input_of

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql.types import StructType

    from tidemark.kernels.aggregates.users import RowByRow, Vectorized
    from tidemark.kernels.protocol import Kernel
    from tidemark.kernels.windows.aggregate import WindowAggregate as AggregateKernel
    from tidemark.spark.builder import Builder
    from tidemark.spark.stateful.operator import StatefulInput


# --- the operators' input ----------------------------------------------------------------------


class WindowInput:
    """The rows under names of their own, which nothing that comes out can have; each with the
    watermark before it where that can be known, and with given bounds as milliseconds."""

    def __init__(
        self,
        builder: Builder,
        node: Node,
        keys: Sequence[int],
        given: tuple[int, int] | None,
        *,
        by_clock: bool = False,
        stamps: bool = True,
    ) -> None:
        self.source = input_of(builder, (node.stamped() if stamps else None) or node)
        below = self.source.frame
        if by_clock:
            below = told_end(builder, node, below)
        self.names = tuple(f"_tm_in{place}" for place in range(len(below.columns)))
        self.keys = tuple(self.names[key] for key in keys) or (_ALL,)
        self.retracts = below.changelog is not Changelog.APPEND
        self.is_stamped = below.stamped
        self.delay_ms = delay_ms(node)
        self.by_clock = by_clock
        texts = [
            f"{spark_text.name(old)} AS {new}"
            for old, new in zip(below.columns, self.names, strict=True)
        ]
        texts += [KIND] * self.retracts + [SEEN] * self.is_stamped
        # Rows without a key are all of one.
        texts += [] if keys else [f"TRUE AS {_ALL}"]
        for column, name in zip(given or (), GIVEN, strict=given is not None):
            millis = f"CAST(floor({micros_of_clock(self.names[column])} / 1000) AS BIGINT)"
            texts.append(f"{millis} AS {name}")
        self.data = below.data.selectExpr(*texts)

    def stateful(self, time: int | None) -> StatefulInput:
        from tidemark.spark.stateful.operator import StatefulInput

        column = self.names[time] if time is not None else None
        source = self.source
        return StatefulInput(self.data, self.keys, column, source.watermark, chained=source.chained)

    def wrapped(self, kernel: Kernel, time: t.DataType, zone: str) -> Kernel:
        """The kernel, told when rows are late and what the clock shows."""
        return self.told_watermarks(by_wall_clock(kernel, time, zone, by_clock=self.by_clock))

    def told_watermarks(self, kernel: Kernel) -> Kernel:
        """The kernel, told what the watermark was before each row."""
        from tidemark.kernels.held_back import held_back
        from tidemark.kernels.stamped import Stamped

        return Stamped(kernel) if self.is_stamped else held_back(kernel, self.delay_ms)


def by_wall_clock(kernel: Kernel, time: t.DataType, zone: str, *, by_clock: bool = False) -> Kernel:
    """The kernel, told what the clock shows where time is an instant, or is that clock's."""
    from tidemark.kernels.windows.wall_clock import ShownClock, WallClock

    if not isinstance(time, t.TimestampLtz) or zone.upper() in _UTC:
        return kernel
    return ShownClock(kernel, zone) if by_clock else WallClock(kernel, zone)


_ALL = "_tm_all"
GIVEN = ("_tm_given_start", "_tm_given_end")
_UTC = ("UTC", "ETC/UTC", "GMT", "Z")


# --- aggregates --------------------------------------------------------------------------------


def window_aggregate(builder: Builder, node: WindowAggregate) -> Frame:
    from tidemark.spark.stateful.packing import Combine

    input_ = WindowInput(builder, node.input, node.keys, node.given, by_clock=node.by_clock)
    kernel = _aggregate_kernel(node, input_)
    schema = _aggregate_schema(node, input_, kinds=kernel.changelog_output)
    time = node.edge.columns[len(node.keys) + 2].type
    wrapped, rows = input_.wrapped(kernel, time, builder.zone), input_.stateful(node.time)
    assert builder.state is not None
    phases = builder.state.aggregate_phases
    if wrapped is kernel and kernel.combinable and phases != "one_phase":
        kernel = wrapped = replace(kernel, combined=True)
        rows = replace(rows, combine=Combine(kernel.combine, if_fewer=phases == "auto"))
    inputs = [rows]
    data = builder.run_kernel("window-aggregate", wrapped, inputs, schema, _tick(node)).rows
    keys = input_.keys if node.keys else ()
    results = [_result_name(place) for place in range(len(node.calls))]
    nothing = "CAST(NULL AS TIMESTAMP_NTZ)"
    bounds = (
        (nothing,) * 3 if _has_no_bounds(node) else shown_bounds(WINDOW_START, WINDOW_END, time)
    )
    values = [*keys, *bounds, *results]
    names = names_of(node.edge)
    texts = [
        f"{value} AS {spark_text.name(name)}" for value, name in zip(values, names, strict=True)
    ]
    kinds = [KIND] * (node.edge.changelog is not Changelog.APPEND)
    return Frame(data.selectExpr(*texts, *kinds), names, node.edge.changelog)


def _aggregate_kernel(node: WindowAggregate, input_: WindowInput) -> AggregateKernel:
    from tidemark.kernels.windows.aggregate import WindowAggregate as Kernel

    return Kernel(
        input_.keys,
        node.assigner if node.given is None else Given(*GIVEN),
        tuple(_call(place, call, input_.names) for place, call in enumerate(node.calls)),
        emit=node.emit,
        lateness_ms=node.lateness_ms,
        processing_time=node.by_clock,
        retracts=input_.retracts,
    )


def _call(place: int, call: AggregateCall, names: Sequence[str]) -> Call:
    return Call(
        call.function,
        tuple(names[argument] for argument in call.arguments),
        _result_name(place),
        _polars_type(call.type),
        distinct=call.distinct,
        filter=None if call.filter is None else names[call.filter],
        separator=call.separator,
        implementation=None if call.user is None else _implementation(call.user),
    )


def _implementation(function: UserFunction) -> RowByRow | Vectorized:
    from tidemark.kernels.aggregates.users import RowByRow, Vectorized

    assert function.implementation is not None
    whole = Vectorized if function.vectorized else RowByRow
    return whole(function.implementation)


def _result_name(place: int) -> str:
    return f"_tm_out{place}"


def _polars_type(type_: t.DataType) -> pl.DataType:
    """What the workers hold values of a type in."""
    import polars as pl
    import pyarrow as pa

    empty = pl.from_arrow(pa.table({"v": pa.array([], to_arrow(type_))}))
    assert isinstance(empty, pl.DataFrame)
    return empty.schema["v"]


def _aggregate_schema(node: WindowAggregate, input_: WindowInput, *, kinds: bool) -> StructType:
    from pyspark.sql.types import StructField, StructType, TimestampNTZType

    results = _results_schema(node.calls, input_, kinds=kinds)
    bounds = () if _has_no_bounds(node) else (WINDOW_START, WINDOW_END)
    return StructType([*results, *(StructField(name, TimestampNTZType()) for name in bounds)])


def _results_schema(
    calls: Sequence[AggregateCall], input_: WindowInput, *, kinds: bool
) -> StructType:
    """The keys, a column for each call, and kinds if there are any."""
    from pyspark.sql.types import StringType, StructField, StructType

    keys = [input_.data.schema[name] for name in input_.keys]
    results = [
        StructField(_result_name(place), to_spark(call.type)) for place, call in enumerate(calls)
    ]
    return StructType([*keys, *results, *[StructField(KIND, StringType())] * kinds])


def _has_no_bounds(node: WindowAggregate) -> bool:
    """Windows of rows begin and end at no time."""
    return isinstance(node.assigner, CountSliding)


def _tick(node: WindowAggregate) -> int | None:
    """How often the clock must be looked at."""
    firings = [firing for firing in (node.emit.early, node.emit.late) if firing is not None]
    wanted = [firing.every_ms for firing in firings if firing.every_ms is not None]
    if node.by_clock:
        wanted.append(tick_of(node.assigner))
    return within_reason(min(wanted)) if wanted else None


# --- groups without windows --------------------------------------------------------------------

# A group that never ends is a window that does not, and tells its result at each row.
_ALWAYS = (("0L", GIVEN[0]), (f"{2**62}L", GIVEN[1]))


def group_aggregate(builder: Builder, node: GroupAggregate) -> Frame:
    from tidemark.kernels.windows.aggregate import WindowAggregate as Kernel

    assert builder.state is not None
    input_ = WindowInput(builder, node.input, node.keys, None)
    input_.data = input_.data.selectExpr("*", *(f"{value} AS {name}" for value, name in _ALWAYS))
    calls = tuple(_call(place, call, input_.names) for place, call in enumerate(node.calls))
    kernel = Kernel(
        input_.keys,
        Given(*GIVEN, endless=not node.at_end),
        calls,
        Emit() if node.at_end else Emit(early=Firing(each_row=True)),
        retracts=input_.retracts,
        idle_ms=builder.state.ttl_ms or None,
        # As in Flink; but rows of DISTINCT are told once.
        repeats=builder.state.ttl_ms > 0 and node.edge.changelog is not Changelog.APPEND,
    )
    wrapped = input_.wrapped(kernel, t.Timestamp(3), builder.zone)
    schema = _results_schema(node.calls, input_, kinds=kernel.changelog_output)
    data = builder.run_kernel("group-aggregate", wrapped, [input_.stateful(None)], schema).rows
    keys = input_.keys if node.keys else ()
    values = [*keys, *(_result_name(place) for place in range(len(node.calls)))]
    names = names_of(node.edge)
    texts = [
        f"{value} AS {spark_text.name(name)}" for value, name in zip(values, names, strict=True)
    ]
    kinds = [KIND] * (node.edge.changelog is not Changelog.APPEND)
    return Frame(data.selectExpr(*texts, *kinds), names, node.edge.changelog)


# --- ranks -------------------------------------------------------------------------------------


def window_rank(builder: Builder, node: WindowRank) -> Frame:
    from tidemark.kernels.windows.rank import Order
    from tidemark.kernels.windows.rank import WindowRank as Kernel

    input_ = WindowInput(builder, node.input, node.keys, node.bounds)
    order = [Order(input_.names[by.column], by.descending, by.nulls_last) for by in node.order]
    kernel = Kernel(
        input_.keys, *GIVEN, tuple(order), node.low, node.high, _RANK, node.newest_first
    )
    wrapped = input_.wrapped(kernel, node.time_type, builder.zone)
    schema = _rank_schema(input_)
    data = builder.run_kernel("window-rank", wrapped, [input_.stateful(None)], schema).rows
    names = names_of(node.edge)
    texts = [
        f"{old} AS {spark_text.name(new)}"
        for old, new in zip((*input_.names, _RANK), names, strict=True)
    ]
    return Frame(data.selectExpr(*texts), names, Changelog.APPEND)


_RANK = "_tm_rank"


def _rank_schema(input_: WindowInput) -> StructType:
    from pyspark.sql.types import LongType, StructField, StructType

    fields = [input_.data.schema[name] for name in input_.names]
    return StructType([*fields, StructField(_RANK, LongType())])
