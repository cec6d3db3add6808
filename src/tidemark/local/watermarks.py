"""Event times: rows without one are faulty, and rows may need the watermark before them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.functions.spark_text import safe_names
from tidemark.kernels.columns import BEFORE_ALL, KIND, PLACE, SEEN
from tidemark.local.faults import without_time
from tidemark.local.rows import LocalRows
from tidemark.plan.nodes import CurrentWatermark

if TYPE_CHECKING:
    import polars as pl

    from tidemark.columns import Program
    from tidemark.local.builder import LocalBuilder
    from tidemark.physical import Compute, WatermarkStage
    from tidemark.runtime.source_report import SourceReport


def watermark(builder: LocalBuilder, stage: WatermarkStage) -> LocalRows:
    node, below = stage.node, builder.build(stage.inputs[0])
    time = below.columns[node.edge.names.index(node.column)]

    shown = [below.columns[place] for place in node.read]

    if node.checks:
        rows = without_time(below, time, node.column, shown)
    else:
        rows = below.each(lambda frame: frame.drop(PLACE, strict=False), placed=False)
    if node.drops_untimed:
        rows = rows.each(
            lambda frame: frame.filter(frame[time].is_not_null() | (frame[KIND] != "-D"))
        )
    rows = replace(rows, columns=safe_names(node.edge.names))
    if not stage.stamps and not builder.follows:
        return rows
    program = builder.program([node.expression], below, node)
    if builder.follows:
        unfollowed = rows.frames
        rows = replace(rows, frames=lambda: _followed(unfollowed(), program, builder.report))
    if not stage.stamps:
        return rows
    return replace(rows, frames=lambda: _stamped(rows.frames(), program), stamped=True)


def current_watermark(builder: LocalBuilder, stage: Compute) -> LocalRows:
    """The rows, with the watermark before each of them; all are of one micro-batch."""
    node, below = stage.node, builder.build(stage.inputs[0])
    assert isinstance(node, CurrentWatermark)
    names, type_ = safe_names(node.edge.names), node.edge.types[-1]
    program = builder.program([node.expression], below, node)

    def met(frame: pl.DataFrame) -> pl.DataFrame:
        import polars as pl

        known = pl.when(pl.col(SEEN) != BEFORE_ALL).then(pl.col(SEEN) * 1000)
        zone = "UTC" if isinstance(type_, t.TimestampLtz) else None
        columns = [pl.col(old).alias(new) for old, new in zip(below.columns, names, strict=False)]
        time = known.cast(pl.Datetime("us", zone)).alias(names[-1])
        return frame.select(*columns, time, *below.extra)

    def frames() -> Iterator[pl.DataFrame]:
        import polars as pl

        if node.is_ordered:
            return map(met, _stamped(below.frames(), program))
        never = pl.lit(BEFORE_ALL, pl.Int64).alias(SEEN)
        return (met(frame.with_columns(never)) for frame in below.frames())

    return replace(below, frames=frames, columns=names)


def _stamped(frames: Iterator[pl.DataFrame], program: Program) -> Iterator[pl.DataFrame]:
    """The rows of one source, in order, each with the largest watermark of those before it."""
    import polars as pl

    so_far = BEFORE_ALL
    for frame in frames:
        marks = _marks(frame, program)
        running = pl.concat([pl.Series([so_far], dtype=pl.Int64), marks]).cum_max()
        so_far = int(running[-1])
        yield frame.with_columns(running[:-1].alias(SEEN))


def _followed(
    frames: Iterator[pl.DataFrame], program: Program, report: SourceReport
) -> Iterator[pl.DataFrame]:
    """The rows, whose watermark is reported when they have passed."""
    for frame in frames:
        yield frame
        if (mark := _marks(frame, program).max()) is not None:
            assert isinstance(mark, int)
            report.advance(mark)


def _marks(frame: pl.DataFrame, program: Program) -> pl.Series:
    """The watermark of each row. As in Flink, there is none at or before the start of 1970."""
    import polars as pl

    from tidemark.runtime.times import milliseconds

    own = milliseconds(program.over(frame, ["own"])["own"]).fill_null(0)
    marks = pl.select(pl.when(own > 0).then(own).otherwise(pl.lit(BEFORE_ALL))).to_series()
    return marks.cast(pl.Int64)
