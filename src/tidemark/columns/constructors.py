"""ROW, ARRAY and MAP values, and element access with `[]`."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from tidemark import types as t
from tidemark.columns.call import ColumnCall, WriteColumn
from tidemark.columns.types import polars_type
from tidemark.functions.spark_text import safe_names

NULL_KEY = "a key of a MAP is NULL"


def _row(call: ColumnCall) -> pl.Expr:
    assert isinstance(call.result, t.Row)
    names = safe_names([field.name for field in call.result.fields])
    return pl.struct(*(arg.alias(name) for arg, name in zip(call.args, names, strict=True)))


def _array(call: ColumnCall) -> pl.Expr:
    assert isinstance(call.result, t.Array)
    kind = polars_type(call.result.element)
    values = (arg.cast(kind) for arg in call.args)
    if not isinstance(call.result.element, t.Array):
        return pl.concat_list(*values)
    # Lists would be joined; in rows, they stay apart.
    wrapped = pl.concat_list(*(pl.struct(value.alias("list")) for value in values))
    return wrapped.list.eval(pl.element().struct.field("list"))


def _map(call: ColumnCall) -> pl.Expr:
    """The last value of a key wins. Maps of Arrow, and of Spark, have no keys that are NULL."""
    assert isinstance(call.result, t.Map)
    keys, values = call.args[::2], call.args[1::2]
    call.active.fail(pl.any_horizontal(key.is_null() for key in keys), NULL_KEY)
    entries = [
        pl.when(_counts(keys, place)).then(pl.struct(key.alias("key"), value.alias("value")))
        for place, (key, value) in enumerate(zip(keys, values, strict=True))
    ]
    key, value = polars_type(call.result.key), polars_type(call.result.value)
    listed = pl.concat_list(*entries).list.drop_nulls()
    return listed.cast(pl.List(pl.Struct({"key": key, "value": value}))).cast(pl.Map(key, value))


def _counts(keys: Sequence[pl.Expr], place: int) -> pl.Expr:
    """Whether no later entry has the key."""
    key, later = keys[place], keys[place + 1 :]
    return key.is_not_null() & ~pl.any_horizontal(pl.lit(False), *(key == one for one in later))


def _item(call: ColumnCall) -> pl.Expr:
    collection, index = call.args
    if isinstance(call.type(0), t.Map):
        return collection.map.get(index)
    place = index.cast(pl.Int64) - 1
    found = collection.list.get(place.clip(lower_bound=0), null_on_oob=True)
    return pl.when(place >= 0).then(found)


COLUMNS: dict[str, WriteColumn] = {"ROW": _row, "ARRAY": _array, "MAP": _map, "ITEM": _item}
