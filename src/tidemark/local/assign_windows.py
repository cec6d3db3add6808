"""LocalRows put into windows: each once per window, with the window's columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark import types as t
from tidemark.functions.moments import is_utc
from tidemark.functions.spark_text import safe_names
from tidemark.kernels.windows.spec import Assigner, Cumulating, Sliding
from tidemark.local.rows import LocalRows
from tidemark.plan.nodes import AssignWindows

if TYPE_CHECKING:
    import polars as pl

    from tidemark.local.builder import LocalBuilder
    from tidemark.physical import Compute

_MOMENT: Final = "_tm_moment"
_NUMBER: Final = "_tm_number"
_START: Final = "_tm_start"
_END: Final = "_tm_end"


def assign_windows(builder: LocalBuilder, stage: Compute) -> LocalRows:
    node, below = stage.node, builder.build(stage.inputs[0])
    assert isinstance(node, AssignWindows)
    names, width = safe_names(node.edge.names), len(below.columns)
    time, type_ = below.columns[node.time], node.edge.columns[-1].type

    def assigned(frame: pl.DataFrame) -> pl.DataFrame:
        import polars as pl

        placed = _placed(
            frame.with_columns(_moment(frame[time], builder.zone)), node.assigner, node.last_only
        )
        bounds = _bounds(placed, type_, builder.zone, names[width:])
        renamed = [pl.col(old).alias(new) for old, new in zip(below.columns, names, strict=False)]
        return placed.select(*renamed, *bounds, *below.extra)

    return below.each(assigned, columns=names)


def _moment(times: pl.Series, zone: str) -> pl.Series:
    """What the session's clock shows, in milliseconds."""
    import polars as pl

    from tidemark.runtime.times import milliseconds

    assert isinstance(times.dtype, pl.Datetime)
    if times.dtype.time_zone is not None:
        times = times.dt.convert_time_zone(zone).dt.replace_time_zone(None)
    return milliseconds(times).alias(_MOMENT)


def _placed(frame: pl.DataFrame, assigner: Assigner, last_only: bool) -> pl.DataFrame:
    """Each row once per window, with the window's bounds in milliseconds."""
    import polars as pl

    moment, number = pl.col(_MOMENT), pl.col(_NUMBER)
    match assigner:
        case Sliding(size, slide, offset):
            numbers = range(1 if last_only else -(-size // slide))
            start = (moment - offset) // slide * slide + offset - number * slide
            end = start + size
            inside = end > moment
        case Cumulating(size, step, offset):
            count = size // step
            numbers = range(count if last_only else 1, count + 1)
            start = (moment - offset) // size * size + offset
            end = start + number * step
            inside = end > moment
        case _:
            raise AssertionError(f"windows cannot be assigned row by row: {assigner}")
    numbered = pl.DataFrame({_NUMBER: pl.Series(numbers, dtype=pl.Int64)})
    every = frame.join(numbered, how="cross", maintain_order="left_right")
    return every.filter(inside).with_columns(start.alias(_START), end.alias(_END))


def _bounds(
    placed: pl.DataFrame, time: t.DataType, zone: str, names: tuple[str, ...]
) -> list[pl.Series]:
    """The window's start, end and time from its milliseconds."""
    import polars as pl

    from tidemark.kernels.windows.wall_clock import instants

    start, end, last = placed[_START], placed[_END], placed[_END] - 1
    zoned = isinstance(time, t.TimestampLtz)
    moments = [start, end, instants(last, zone) if zoned and not is_utc(zone) else last]
    kinds = [None, None, "UTC" if zoned else None]
    return [
        (moment * 1000).cast(pl.Datetime("us", kind)).alias(name)
        for moment, kind, name in zip(moments, kinds, names, strict=True)
    ]
