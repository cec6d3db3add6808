"""Functions of arrays and maps."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import polars as pl

from tidemark import types as t
from tidemark.columns.call import ColumnCall, WriteColumn
from tidemark.columns.lists import ELEMENT, ROW, elements_of, listed
from tidemark.columns.literals import literal
from tidemark.columns.refusals import NotInColumns
from tidemark.columns.repeating import for_each_row_of
from tidemark.columns.types import polars_type

# Elements that Polars compares inside lists as Spark does.
_COMPARED = (*t.INTEGERS, t.Boolean, *t.CHARACTERS, t.Date, *t.TIMESTAMPS, t.Decimal)


def compared(call: ColumnCall, also: tuple[type[t.DataType], ...] = ()) -> pl.Expr:
    """The array of a call that compares its elements; `also` are further types of them."""
    type_ = call.type(0)
    assert isinstance(type_, t.Array)
    if not isinstance(type_.element, (*_COMPARED, *also)):
        raise NotInColumns(f"{call.name} of {type_.text()}")
    return call.args[0]


def _cardinality(call: ColumnCall) -> pl.Expr:
    collection = call.args[0]
    is_array = isinstance(call.type(0), t.Array)
    return (collection.list.len() if is_array else collection.map.len()).cast(pl.Int32)


def _element(call: ColumnCall) -> pl.Expr:
    array = call.args[0]
    message = "ELEMENT needs an array with at most one element"
    call.active.fail(array.list.len() > 1, message)
    return array.list.get(0, null_on_oob=True)


def _contains(call: ColumnCall) -> pl.Expr:
    """NULL matches NULL elements, and NaN matches NaN."""
    array = compared(call, (t.Float, t.Double))
    value = call.args[1].cast(_element_kind(call))
    found = array.list.eval(pl.element().is_null()).list.any()
    held = pl.when(value.is_null()).then(found).otherwise(array.list.contains(value))
    return pl.when(array.is_not_null()).then(held)


def _element_kind(call: ColumnCall) -> pl.DataType:
    type_ = call.type(0)
    assert isinstance(type_, t.Array)
    return polars_type(type_.element)


def _remove(call: ColumnCall) -> pl.Expr:
    array = compared(call)
    if not call.arguments[1].is_literal:
        wanted = (array, call.args[1].cast(_element_kind(call)))
        return call.active.batches(_without, wanted, call.result)
    unwanted = literal(call.literal(1), call.type(1)).cast(_element_kind(call))
    return array.list.eval(pl.element().filter(pl.element().ne_missing(unwanted)))


def _without(lists: pl.Series, values: pl.Series) -> pl.Series:
    elements = elements_of(lists)
    kept = elements.filter(elements[ELEMENT].ne_missing(values.gather(elements[ROW])))
    return listed(kept, lists.is_not_null(), lists.dtype)


def _position(call: ColumnCall) -> pl.Expr:
    array, value = compared(call), call.literal(1)
    if not call.arguments[1].is_literal:
        both = (array, call.args[1].cast(_element_kind(call)))
        return call.active.batches(_first_places, both, call.result)
    if value is None:
        return pl.lit(None, dtype=pl.Int32)
    wanted = literal(value, call.type(1)).cast(_element_kind(call))
    places = array.list.eval((pl.element() == wanted).fill_null(False).arg_true())
    first = places.list.get(0, null_on_oob=True).cast(pl.Int32) + 1
    return pl.when(array.is_not_null()).then(first.fill_null(0))


def _first_places(lists: pl.Series, values: pl.Series) -> pl.Series:
    elements = elements_of(lists).with_columns(place=pl.int_range(1, pl.len() + 1).over(ROW))
    equal = elements.filter(elements[ELEMENT] == values.gather(elements[ROW]))
    first = equal.group_by(ROW).agg(pl.col("place").min())
    rows = pl.DataFrame({"known": lists.is_not_null() & values.is_not_null()}).with_row_index(ROW)
    joined = rows.join(first, on=ROW, how="left", maintain_order="left")
    place = pl.col("place").fill_null(0).cast(pl.Int32)
    return joined.select(pl.when(pl.col("known")).then(place)).to_series()


def _slice(call: ColumnCall) -> pl.Expr:
    """From one position to another, both inclusive; negative positions count from the end."""
    array, start = call.args[0], call.args[1].cast(pl.Int64)
    end = call.args[2].cast(pl.Int64) if len(call.args) > 2 else pl.lit(-1, dtype=pl.Int64)
    count = array.list.len().cast(pl.Int64)
    first = pl.when(start < 0).then(count + start + 1).otherwise(start).clip(lower_bound=1)
    last = pl.when(end < 0).then(count + end + 1).otherwise(end)
    # Zero is the first position, also one before the first.
    last = pl.when(last == 0).then(1).otherwise(last)
    size = (pl.min_horizontal(last, count) - first + 1).clip(lower_bound=0)
    known = array.is_not_null() & start.is_not_null() & end.is_not_null()
    return pl.when(known).then(array.list.slice(first - 1, size))


def _concat(call: ColumnCall) -> pl.Expr:
    known = reduce(lambda a, b: a & b, (arg.is_not_null() for arg in call.args))
    first, *others = (arg.cast(polars_type(call.result)) for arg in call.args)
    return pl.when(known).then(first.list.concat(others) if others else first)


def _union(call: ColumnCall) -> pl.Expr:
    compared(call)
    return _concat(call).list.unique(maintain_order=True)


def _added(at_the_end: bool) -> WriteColumn:
    def write(call: ColumnCall) -> pl.Expr:
        type_ = call.type(0)
        assert isinstance(type_, t.Array)
        if isinstance(type_.element, t.Array):
            raise NotInColumns(f"{call.name} of {type_.text()}")
        kind = polars_type(type_)
        added = pl.concat_list(call.args[1])
        array, element = for_each_row_of(added, call.args[0].cast(kind)), added.cast(kind)
        parts = (array, element) if at_the_end else (element, array)
        return pl.when(array.is_not_null()).then(parts[0].list.concat(parts[1]))

    return write


def _extreme(name: str) -> WriteColumn:
    def write(call: ColumnCall) -> pl.Expr:
        ordered = compared(call).list.drop_nulls().list.sort(descending=name == "max")
        return ordered.list.get(0, null_on_oob=True)

    return write


def _sort(call: ColumnCall) -> pl.Expr:
    ascending = call.constant(1, "an order") if len(call.args) > 1 else True
    nulls_first = call.constant(2, "a place of NULLs") if len(call.args) > 2 else ascending
    if ascending is None or nulls_first is None:
        raise NotInColumns("ARRAY_SORT in an order that is NULL")
    return compared(call).list.sort(descending=not ascending, nulls_last=not nulls_first)


def _join(call: ColumnCall) -> pl.Expr:
    array, delimiter, *instead = call.args
    if instead:
        text = call.constant(2, "a replacement")
        if text is None:
            return pl.lit(None, dtype=pl.String)
        array = array.list.eval(pl.element().fill_null(text))
    return for_each_row_of(delimiter, array).list.join(delimiter, ignore_nulls=True)


def _split(call: ColumnCall) -> pl.Expr:
    text, delimiter = call.args
    nothing = pl.lit([], dtype=pl.List(pl.String))
    parts = for_each_row_of(delimiter, text).str.split(delimiter)
    if not call.literal(1):
        characters = text.str.extract_all("(?s).")
        parts = pl.when(delimiter == "").then(characters).otherwise(parts)
    known = text.is_not_null() & delimiter.is_not_null()
    return pl.when(known).then(pl.when(text == "").then(nothing).otherwise(parts))


def _simple(write: Callable[[pl.Expr], Any]) -> WriteColumn:
    return lambda call: write(call.args[0])


COLUMNS: dict[str, WriteColumn] = {
    "CARDINALITY": _cardinality,
    "ELEMENT": _element,
    "ARRAY_CONTAINS": _contains,
    "ARRAY_DISTINCT": lambda call: compared(call).list.unique(maintain_order=True),
    "ARRAY_POSITION": _position,
    "ARRAY_REMOVE": _remove,
    "ARRAY_REVERSE": _simple(lambda array: array.list.reverse()),
    "ARRAY_SLICE": _slice,
    "ARRAY_UNION": _union,
    "ARRAY_CONCAT": _concat,
    "ARRAY_APPEND": _added(at_the_end=True),
    "ARRAY_PREPEND": _added(at_the_end=False),
    "ARRAY_MAX": _extreme("max"),
    "ARRAY_MIN": _extreme("min"),
    "ARRAY_SORT": _sort,
    "ARRAY_JOIN": _join,
    "MAP_KEYS": _simple(lambda entries: entries.map.keys()),
    "MAP_VALUES": _simple(lambda entries: entries.map.values()),
    "MAP_ENTRIES": _simple(lambda entries: entries.map.entries()),
    "SPLIT": _split,
}
