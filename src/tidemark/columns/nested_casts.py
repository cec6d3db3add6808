"""CAST of arrays and maps: each element, or each key and value, as the other type."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tidemark import types as t
from tidemark.columns.call import Active, Surroundings
from tidemark.columns.evaluation import evaluated
from tidemark.columns.refusals import NotInColumns
from tidemark.columns.types import polars_type

CastColumn = Callable[[pl.Expr, Active], pl.Expr]
# Keys that stay different when they are cast to a type of the same kind that holds them all.
_WIDER = (t.TinyInt, t.SmallInt, t.Int, t.BigInt)


def cast_elements(value: pl.Expr, target: t.Array, active: Active, cast: CastColumn) -> pl.Expr:
    """Arrays with other elements. `cast` writes the cast of one column, and says what fails."""
    inside = Surroundings(active.surroundings.zone, active.surroundings.now)
    inside.raised = active.surroundings.raised
    written = cast(pl.col("element"), Active(inside))
    kind = polars_type(target)

    def compute(lists: pl.Series) -> pl.Series:
        array = lists.to_arrow()
        elements = pl.DataFrame({"element": pl.Series(array.flatten())})
        changed = evaluated([written], inside, elements, ["element"])["element"].to_arrow()
        return pl.Series(_with_elements(array, changed)).cast(kind)

    # Elements of rows whose value is not asked for must not fail.
    asked = value if active.rows is None else pl.when(active.rows).then(value)
    return active.batches(compute, (asked,), target)


def _with_elements(lists: pa.LargeListArray, elements: pa.Array) -> pa.LargeListArray:
    lengths = pc.fill_null(pc.list_value_length(lists), 0).cast(pa.int64())
    ends = pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(lengths)])
    return pa.LargeListArray.from_arrays(ends, elements, mask=lists.is_null())


def check_keys(source: t.Map, target: t.Map) -> None:
    """Keys that differ must not become the same one."""
    old, new = source.key, target.key
    if isinstance(old, t.CHARACTERS) and isinstance(new, t.CHARACTERS):
        stays = isinstance(new, t.VarChar) and old.length <= new.length
    elif isinstance(old, _WIDER) and isinstance(new, _WIDER):
        stays = _WIDER.index(type(old)) <= _WIDER.index(type(new))
    else:
        stays = old.same_as(new)
    if not stays:
        raise NotInColumns(f"CAST of {source.text()} to {target.text()}")


def entries_of(type_: t.Map) -> t.Array:
    """The type of the entries of a map, as rows."""
    return t.Array(t.Row((t.Field("key", type_.key), t.Field("value", type_.value))))
