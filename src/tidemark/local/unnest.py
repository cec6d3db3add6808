"""LocalRows once per element of a collection."""

from __future__ import annotations

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


def unnest(builder: LocalBuilder, stage: Compute) -> LocalRows:
    node, below = stage.node, builder.build(stage.inputs[0])
    assert isinstance(node, Unnest)
    type_ = node.collection.type
    names = safe_names(node.edge.names)
    program = builder.program([node.collection], below, node)
    types = dict(zip(names, node.edge.types, strict=True))

    def opened(frame: pl.DataFrame) -> pl.DataFrame:
        import polars as pl

        rows = frame.hstack(program.over(frame, [_ELEMENT]))
        rows = rows.with_columns(_listed(pl.col(_ELEMENT), type_))
        filled = pl.col(_ELEMENT).list.len().fill_null(0) > 0
        if not node.outer:
            rows = rows.filter(filled)
        places = pl.when(filled).then(pl.int_ranges(1, pl.col(_ELEMENT).list.len() + 1))
        rows = rows.with_columns(places.otherwise(None).alias(_PLACE))
        rows = rows.explode(_ELEMENT, _PLACE, empty_as_null=True)
        added = [*_fields(type_), *[pl.col(_PLACE)] * node.ordinality]
        of_edge = [*map(pl.col, below.columns), *added]
        named = [value.alias(name) for value, name in zip(of_edge, names, strict=True)]
        return of_types(rows.select(*named, *below.extra), types)

    return below.each(opened, columns=names)


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
