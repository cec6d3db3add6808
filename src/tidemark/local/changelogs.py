"""Changes as rows with the codes of their kinds, and such rows as changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.functions.spark_text import safe_names
from tidemark.kernels.columns import KIND
from tidemark.local.rows import LocalRows
from tidemark.plan.nodes import FromChangelog, ToChangelog

if TYPE_CHECKING:
    import polars as pl

    from tidemark.local.builder import LocalBuilder
    from tidemark.physical import Compute


def to_changelog(builder: LocalBuilder, stage: Compute) -> LocalRows:
    node, below = stage.node, builder.build(stage.inputs[0])
    assert isinstance(node, ToChangelog)
    names, codes = safe_names(node.edge.names), dict(node.codes)
    given = [*below.columns, *([] if node.time is None else [below.columns[node.time]])]
    others = [name for name in below.extra if name != KIND]

    def as_rows(frame: pl.DataFrame) -> pl.DataFrame:
        import polars as pl

        from tidemark.kernels.op_codes import coded

        rows = coded(frame, codes, "_tm_op")
        columns = zip(("_tm_op", *given), names, strict=True)
        return rows.select(*(pl.col(old).alias(new) for old, new in columns), *others)

    return below.each(as_rows, columns=names, changelog=Changelog.APPEND)


def from_changelog(builder: LocalBuilder, stage: Compute) -> LocalRows:
    node, below = stage.node, builder.build(stage.inputs[0])
    assert isinstance(node, FromChangelog)
    names, kinds = safe_names(node.edge.names), dict(node.kinds)
    op, given = below.columns[node.op], [below.columns[place] for place in node.given]

    def as_changes(frame: pl.DataFrame) -> pl.DataFrame:
        import polars as pl

        from tidemark.kernels.op_codes import decoded

        rows = decoded(frame, op, kinds)
        columns = zip(given, names, strict=True)
        return rows.select(*(pl.col(old).alias(new) for old, new in columns), KIND, *below.extra)

    return below.each(as_changes, columns=names, changelog=Changelog.RETRACT)
