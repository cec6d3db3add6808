"""Windows as DataFrames: rows put into them by Spark, and their aggregates by a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.errors import NotSupported
from tidemark.functions import spark_text
from tidemark.functions.moments import micros_of_clock, session_clock
from tidemark.kernels.windows.spec import (
    WINDOW_END,
    WINDOW_START,
    Assigner,
    Call,
    Cumulating,
    Given,
    Session,
    Sliding,
)
from tidemark.plan.arrivals import stamped
from tidemark.plan.nodes import AggregateCall, AssignWindows, Edge, WindowAggregate, is_stateful
from tidemark.spark.frame import KIND, SEEN, Frame, names_of
from tidemark.spark.types import to_arrow, to_spark

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql.types import StructField, StructType

    from tidemark.kernels.protocol import Kernel
    from tidemark.spark.builder import Builder

_EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"


# --- rows put into windows ---------------------------------------------------------------------


def assign_windows(builder: Builder, node: AssignWindows) -> Frame:
    """Each row once per window, with the window's columns."""
    below = builder.build(node.input)
    names = names_of(node.edge)
    width = len(below.columns)
    time = spark_text.name(below.columns[node.time])
    clock = session_clock(time, node.input.edge.columns[node.time].type)
    moment = f"CAST(floor({micros_of_clock(clock)} / 1000) AS BIGINT)"
    windows = _windows(node.assigner, "_tm_moment")
    timed = below.data.selectExpr(*below.kept, f"{moment} AS _tm_moment")
    opened = timed.selectExpr(*below.kept, f"explode({windows}) AS _tm_window")
    bounds = _bounds("_tm_window.start", "_tm_window.end", node.edge.columns[-1].type)
    texts = [
        f"{spark_text.name(old)} AS {spark_text.name(new)}"
        for old, new in zip(below.columns, names, strict=False)
    ]
    texts += [
        f"{text} AS {spark_text.name(name)}"
        for text, name in zip(bounds, names[width:], strict=True)
    ]
    data = opened.selectExpr(*texts, *below.extra)
    return replace(below, data=data, columns=names)


def _windows(assigner: Assigner, moment: str) -> str:
    """An array of the windows that a moment is in, as milliseconds on the clock."""
    match assigner:
        case Sliding(size, slide, offset):
            last = f"({moment} - pmod({moment} - {offset}L, {slide}L))"
            count = -(-size // slide)
            starts = f"transform(sequence(0L, {count - 1}L), n -> {last} - n * {slide}L)"
            return (
                f"transform(filter({starts}, s -> s + {size}L > {moment}), "
                f"s -> named_struct('start', s, 'end', s + {size}L))"
            )
        case Cumulating(size, step, offset):
            start = f"({moment} - pmod({moment} - {offset}L, {size}L))"
            first = f"CAST(floor(({moment} - {start}) / {step}) AS BIGINT)"
            steps = f"sequence({first} + 1L, {size // step}L)"
            return (
                f"transform({steps}, n -> named_struct('start', {start}, "
                f"'end', {start} + n * {step}L))"
            )
    raise NotSupported(
        "SESSION without an aggregation of its windows cannot be run yet",
        notes={"why": "a session is known when it has ended"},
        hint="group by window_start, window_end and the columns of PARTITION BY",
    )


def _bounds(start: str, end: str, time: t.DataType) -> tuple[str, str, str]:
    """The window's start, end and time from its milliseconds."""
    last = _clock(f"{end} - 1L")
    zoned = isinstance(time, t.TimestampLtz)
    return _clock(start), _clock(end), f"CAST({last} AS TIMESTAMP)" if zoned else last


def _clock(milliseconds: str) -> str:
    return f"timestampadd(MICROSECOND, ({milliseconds}) * 1000L, {_EPOCH})"


# --- aggregates --------------------------------------------------------------------------------


def window_aggregate(builder: Builder, node: WindowAggregate) -> Frame:
    from tidemark.spark.stateful.operator import StatefulInput

    by_row = stamped(node.input)
    below = builder.build(node.input if by_row is None or node.by_clock else by_row)
    inputs = _Inputs(node, below)
    kernel: Any = inputs.kernel(builder.zone)
    kinds = bool(kernel.changelog_output)
    rows = StatefulInput(
        inputs.data,
        inputs.keys,
        inputs.names[node.time] if node.time is not None else None,
        chained=is_stateful(node.input),
    )
    runs = _wrapped(kernel, node, below, builder.zone)
    schema = inputs.schema(kinds)
    tick = _tick(node)
    data = builder.run_kernel("window-aggregate", runs, [rows], schema, tick)
    return _results(data, node, inputs)


class _Inputs:
    """The operator's input under names of its own, which nothing that comes out can have."""

    def __init__(self, node: WindowAggregate, below: Frame) -> None:
        self.node = node
        self.edge: Edge = node.input.edge
        self.names = tuple(f"_tm_in{place}" for place in range(len(below.columns)))
        texts = [
            f"{spark_text.name(old)} AS {new}"
            for old, new in zip(below.columns, self.names, strict=True)
        ]
        texts += [KIND] * (below.changelog is not Changelog.APPEND) + [SEEN] * below.stamped
        # Rows without a key are all of one.
        self.keys = tuple(self.names[key] for key in node.keys) or ("_tm_all",)
        texts += [] if node.keys else ["TRUE AS _tm_all"]
        texts += self._given()
        self.data = below.data.selectExpr(*texts)
        self.retracts = below.changelog is not Changelog.APPEND

    def _given(self) -> list[str]:
        if self.node.given is None:
            return []
        return [
            f"CAST(floor({micros_of_clock(self.names[column])} / 1000) AS BIGINT) AS {name}"
            for column, name in zip(self.node.given, _GIVEN, strict=True)
        ]

    def kernel(self, zone: str) -> Kernel:
        from tidemark.kernels.windows.aggregate import WindowAggregate as Kernel

        node = self.node
        calls = [self._call(place, call) for place, call in enumerate(node.calls)]
        return Kernel(
            self.keys,
            node.assigner if node.given is None else Given(*_GIVEN),
            tuple(calls),
            emit=node.emit,
            lateness_ms=node.lateness_ms,
            processing_time=node.by_clock,
            retracts=self.retracts,
        )

    def _call(self, place: int, call: AggregateCall) -> Call:
        return Call(
            call.function,
            tuple(self.names[argument] for argument in call.arguments),
            _result_name(place),
            _polars_type(call.type),
            distinct=call.distinct,
            filter=None if call.filter is None else self.names[call.filter],
            separator=call.separator,
        )

    def schema(self, kinds: bool) -> StructType:
        from pyspark.sql.types import LongType, StringType, StructField, StructType

        fields: list[StructField] = [self.data.schema[name] for name in self.keys]
        for place, call in enumerate(self.node.calls):
            fields.append(StructField(_result_name(place), to_spark(call.type)))
        fields += [StructField(name, LongType()) for name in (WINDOW_START, WINDOW_END)]
        fields += [StructField(KIND, StringType())] * kinds
        return StructType(fields)


_GIVEN = ("_tm_given_start", "_tm_given_end")


def _result_name(place: int) -> str:
    return f"_tm_out{place}"


def _polars_type(type_: t.DataType) -> pl.DataType:
    """What the workers hold values of a type in."""
    import polars as pl
    import pyarrow as pa

    empty = pl.from_arrow(pa.table({"v": pa.array([], to_arrow(type_))}))
    assert isinstance(empty, pl.DataFrame)
    return empty.schema["v"]


def _wrapped(kernel: Kernel, node: WindowAggregate, below: Frame, zone: str) -> Kernel:
    """The kernel, told when rows are late and what the clock shows."""
    from tidemark.kernels.stamped import Stamped
    from tidemark.kernels.windows.wall_clock import WallClock

    time = node.edge.columns[len(node.keys) + 2].type
    if isinstance(time, t.TimestampLtz) and zone.upper() not in _UTC:
        kernel = WallClock(kernel, zone)
    return Stamped(kernel) if below.stamped else kernel


_UTC = ("UTC", "ETC/UTC", "GMT", "Z")


def _tick(node: WindowAggregate) -> int | None:
    """How often the clock must be looked at."""
    periods = [f.every_ms for f in (node.emit.early, node.emit.late) if f is not None]
    wanted = [ms for ms in periods if ms is not None]
    if node.by_clock:
        wanted.append(_shortest(node.assigner))
    return min(max(min(wanted), 100), 1000) if wanted else None


def _shortest(assigner: Assigner) -> int:
    match assigner:
        case Sliding(slide=slide):
            return slide
        case Cumulating(step=step):
            return step
        case Session(gap=gap):
            return gap
    return 1000


def _results(data: Any, node: WindowAggregate, inputs: _Inputs) -> Frame:
    names = names_of(node.edge)
    start, end, time = _bounds(WINDOW_START, WINDOW_END, node.edge.columns[len(node.keys) + 2].type)
    keys: Sequence[str] = inputs.keys if node.keys else ()
    values = [*keys, start, end, time, *(_result_name(place) for place in range(len(node.calls)))]
    texts = [
        f"{value} AS {spark_text.name(name)}" for value, name in zip(values, names, strict=True)
    ]
    kinds = [KIND] * (node.edge.changelog is not Changelog.APPEND)
    return Frame(data.selectExpr(*texts, *kinds), names, node.edge.changelog)
