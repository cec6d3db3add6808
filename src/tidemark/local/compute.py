"""LocalRows that are read, or computed from other rows one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from tidemark.functions.spark_text import safe_names
from tidemark.local.faults import with_faults
from tidemark.local.rows import ROW, LocalRows
from tidemark.plan.nodes import Filter, Project, RowOfNone, Scan, Values
from tidemark.types import DataType

if TYPE_CHECKING:
    import polars as pl

    from tidemark.local.builder import LocalBuilder
    from tidemark.physical import Compute


def scan(builder: LocalBuilder, stage: Compute) -> LocalRows:
    assert isinstance(stage.node, Scan)
    return builder.read(stage.node, builder)


def project(builder: LocalBuilder, stage: Compute) -> LocalRows:
    node, below = stage.node, builder.build(stage.inputs[0])
    assert isinstance(node, Project)
    names = safe_names(node.edge.names)
    program = builder.program(node.expressions, below, node)
    import polars as pl

    def projected(frame: pl.DataFrame) -> pl.DataFrame:
        kept = frame.select(*below.extra)
        if not names:
            return pl.DataFrame([*kept, _numbered(frame)])
        return program.over(frame, names).hstack(kept)

    return below.each(projected, columns=names)


def _numbered(frame: pl.DataFrame) -> pl.Series:
    import polars as pl

    return pl.int_range(frame.height, eager=True).alias(ROW)


def filter_rows(builder: LocalBuilder, stage: Compute) -> LocalRows:
    node, below = stage.node, builder.build(stage.inputs[0])
    assert isinstance(node, Filter)
    return below.each(builder.program([node.condition], below, node).rows_where)


def row_of_none(builder: LocalBuilder, stage: Compute) -> LocalRows:
    node, below = stage.node, builder.build(stage.inputs[0])
    assert isinstance(node, RowOfNone)
    program = builder.program(node.values, LocalRows(lambda: iter(()), ()), node)
    types = dict(zip(below.columns, stage.edge.types, strict=True))

    def frames() -> Iterator[pl.DataFrame]:
        import polars as pl

        found = False
        for frame in below.frames():
            found = found or frame.height > 0
            yield frame
        if not found:
            yield of_types(program.over(pl.DataFrame({ROW: [0]}), below.columns), types)

    return replace(below, frames=frames)


def union(builder: LocalBuilder, stage: Compute) -> LocalRows:
    names, changelog = safe_names(stage.edge.names), stage.edge.changelog
    sides = [builder.build(side).like(names, changelog) for side in stage.inputs]
    if any(side.faulty for side in sides):
        sides = [with_faults(side) for side in sides]
    united = replace(sides[0], stamped=False)
    kept = (*names, *united.extra)
    types = dict(zip(names, stage.edge.types, strict=True))

    def frames() -> Iterator[pl.DataFrame]:
        for frame in chain.from_iterable(side.frames() for side in sides):
            yield of_types(frame.select(kept) if kept else frame, types)

    return replace(united, frames=frames)


def of_types(frame: pl.DataFrame, types: dict[str, DataType]) -> pl.DataFrame:
    """The frame with these columns in exactly these types."""
    import polars as pl

    from tidemark.columns import polars_type

    wanted = {name: polars_type(type_) for name, type_ in types.items()}
    other = [name for name, dtype in wanted.items() if frame.schema[name] != dtype]
    return frame.with_columns(pl.col(name).cast(wanted[name]) for name in other)


def values(builder: LocalBuilder, stage: Compute) -> LocalRows:
    node, names = stage.node, safe_names(stage.edge.names)
    assert isinstance(node, Values)
    nothing = LocalRows(lambda: iter(()), ())
    programs = [builder.program(row, nothing, node) for row in node.rows]
    types = dict(zip(names, stage.edge.types, strict=True))

    def frames() -> Iterator[pl.DataFrame]:
        import polars as pl

        one = pl.DataFrame({ROW: [0]})
        if not names:
            yield one
            return
        yield pl.concat([of_types(program.over(one, names), types) for program in programs])

    return LocalRows(frames, names)


def sink(builder: LocalBuilder, stage: Compute) -> LocalRows:
    below = builder.build(stage.inputs[0])
    return below.like(safe_names(stage.edge.names), below.changelog)
