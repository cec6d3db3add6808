"""Rows once per element of a collection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tidemark import types as t
from tidemark.functions.spark_text import safe_names
from tidemark.local.compute import of_types
from tidemark.local.rows import LocalRows
from tidemark.plan.nodes import Unnest

if TYPE_CHECKING:
    import polars as pl

    from tidemark.local.builder import LocalBuilder
    from tidemark.physical import Compute

_ELEMENT: Final = "_tm_element"
_PLACE: Final = "_tm_place"
_ROW: Final = "_tm_of_row"


def unnest(builder: LocalBuilder, stage: Compute) -> LocalRows:
    node, below = stage.node, builder.build(stage.inputs[0])
    assert isinstance(node, Unnest)
    names = safe_names(node.edge.names)
    collection = builder.program([node.collection], below, node)
    opening = _Opening(node, below, names)
    met = None
    if node.condition is not None:
        met = builder.program([node.condition], replace(below, columns=names), node)

    def opened(frame: pl.DataFrame) -> pl.DataFrame:
        import polars as pl

        rows = frame.hstack(collection.over(frame, [_ELEMENT]))
        rows = rows.with_columns(_listed(pl.col(_ELEMENT), node.collection.type))
        if met is None and not (node.outer and node.drops_null_rows):
            return opening.rows(rows, outer=node.outer)
        rows = rows.with_row_index(_ROW)
        kept = opening.rows(rows, _ROW)
        return opening.padded(rows, kept if met is None else met.rows_where(kept))

    return below.each(opened, columns=names)


@dataclass(frozen=True, slots=True)
class _Opening:
    """How frames with a list of elements become frames of an UNNEST."""

    node: Unnest
    below: LocalRows
    names: tuple[str, ...]

    def rows(self, rows: pl.DataFrame, *more: str, outer: bool = False) -> pl.DataFrame:
        """Each row with each element; with further columns of the rows."""
        import polars as pl

        filled = pl.col(_ELEMENT).list.len().fill_null(0) > 0
        if not outer:
            rows = rows.filter(filled)
        places = pl.when(filled).then(pl.int_ranges(1, pl.col(_ELEMENT).list.len() + 1))
        rows = rows.with_columns(places.otherwise(None).alias(_PLACE))
        rows = rows.explode(_ELEMENT, _PLACE, empty_as_null=True)
        if self.node.drops_null_rows and not outer:
            rows = rows.filter(pl.col(_ELEMENT).is_not_null())
        added = [*_fields(self.node.collection.type), *[pl.col(_PLACE)] * self.node.ordinality]
        of_edge = [*map(pl.col, self.below.columns), *added]
        named = [value.alias(name) for value, name in zip(of_edge, self.names, strict=True)]
        types = dict(zip(self.names, self.node.edge.types, strict=True))
        return of_types(rows.select(*named, *self.below.extra, *more), types)

    def padded(self, rows: pl.DataFrame, kept: pl.DataFrame) -> pl.DataFrame:
        """The elements that were kept, and the numbered rows of which there are none."""
        import polars as pl

        others = rows.join(kept, on=_ROW, how="anti")
        nothing = pl.lit(None, rows.schema[_ELEMENT]).alias(_ELEMENT)
        alone = self.rows(others.with_columns(nothing), _ROW, outer=True)
        return pl.concat([kept, alone]).sort(_ROW, maintain_order=True).drop(_ROW)


def _listed(collection: pl.Expr, type_: t.DataType) -> pl.Expr:
    """The collection as a list: a map's entries, a multiset's elements with repetitions."""
    import polars as pl

    if isinstance(type_, t.Map):
        return collection.map.entries()
    if isinstance(type_, t.Multiset):
        entry = pl.element().struct
        repeated = entry.field("key").repeat_by(entry.field("value")).explode(empty_as_null=False)
        return collection.map.entries().list.eval(repeated)
    return collection


def _fields(type_: t.DataType) -> list[pl.Expr]:
    """The columns of an element: key and value, those of a row, or the element itself."""
    import polars as pl

    element = pl.col(_ELEMENT)
    if isinstance(type_, t.Map):
        return [element.struct.field("key"), element.struct.field("value")]
    assert isinstance(type_, t.Array | t.Multiset)
    if isinstance(type_.element, t.Row):
        names = safe_names([field.name for field in type_.element.fields])
        return [element.struct.field(name) for name in names]
    return [element]
