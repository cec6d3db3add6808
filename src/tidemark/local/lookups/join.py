"""Left rows joined with the rows that a dimension has for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tidemark.catalog.tables import Changelog
from tidemark.connectors.lookups import Lookup
from tidemark.functions.spark_text import safe_names
from tidemark.kernels.columns import KIND
from tidemark.local.builder import LocalBuilder
from tidemark.local.faults import checked
from tidemark.local.lookups.dimension import Dimension, DimensionRows, of_rows, of_table
from tidemark.local.rows import LocalRows
from tidemark.physical import Compute, Settings, physical_plan
from tidemark.plan.nodes import LookupJoin

if TYPE_CHECKING:
    import polars as pl

    from tidemark.columns import Program
    from tidemark.kernels.lookup_join import LookupJoinKernel
    from tidemark.local.lookups.opened import OpenDimension

# So many pairs are made at once.
_PAIRS: Final = 1 << 19


def lookup_join(builder: LocalBuilder, stage: Compute) -> LocalRows:
    node, below = stage.node, builder.build(stage.inputs[0])
    assert isinstance(node, LookupJoin)
    from tidemark.runtime.combining import gathered_frames

    step = LookupStep.of(builder, node, below)
    # Each call looks at all rows of a small table, so it should be for many rows at a time.
    given = gathered_frames if node.by == "broadcast" else iter
    frames = below.frames
    return replace(below, frames=lambda: step.of_all(given(frames())), columns=step.names)


@dataclass(frozen=True, slots=True)
class LookupStep:
    """Joins frames of left rows, which may have columns besides those of their edge."""

    kernel: LookupJoinKernel
    names: tuple[str, ...]  # of the join's columns
    left: tuple[str, ...]
    right: tuple[str, ...]
    opened: OpenDimension
    key_types: tuple[pl.DataType, ...]

    @classmethod
    def of(cls, builder: LocalBuilder, node: LookupJoin, below: LocalRows) -> LookupStep:
        from tidemark.columns import polars_type
        from tidemark.kernels.lookup_join import LookupJoinKernel
        from tidemark.local.lookups.opened import open_dimension, opened

        names, width = safe_names(node.edge.names), len(below.columns)
        kernel = LookupJoinKernel(
            tuple(names[key] for key in node.left_keys),
            tuple(names[width + key] for key in node.right_keys),
            node.how,
            _test(builder, node, below, names),
        )
        sent = isinstance(node.right, DimensionRows)
        found = (opened if sent else open_dimension)(_dimension(builder, node), builder.lower)
        return cls(
            kernel,
            names,
            below.columns,
            found.columns,
            found,
            tuple(polars_type(node.right.edge.types[key]) for key in node.right_keys),
        )

    def of_all(self, frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        for frame in frames:
            yield from self(frame)

    def __call__(self, frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """The joined rows, in pieces that fit into memory however many there are."""
        width = len(self.left)
        left = frame.rename(dict(zip(self.left, self.names[:width], strict=True)))
        named = dict(zip(self.right, self.names[width:], strict=True))
        keys = self.kernel.distinct_keys(left, self.key_types)
        asked = {new: old for old, new in named.items()}
        found = self.opened.rows(keys.rename({key: asked[key] for key in keys.columns}))
        found = found.rename(named)
        shown = [*self.names, *(n for n in frame.columns if n not in self.left)]
        for some in self.kernel.slices(left, found, self.opened.most, _PAIRS):
            yield self.kernel.joined(some, found).select(shown)


def _test(
    builder: LocalBuilder, node: LookupJoin, below: LocalRows, names: tuple[str, ...]
) -> Test | None:
    if node.condition is None:
        return None
    return Test(builder.program([node.condition], replace(below, columns=names), node))


@dataclass(frozen=True, slots=True)
class Test:
    """Tests pairs of rows."""

    program: Program

    def __call__(self, pairs: pl.DataFrame) -> pl.Series:
        return self.program.over(pairs, ["matches"])["matches"]


# --- the dimension -----------------------------------------------------------------------------


def _dimension(builder: LocalBuilder, node: LookupJoin) -> Dimension:
    """The dimension as it was sent to this worker, or as this process finds it itself."""
    if isinstance(node.right, DimensionRows):
        return node.right.dimension
    return of_table(node, builder.zone, builder.lower) or _computed(builder, node)


def current(rows: LocalRows) -> Iterator[pl.DataFrame]:
    """The rows that are there when all changes have been made."""
    import polars as pl

    from tidemark.kernels.current_rows import current_rows

    if rows.changelog is Changelog.APPEND:
        yield from (frame.select(rows.columns) for frame in rows.frames())
    elif frames := [frame.select(*rows.columns, KIND) for frame in rows.frames()]:
        yield current_rows(pl.concat(frames))


def _computed(builder: LocalBuilder, node: LookupJoin) -> Dimension:
    """The rows of a plan, which are computed when they are first needed."""
    plan = physical_plan(node.right, Settings(builder.zone, builder.ttl_ms), streaming=False)
    rows = checked(builder.build(plan.root))

    def load() -> Iterator[pl.DataFrame]:
        yield from current(rows)

    return of_rows(node, Lookup(load=load), rows.columns, builder.zone)
