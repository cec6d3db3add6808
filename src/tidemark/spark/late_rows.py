"""The rows that operators drop, as DataFrames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.functions import spark_text
from tidemark.kernels.windows.spec import Call, Given, Session
from tidemark.plan.nodes import LateRows, Node
from tidemark.spark.assign_windows import clock
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.remembering import named
from tidemark.spark.watermarks import input_of
from tidemark.spark.windows import GIVEN, WindowInput, by_wall_clock

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql.types import StructType

    from tidemark.kernels.protocol import Kernel
    from tidemark.spark.builder import Builder
    from tidemark.spark.stateful.operator import StatefulInput


def late_rows(builder: Builder, node: LateRows) -> Frame:
    from tidemark.kernels.held_back import held_back
    from tidemark.kernels.late_rows import LATE_TIME, LATE_WATERMARK
    from tidemark.kernels.late_rows import LateRows as Kernel

    # Where lateness does not depend on the key, rows may be anywhere.
    keys = node.keys if isinstance(node.assigner, Session) else (node.time,)
    # An operator with other inputs knows the watermark of its batch, not that before each row.
    input_ = WindowInput(builder, node.input, keys, node.given, stamps=not node.beside)
    time = node.input.edge.columns[node.time].type
    rows = input_.stateful(node.time)
    if node.shares_sessions:
        beside = [_rest_of_sessions(builder, node.beside[0])]
    else:
        beside = [_watermark_of(builder, n, other, rows) for n, other in enumerate(node.beside)]
    tells = Kernel(_drops(node, input_, beside, time, builder.zone))
    kernel = held_back(tells, node.held_back_ms) if node.beside else input_.told_watermarks(tells)
    kept = [input_.names[place] for place in node.kept]
    data = builder.run_kernel("late-rows", kernel, [rows, *beside], _schema(input_, kept)).rows
    values = [
        *kept,
        spark_text.string(node.operator),
        _moment(LATE_TIME, time),
        _moment(LATE_WATERMARK, time),
        f"{LATE_WATERMARK} - {LATE_TIME}",
        *_kinds(input_),
    ]
    names = names_of(node.edge)
    texts = [
        f"{value} AS {spark_text.name(name)}" for value, name in zip(values, names, strict=True)
    ]
    return Frame(data.selectExpr(*texts), names, Changelog.APPEND)


def _watermark_of(builder: Builder, number: int, node: Node, rows: StatefulInput) -> StatefulInput:
    """An input that moves the watermark, and gives the operator no rows."""
    from tidemark.spark.stateful.operator import StatefulInput
    from tidemark.spark.stateful.packing import Combine

    source, time = input_of(builder, node), f"_tm_beside{number}"
    [column] = source.frame.columns
    fields = [rows.frame.schema[key] for key in rows.keys]
    keys = {f"{time}_{place}": field.dataType for place, field in enumerate(fields)}
    nulls = [f"CAST(NULL AS {type_.simpleString()}) AS {key}" for key, type_ in keys.items()]
    frame = source.frame.data.selectExpr(f"{spark_text.name(column)} AS {time}", *nulls)
    return StatefulInput(frame, tuple(keys), time, source.watermark, combine=Combine(_none_of))


def _rest_of_sessions(builder: Builder, node: Node) -> StatefulInput:
    """The keys and the time of rows with which others share their sessions."""
    from tidemark.spark.stateful.operator import StatefulInput

    source = input_of(builder, node)
    frame = named(source.frame, tuple(f"_tm_with{n}" for n in range(len(source.frame.columns))))
    *keys, time = frame.columns
    return StatefulInput(frame.data, tuple(keys), time, source.watermark, chained=source.chained)


def _none_of(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.clear()


def _drops(
    node: LateRows,
    input_: WindowInput,
    beside: Sequence[StatefulInput],
    time: t.DataType,
    zone: str,
) -> Kernel:
    """What drops the rows that the operator drops, with as little to remember as can be."""
    import polars as pl

    from tidemark.kernels.co_group import CoGroup
    from tidemark.kernels.co_group_sessions import SharedSessions
    from tidemark.kernels.late_rows import Punctual
    from tidemark.kernels.windows.aggregate import WindowAggregate
    from tidemark.kernels.windows.spec import Cumulating, Sliding

    if node.given is not None:
        return by_wall_clock(Punctual(Given(*GIVEN), node.lateness_ms), time, zone)
    match node.assigner:
        case None:
            return Punctual(None, node.lateness_ms)
        case Session(gap) if node.shares_sessions:
            shared = SharedSessions(input_.keys, beside[0].keys, gap)
            return by_wall_clock(CoGroup(shared, _nothing), time, zone)
        case Session():
            count = Call("COUNT", (), "_tm_rows", pl.Int64())
            sessions = WindowAggregate(
                input_.keys, node.assigner, (count,), retracts=input_.retracts
            )
            return by_wall_clock(sessions, time, zone)
        case Sliding() | Cumulating():
            return by_wall_clock(Punctual(node.assigner, node.lateness_ms), time, zone)
    raise AssertionError(f"rows are never late for {node.assigner}")


def _nothing(rows: pl.DataFrame, _: pl.DataFrame) -> pl.DataFrame:
    return rows.clear()


def _moment(milliseconds: str, time: t.DataType) -> str:
    zoned = isinstance(time, t.TimestampLtz)
    return f"timestamp_millis({milliseconds})" if zoned else clock(milliseconds)


def _kinds(input_: WindowInput) -> list[str]:
    from tidemark.kernels.late_rows import LATE_KIND

    return [LATE_KIND] * input_.retracts


def _schema(input_: WindowInput, kept: list[str]) -> StructType:
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    from tidemark.kernels.late_rows import LATE_TIME, LATE_WATERMARK

    fields = [input_.data.schema[name] for name in kept]
    said = [StructField(name, LongType()) for name in (LATE_TIME, LATE_WATERMARK)]
    kinds = [StructField(name, StringType()) for name in _kinds(input_)]
    return StructType([*fields, *said, *kinds])
