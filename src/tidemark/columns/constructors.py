"""ROW, ARRAY and MAP values, and element access with `[]`."""

from __future__ import annotations

import polars as pl

from tidemark import types as t
from tidemark.columns.call import ColumnCall, WriteColumn
from tidemark.columns.refusals import NotInColumns
from tidemark.columns.types import polars_type
from tidemark.functions.spark_text import safe_names


def _row(call: ColumnCall) -> pl.Expr:
    assert isinstance(call.result, t.Row)
    names = safe_names([field.name for field in call.result.fields])
    return pl.struct(*(arg.alias(name) for arg, name in zip(call.args, names, strict=True)))


def _array(call: ColumnCall) -> pl.Expr:
    assert isinstance(call.result, t.Array)
    if isinstance(call.result.element, t.Array):
        raise NotInColumns("an ARRAY of arrays")
    kind = polars_type(call.result.element)
    return pl.concat_list(*(arg.cast(kind) for arg in call.args))


def _map(call: ColumnCall) -> pl.Expr:
    """The last value of a key wins."""
    entries = {
        call.constant(place, "a key"): pl.struct(
            call.args[place].alias("key"), call.args[place + 1].alias("value")
        )
        for place in range(0, len(call.args), 2)
    }
    assert isinstance(call.result, t.Map)
    key, value = polars_type(call.result.key), polars_type(call.result.value)
    listed = pl.concat_list(*entries.values()).cast(
        pl.List(pl.Struct({"key": key, "value": value}))
    )
    return listed.cast(pl.Map(key, value))


def _item(call: ColumnCall) -> pl.Expr:
    collection, index = call.args
    if isinstance(call.type(0), t.Map):
        return collection.map.get(index)
    place = index.cast(pl.Int64) - 1
    found = collection.list.get(place.clip(lower_bound=0), null_on_oob=True)
    return pl.when(place >= 0).then(found)


COLUMNS: dict[str, WriteColumn] = {"ROW": _row, "ARRAY": _array, "MAP": _map, "ITEM": _item}
