"""Rows that Spark reads, or computes from other rows one by one, as DataFrames."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.functions import spark_text
from tidemark.plan.nodes import Filter, Project, RowOfNone, Scan, Values
from tidemark.spark.frame import PLACE, Frame, like, names_of
from tidemark.spark.moments import WATERMARK
from tidemark.spark.stateful.late_columns import LATE

if TYPE_CHECKING:
    from tidemark.physical import Compute
    from tidemark.spark.builder import Builder

COUNT = "_tm_count"
# No watermark is later than this.
END = "TIMESTAMP '9999-12-31 23:59:59.999999'"


def scan(builder: Builder, stage: Compute) -> Frame:
    node = stage.node
    assert isinstance(node, Scan)
    data = builder.read(node, builder)
    # Only errors about missing event times report the record's location.
    placed = node.table.watermark is not None and PLACE in data.columns
    return Frame(data, names_of(node.edge), node.edge.changelog, placed=placed)


def project(builder: Builder, stage: Compute) -> Frame:
    node, below = stage.node, builder.build(stage.inputs[0])
    assert isinstance(node, Project)
    names = names_of(node.edge)
    projections = [
        f"{below.of_rows(builder.write(expression, below))} AS {spark_text.name(name)}"
        for expression, name in zip(node.expressions, names, strict=True)
    ]
    return below.over(below.data.selectExpr(*projections, *below.extra), columns=names)


def filter_rows(builder: Builder, stage: Compute) -> Frame:
    node, below = stage.node, builder.build(stage.inputs[0])
    assert isinstance(node, Filter)
    condition = builder.write(node.condition, below)
    if below.late:
        condition = f"{LATE} IS NOT NULL OR ({condition})"
    if below.followed:
        # Rows that are filtered out advance the watermark too. Spark would push a condition that
        # does not mention its column below it; no row is later than the end.
        condition = f"({condition}) OR {WATERMARK} > {END}"
    return below.over(below.data.where(condition))


def row_of_none(builder: Builder, stage: Compute) -> Frame:
    """Spark's own aggregate of at most one row has one in any case."""
    node, below = stage.node, builder.build(stage.inputs[0])
    assert isinstance(node, RowOfNone)
    quoted = [spark_text.name(name) for name in below.columns]
    counted = below.data.selectExpr(f"count(*) AS {COUNT}", *(f"first({q}) AS {q}" for q in quoted))
    values = [
        f"CASE WHEN {COUNT} = 0 THEN {builder.write(value, below)} ELSE {name} END AS {name}"
        for value, name in zip(node.values, quoted, strict=True)
    ]
    return Frame(counted.selectExpr(*values), below.columns, Changelog.APPEND)


def union(builder: Builder, stage: Compute) -> Frame:
    names, changelog = names_of(stage.edge), stage.edge.changelog
    frames = [like(builder.build(side), names, changelog) for side in stage.inputs]
    followed = all(frame.followed for frame in frames)
    if any(frame.faulty for frame in frames):
        frames = [frame.with_fault("CAST(NULL AS STRING)") for frame in frames]
    late = {number: rows for frame in frames for number, rows in frame.late.items()}
    frames = [frame.with_late(late) for frame in frames]
    first = replace(frames[0], followed=followed, stamped=False)
    united = first.data.select(*first.kept)
    for frame in frames[1:]:
        united = united.union(frame.data.select(*first.kept))
    rows = first.over(united)
    if late:
        rows = rows.checked()
        builder.handing_out.append((stage, rows))
    return rows


def values(builder: Builder, stage: Compute) -> Frame:
    node, names = stage.node, names_of(stage.edge)
    assert isinstance(node, Values)
    one_row = builder.spark.range(1, numPartitions=1)
    if names:
        empty = Frame(one_row, (), Changelog.APPEND)
        rows = ", ".join(
            "struct(" + ", ".join(builder.write(value, empty) for value in row) + ")"
            for row in node.rows
        )
        aliases = ", ".join(spark_text.name(name) for name in names)
        one_row = one_row.selectExpr(f"inline(array({rows})) AS ({aliases})")
    data = builder.once(one_row) if builder.streaming else one_row
    return Frame(data, names, Changelog.APPEND)


def sink(builder: Builder, stage: Compute) -> Frame:
    below = builder.build(stage.inputs[0])
    return like(below, names_of(stage.edge), below.changelog)
