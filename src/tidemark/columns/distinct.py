"""What is computed once for each distinct value of a column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from tidemark import types as t
from tidemark.columns.call import Active
from tidemark.columns.types import polars_type


def for_each_distinct(
    active: Active,
    function: Callable[..., Any],
    args: tuple[pl.Expr, ...],
    returns: t.DataType,
) -> pl.Expr:
    """What the function has for each row; NULL if any argument is."""
    kind = polars_type(returns)

    def compute(*columns: pl.Series) -> pl.Series:
        rows = pl.DataFrame([column.alias(str(place)) for place, column in enumerate(columns)])
        distinct = rows.unique().drop_nulls()
        values = [function(*row) for row in distinct.iter_rows()]
        known = distinct.with_columns(pl.Series("value", values, dtype=kind))
        joined = rows.join(known, on=rows.columns, how="left", maintain_order="left")
        return joined["value"]

    return active.batches(compute, args, returns)


def for_each_pattern(
    active: Active,
    write: Callable[[pl.Expr, str], pl.Expr],
    text: pl.Expr,
    pattern: pl.Expr,
    returns: t.DataType,
) -> pl.Expr:
    """A function of a string and a pattern that is written anew for each pattern."""

    def compute(texts: pl.Series, patterns: pl.Series) -> pl.Series:
        rows = pl.DataFrame({"text": texts, "pattern": patterns}).with_row_index("row")
        computed = [
            some.select("row", value=write(pl.col("text"), some["pattern"][0]))
            for some in rows.drop_nulls().partition_by("pattern")
        ]
        nothing = pl.DataFrame(schema={"row": rows["row"].dtype, "value": polars_type(returns)})
        found = pl.concat([nothing, *computed])
        return rows.join(found, on="row", how="left", maintain_order="left")["value"]

    return active.batches(compute, (text, pattern), returns)
