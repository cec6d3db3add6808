"""Maps put together from arrays and from other maps; the last value of a key wins."""

from __future__ import annotations

from functools import reduce

import polars as pl

from tidemark import types as t
from tidemark.columns.call import ColumnCall, WriteColumn
from tidemark.columns.constructors import NULL_KEY
from tidemark.columns.lists import ELEMENT, ROW, elements_of, listed
from tidemark.columns.refusals import NotInColumns
from tidemark.columns.types import polars_type

# Keys that are equal if and only if their columns say so.
_KEYS = (*t.INTEGERS, t.Boolean, *t.CHARACTERS, t.Date, *t.TIMESTAMPS, t.Decimal)


def _map_of(call: ColumnCall) -> t.Map:
    type_ = call.result
    assert isinstance(type_, t.Map)
    if not isinstance(type_.key, _KEYS):
        raise NotInColumns(f"{call.name} with keys of {type_.key.text()}")
    return type_


def _entries(type_: t.Map) -> pl.DataType:
    fields = {"key": polars_type(type_.key), "value": polars_type(type_.value)}
    return pl.List(pl.Struct(fields))


def _of_entries(call: ColumnCall, entries: pl.Expr, type_: t.Map) -> pl.Expr:
    """Maps of lists of entries, whose keys may be repeated."""
    kind = _entries(type_)

    def compute(lists: pl.Series) -> pl.Series:
        pairs = elements_of(lists).unnest(ELEMENT)
        last = pairs.group_by(ROW, "key", maintain_order=True).agg(pl.col("value").last())
        kept = last.select(ROW, pl.struct("key", "value").alias(ELEMENT))
        return listed(kept, lists.is_not_null(), kind).cast(polars_type(type_))

    return call.active.batches(compute, (entries.cast(kind),), type_)


def _union(call: ColumnCall) -> pl.Expr:
    type_ = _map_of(call)
    known = reduce(lambda a, b: a & b, (arg.is_not_null() for arg in call.args))
    first, *others = (arg.map.entries().cast(_entries(type_)) for arg in call.args)
    together = first.list.concat(others) if others else first
    return _of_entries(call, pl.when(known).then(together), type_)


def _from_arrays(call: ColumnCall) -> pl.Expr:
    type_ = _map_of(call)
    keys, values = call.args
    known = keys.is_not_null() & values.is_not_null()
    different = known & (keys.list.len() != values.list.len())
    nameless = known & keys.list.eval(pl.element().is_null()).list.any()
    call.active.fail(different, "the arrays of MAP_FROM_ARRAYS have different lengths")
    call.active.fail(nameless, NULL_KEY)
    valid = pl.when(known & ~different & ~nameless)
    return _of_entries(call, _zipped(call, valid.then(keys), values), type_)


def _zipped(call: ColumnCall, keys: pl.Expr, values: pl.Expr) -> pl.Expr:
    """The entries of arrays that are equally long where the keys are not NULL."""
    type_ = _map_of(call)
    kind = _entries(type_)

    def compute(keys: pl.Series, values: pl.Series) -> pl.Series:
        known = keys.is_not_null()
        pairs = elements_of(keys).rename({ELEMENT: "key"})
        others = elements_of(pl.select(pl.when(known).then(values)).to_series())
        entries = pairs.with_columns(others[ELEMENT].alias("value")).select(
            ROW, pl.struct("key", "value").alias(ELEMENT)
        )
        return listed(entries, known, kind)

    rows = t.Array(t.Row((t.Field("key", type_.key), t.Field("value", type_.value))))
    return call.active.batches(compute, (keys, values), rows)


COLUMNS: dict[str, WriteColumn] = {"MAP_UNION": _union, "MAP_FROM_ARRAYS": _from_arrays}
