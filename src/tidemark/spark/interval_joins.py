"""Interval joins as DataFrames: conditions between two rows in Polars, the rest as everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from tidemark.catalog.tables import Changelog
from tidemark.functions import spark_text
from tidemark.plan.expressions import Call, Case, Cast, Expression, Literal, Ref, references
from tidemark.plan.nodes import IntervalJoin, RegularJoin, WindowJoin, delay_ms
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.remembering import named, row_schema
from tidemark.spark.types import to_arrow
from tidemark.spark.watermarks import input_of

if TYPE_CHECKING:
    import polars as pl

    from tidemark.kernels.protocol import Kernel
    from tidemark.spark.builder import Builder


def interval_join(builder: Builder, node: IntervalJoin) -> Frame:
    from tidemark.kernels.held_back import held_back
    from tidemark.spark.stateful.operator import StatefulInput

    names = spark_text.safe_names((*node.left.edge.names, *node.right.edge.names))
    width = len(node.left.edge.columns)
    sources = [input_of(builder, node.left), input_of(builder, node.right)]
    sides = [
        named(source.frame, called)
        for source, called in zip(sources, (names[:width], names[width:]), strict=True)
    ]
    keys = [
        tuple(side.columns[index] for index in indices)
        for side, indices in zip(sides, (node.left_keys, node.right_keys), strict=True)
    ]
    frames = [side.data for side in sides]
    if not node.left_keys:
        # Rows without a key are all of one.
        keys = [("_tm_all_left",), ("_tm_all_right",)]
        frames = [f.selectExpr("*", f"TRUE AS {k}") for f, (k,) in zip(frames, keys, strict=True)]
    output = output_of(node, names, width)
    kernel = _kernel(node, keys[0], keys[1], names, output)
    times = (sides[0].columns[node.left_time], sides[1].columns[node.right_time])
    shown = _shown(node, names)
    inputs = [
        StatefulInput(
            frame,
            key,
            None if node.by_clock else time,
            source.watermark,
            chained=source.chained,
            shows_time=time in shown,
        )
        for frame, key, time, source in zip(frames, keys, times, sources, strict=True)
    ]
    schema = row_schema([side.data for side in sides], kinds=False, only=output)
    behind = max(delay_ms(node.left), delay_ms(node.right))
    runs = held_back(kernel, behind)
    tick = _TICK_MS if node.by_clock and node.how != "inner" else None
    packed = builder.run_kernel("interval-join", runs, inputs, schema, tick)
    return Frame.of(packed, names_of(node.edge), Changelog.APPEND)


def _kernel(
    node: IntervalJoin,
    left: tuple[str, ...],
    right: tuple[str, ...],
    names: Sequence[str],
    output: tuple[str, ...],
) -> Kernel:
    from tidemark.kernels.interval_join import IntervalJoin as SqlForm
    from tidemark.kernels.interval_join_stream import StreamIntervalJoin

    if node.drops_late:
        return StreamIntervalJoin(left, right, node.lower_ms, node.upper_ms)
    return SqlForm(
        left,
        right,
        lower=node.lower_ms,
        upper=node.upper_ms,
        how=node.how,
        condition=None if node.condition is None else polars(node.condition, names),
        nulls_equal=node.nulls_equal or None,
        time="processing" if node.by_clock else "event",
        slack=node.slack_ms,
        wanted=output,
    )


# How often rows that wait by the clock are looked at.
_TICK_MS = 1000


def _shown(node: IntervalJoin, names: tuple[str, ...]) -> set[str]:
    """The columns that somebody may see: a partner, a reader, whoever looks for late rows."""
    if node.drops_late or node.output is None:
        return set(names)
    width = len(node.left.edge.columns)
    keys = (*node.left_keys, *(width + key for key in node.right_keys))
    tested = () if node.condition is None else references(node.condition)
    return {names[index] for index in (*node.output, *keys, *tested)}


def output_of(
    node: IntervalJoin | RegularJoin | WindowJoin, names: tuple[str, ...], width: int
) -> tuple[str, ...]:
    """The columns that a join gives out."""
    if node.output is not None:
        return tuple(names[index] for index in node.output)
    return names[:width] if node.how in ("semi", "anti") else names


# --- conditions between two rows ---------------------------------------------------------------


def polars(expression: Expression, names: Sequence[str]) -> pl.Expr:
    """A condition that `plan.pair_conditions` has prepared, over columns of these names."""
    import polars as pl

    match expression:
        case Ref(index=index):
            return pl.col(names[index])
        case Literal(value=value):
            return pl.lit(value)
        case Cast(operand=operand, type=type_):
            return polars(operand, names).cast(_polars_type(to_arrow(type_)))
        case Case(branches=branches, default=default):
            written = polars(default, names)
            for condition, value in reversed(branches):
                test = polars(condition, names).fill_null(False)
                written = pl.when(test).then(polars(value, names)).otherwise(written)
            return written
        case Call(function=function, args=args):
            return _OPERATIONS[function.name](*(polars(arg, names) for arg in args))
    raise AssertionError(expression)


def _polars_type(arrow: Any) -> Any:
    import polars as pl
    import pyarrow as pa

    made = pl.from_arrow(pa.array([], arrow))
    assert isinstance(made, pl.Series)
    return made.dtype


_OPERATIONS: dict[str, Callable[..., pl.Expr]] = {
    "AND": lambda *args: reduce(lambda a, b: a & b, args),
    "OR": lambda *args: reduce(lambda a, b: a | b, args),
    "NOT": lambda a: ~a,
    "IS NULL": lambda a: a.is_null(),
    "IS UNKNOWN": lambda a: a.is_null(),
    "IS TRUE": lambda a: a.fill_null(False),
    "IS FALSE": lambda a: (~a).fill_null(False),
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "BETWEEN": lambda a, low, high: (a >= low) & (a <= high),
    "IS DISTINCT FROM": lambda a, b: a.ne_missing(b),
    "IS NOT DISTINCT FROM": lambda a, b: a.eq_missing(b),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "NEG": lambda a: -a,
    "ABS": lambda a: a.abs(),
}
