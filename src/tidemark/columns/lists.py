"""Lists as rows of their elements, and back."""

from __future__ import annotations

import polars as pl

ROW, ELEMENT = "row", "element"


def elements_of(lists: pl.Series) -> pl.DataFrame:
    """The elements of all lists, each with the number of its list."""
    rows = pl.DataFrame({ELEMENT: lists}).with_row_index(ROW)
    return rows.filter(pl.col(ELEMENT).list.len() > 0).explode(ELEMENT)


def listed(elements: pl.DataFrame, known: pl.Series, kind: pl.DataType) -> pl.Series:
    """A list for each row that is `known`, of the elements with its number, which are in order."""
    lists = elements.group_by(ROW, maintain_order=True).agg(ELEMENT)
    rows = pl.DataFrame({"known": known}).with_row_index(ROW)
    joined = rows.join(lists, on=ROW, how="left", maintain_order="left")
    nothing = pl.lit([], dtype=kind)
    each = pl.col(ELEMENT).cast(kind).fill_null(nothing)
    return joined.select(pl.when(pl.col("known")).then(each)).to_series()
