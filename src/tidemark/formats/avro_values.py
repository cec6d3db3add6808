"""Values of Avro as those of a table's columns, as Flink resolves the one against the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import polars as pl
import pyarrow as pa

from tidemark import types as t
from tidemark.formats.avro_quick import name
from tidemark.formats.avro_schema import (
    NULL,
    Avro,
    Enum,
    Fixed,
    Items,
    MapOf,
    Optional,
    Primitive,
    Record,
    Union,
    describe,
)
from tidemark.formats.column_types import dtype
from tidemark.formats.leaf_values import Flags
from tidemark.formats.nested_columns import arrays, maps
from tidemark.functions.spark_text import safe_names

# What a reader of a kind accepts: itself, and what Avro promotes to it.
_PROMOTED: Final[Mapping[str, tuple[str, ...]]] = {
    "boolean": ("boolean",),
    "int": ("int",),
    "long": ("int", "long"),
    "float": ("int", "long", "float"),
    "double": ("int", "long", "float", "double"),
    "string": ("string", "bytes"),
    "bytes": ("bytes", "string"),
}


class BadValue(Exception):
    """Why a value cannot be read, and in which row."""

    def __init__(self, why: str, row: int) -> None:
        super().__init__(why)
        self.why, self.row = why, row


def misfit(found: Avro, wanted: t.DataType) -> str | None:
    """Why no value of the one type can be read as the other. NULLs and empty arrays and maps can,
    whatever else the type has.
    """
    if found == NULL:
        return None if wanted.nullable else "it is always null"
    match found, wanted:
        case Optional(present), _:
            return None if wanted.nullable else misfit(present, wanted)
        case Union(branches), _:
            wrong = [misfit(branch, wanted) for branch in branches]
            return wrong[0] if all(wrong) and wrong else None
        case (Items(), t.Array()) | (MapOf(), t.Map() | t.Multiset()):
            return None
        case Record(fields), t.Row(fields=wanted_fields):
            return _misfit_of_row(dict(fields), wanted_fields)
        case Primitive(kind), _ if kind in _PROMOTED.get(_kind(wanted), ()):
            return None
        case Enum(known=known), t.Char() | t.VarChar() if known is not None:
            return None
        case Fixed(is_bytes=True), _ if _kind(wanted) == "bytes":
            return None
    return f"it is {describe(found)}"


def _misfit_of_row(found: Mapping[str, Avro], wanted: tuple[t.Field, ...]) -> str | None:
    for field in wanted:
        if field.name in found:
            wrong = misfit(found[field.name], field.type)
        else:
            wrong = None if field.type.nullable else "it is missing"
        if wrong is not None:
            return f"`{field.name}`: {wrong}"
    return None


def _kind(type_: t.DataType) -> str:
    """What Flink's schema has for a type."""
    match type_:
        case t.TinyInt() | t.SmallInt() | t.Int() | t.Date() | t.Time():
            return "int"
        case t.BigInt() | t.Timestamp() | t.TimestampLtz():
            return "long"
        case t.Char() | t.VarChar():
            return "string"
        case t.Binary() | t.VarBinary() | t.Decimal():
            return "bytes"
        case t.Boolean() | t.Float() | t.Double():
            return type(type_).__name__.lower()
    return ""


# --- values ------------------------------------------------------------------------------------


def converted(values: pl.Series, found: Avro, wanted: t.DataType) -> pl.Series:
    """The values, which fit, in the column's type. Raises BadValue."""
    if found == NULL:
        return _nulls(len(values), wanted)
    match found, wanted:
        case Optional(present), _:
            _check_nulls(values, wanted)
            return _if_any(values, present, wanted)
        case Union(branches), _:
            return _of_union(values, branches, wanted)
        case Items(item), t.Array(element=element):
            return _of_list(values, lambda items: _if_any(items, item, element), wanted)
        case MapOf(value), t.Map(value=wanted_value):
            return _of_map(values, value, wanted_value)
        case MapOf(value), t.Multiset():
            return _of_map(values, value, t.Int())
        case Record(fields), t.Row():
            return _of_row(values, fields, wanted)
        case Enum(), _:
            return _of_enum(values, found)
    return _LEAVES[_kind(wanted)](values, wanted)


def _if_any(values: pl.Series, found: Avro, wanted: t.DataType) -> pl.Series:
    """The values in the column's type, which they need to fit only if there are any."""
    wrong = misfit(found, wanted)
    if wrong is None:
        return converted(values, found, wanted)
    bad = values.is_not_null() | (not wanted.nullable)
    if bad.any():
        raise BadValue(wrong, int(bad.arg_true()[0]))
    return _nulls(len(values), wanted)


def _nulls(count: int, wanted: t.DataType) -> pl.Series:
    return pl.repeat(None, count, dtype=dtype(wanted), eager=True)


def _check_nulls(values: pl.Series, wanted: t.DataType) -> None:
    if not wanted.nullable and values.null_count():
        row = int(values.is_null().arg_true()[0])
        raise BadValue("it is null, and the column is NOT NULL", row)


def _of_union(values: pl.Series, branches: tuple[Avro, ...], wanted: t.DataType) -> pl.Series:
    """Each value by its own branch, whose column alone has it."""
    result = _nulls(len(values), wanted)
    for place, branch in enumerate(branches):
        column = values.struct.field(name(place))
        present = column.is_not_null()
        if branch == NULL or not present.any():
            continue
        if (wrong := misfit(branch, wanted)) is not None:
            raise BadValue(wrong, int(present.arg_true()[0]))
        made = converted(column, branch, wanted.with_nullable(True))
        result = pl.select(
            pl.when(present).then(pl.lit(made)).otherwise(pl.lit(result))
        ).to_series()
    _check_nulls(result, wanted)
    return result


def _of_list(
    values: pl.Series, convert: Callable[[pl.Series], pl.Series], wanted: t.DataType
) -> pl.Series:
    items, sizes, there = _parts(values)
    return arrays(_inside(convert, items, sizes), sizes, there)


def _of_map(values: pl.Series, found: Avro, wanted: t.DataType) -> pl.Series:
    pairs, sizes, there = _parts(values)
    pairs, sizes = _last_of_each_key(pairs, sizes)
    keys = _string(pairs.struct.field(name(0)), t.STRING)
    items = _inside(lambda each: _if_any(each, found, wanted), pairs.struct.field(name(1)), sizes)
    return maps(keys, items, sizes, there)


def _last_of_each_key(pairs: pl.Series, sizes: Any) -> tuple[pl.Series, Any]:
    rows = pl.Series("row", np.repeat(np.arange(len(sizes)), sizes))
    keys = pl.DataFrame([rows, pairs.struct.field(name(0))])
    repeated = keys.is_duplicated()
    if not repeated.any():
        return pairs, sizes
    last = keys.select(pl.int_range(pl.len()) == pl.int_range(pl.len()).max().over(pl.all()))
    kept = last.to_series()
    return pairs.filter(kept), np.bincount(rows.filter(kept), minlength=len(sizes))


def _parts(values: pl.Series) -> tuple[pl.Series, Any, Flags]:
    """The items of lists one after the other, the lists' sizes, and which lists are not NULL."""
    array = values.to_arrow(compat_level=pl.CompatLevel.newest())
    items = pl.from_arrow(array.flatten())
    assert isinstance(items, pl.Series)
    sizes = values.list.len().fill_null(0).cast(pl.Int64).to_numpy()
    return items, sizes, values.is_not_null().to_numpy()


def _inside(convert: Callable[[pl.Series], pl.Series], items: pl.Series, sizes: Any) -> pl.Series:
    try:
        return convert(items)
    except BadValue as problem:
        row = int(np.searchsorted(np.cumsum(sizes), problem.row, side="right"))
        raise BadValue(problem.why, row) from None


def _of_row(values: pl.Series, fields: tuple[tuple[str, Avro], ...], wanted: t.Row) -> pl.Series:
    places = {field: place for place, (field, _) in enumerate(fields)}
    there = values.is_not_null()
    made = []
    for field, into in zip(wanted.fields, safe_names([f.name for f in wanted.fields]), strict=True):
        if field.name not in places:
            column = _nulls(len(values), field.type)
        else:
            place = places[field.name]
            column = values.struct.field(name(place))
            column = _of_field(column, fields[place][1], field, there)
        made.append(column.alias(into))
    if not made:
        return values
    rows = pl.DataFrame(made).to_struct("")
    return rows if there.all() else _where(there, rows)


def _of_enum(values: pl.Series, found: Enum) -> pl.Series:
    """The symbols of numbers, which are not negative."""
    assert found.known is not None
    names = pl.Series(found.symbols, dtype=pl.String)
    outside = (values.cast(pl.Int64) >= len(names)).fill_null(value=False)
    if outside.any():
        row = int(outside.arg_true()[0])
        raise BadValue(f"the enum has no symbol number {values[row]}", row)
    symbols = names.gather(values.cast(pl.UInt32))
    strange = symbols.is_in(found.known).not_().fill_null(value=False)
    if strange.any():
        row = int(strange.arg_true()[0])
        raise BadValue(f"the reader's enum has no symbol {symbols[row]}", row)
    return symbols


def _where(there: pl.Series, rows: pl.Series) -> pl.Series:
    return pl.select(pl.when(there).then(pl.lit(rows))).to_series()


def _of_field(values: pl.Series, found: Avro, field: t.Field, there: pl.Series) -> pl.Series:
    if field.type.nullable or there.all():
        return converted(values, found, field.type)
    # Where the row is NULL, its fields may be.
    if isinstance(found, Optional):
        _check_nulls(values.filter(there), field.type)
    return converted(values, found, field.type.with_nullable(True))


# --- leaves ------------------------------------------------------------------------------------


def _plain(values: pl.Series, wanted: t.DataType) -> pl.Series:
    # Avro's numbers become a DOUBLE by way of nothing else; floats of longs are rounded once.
    return values.cast(dtype(wanted))


def _int(values: pl.Series, wanted: t.DataType) -> pl.Series:
    """Flink takes the lowest bytes of an int for the smaller types."""
    ints = values.cast(pl.Int32, strict=False)
    if ints.null_count() > values.null_count():
        row = int((ints.is_null() & values.is_not_null()).arg_true()[0])
        raise BadValue(f"{values[row]} is not an int", row)
    match wanted:
        case t.Time():
            return _time(ints)
        case t.Date():
            return ints.cast(pl.Date)
    return ints.cast(dtype(wanted), wrap_numerical=True)


def _time(millis: pl.Series) -> pl.Series:
    outside = ((millis < 0) | (millis >= _DAY_MS)).fill_null(value=False)
    if outside.any():
        row = int(outside.arg_true()[0])
        raise BadValue(f"{millis[row]} ms is not a time of day", row)
    return (millis.cast(pl.Int64) * 1_000_000).cast(pl.Time)


def _long(values: pl.Series, wanted: t.DataType) -> pl.Series:
    if isinstance(wanted, t.BigInt):
        return values.cast(pl.Int64)
    assert isinstance(wanted, t.Timestamp | t.TimestampLtz)
    times = values.cast(pl.Int64)
    if wanted.precision <= 3:
        most = np.iinfo(np.int64).max // 1000
        far = times.is_between(-most, most).not_().fill_null(value=False)
        if far.any():
            row = int(far.arg_true()[0])
            raise BadValue(f"{times[row]} is not a time of this calendar", row)
        times = times * 1000
    return times.cast(dtype(wanted))


def _string(values: pl.Series, wanted: t.DataType) -> pl.Series:
    """As in Java, what is not UTF-8 becomes U+FFFD."""
    try:
        return values.cast(pl.String)
    except pl.exceptions.ComputeError:
        texts = [None if each is None else each.decode("utf-8", "replace") for each in values]
        return pl.Series(texts, dtype=pl.String)


def _bytes(values: pl.Series, wanted: t.DataType) -> pl.Series:
    return _decimal(values, wanted) if isinstance(wanted, t.Decimal) else values


_LEAVES: Final[Mapping[str, Callable[[pl.Series, t.DataType], pl.Series]]] = {
    "boolean": _plain,
    "float": _plain,
    "double": _plain,
    "int": _int,
    "long": _long,
    "string": _string,
    "bytes": _bytes,
}

_DAY_MS: Final = 86_400_000
_WIDTH: Final = 16  # the bytes of Arrow's decimals


def _decimal(values: pl.Series, wanted: t.Decimal) -> pl.Series:
    """Big-endian numbers of any length; those with too many digits are NULL."""
    sizes = values.bin.size().fill_null(0).to_numpy().astype(np.int64)
    there = values.is_not_null().to_numpy()
    if (empty := there & (sizes == 0)).any():
        raise BadValue("a decimal has no bytes", int(np.flatnonzero(empty)[0]))
    array = values.to_arrow(compat_level=pl.CompatLevel.oldest())
    data = np.frombuffer(array.buffers()[2] or b"", np.uint8)
    offsets = np.frombuffer(array.buffers()[1], np.int64)[array.offset :][: len(values) + 1]
    ends = offsets[1:]
    negative = np.zeros(len(values), np.bool_)
    negative[there] = data[offsets[:-1][there]] >= 0x80
    wide = np.where(negative, np.uint8(0xFF), np.uint8(0))[:, None].repeat(_WIDTH, axis=1)
    for place in range(min(_WIDTH, int(sizes.max(initial=0)))):  # little-endian
        has = sizes > place
        wide[has, place] = data[ends[has] - 1 - place]
    fits = there & ~_too_large(data, offsets, sizes, negative)
    return _digits(wide, fits, wanted)


def _too_large(data: Any, offsets: Any, sizes: Any, negative: Flags) -> Flags:
    """Numbers of more than 16 bytes, unless the first ones only repeat the sign."""
    large = np.zeros(len(sizes), np.bool_)
    for row in np.flatnonzero(sizes > _WIDTH):
        number = data[offsets[row] : offsets[row + 1]]
        sign = 0xFF if negative[row] else 0
        same_sign = (number[-_WIDTH] >= 0x80) == negative[row]
        large[row] = bool((number[:-_WIDTH] != sign).any()) or not same_sign
    return large


def _digits(wide: Any, fits: Flags, wanted: t.Decimal) -> pl.Series:
    halves = wide.view(np.int64)
    low, high = halves[:, 0].view(np.uint64), halves[:, 1]
    bound = 10**wanted.precision
    below = (high < bound >> 64) | (
        (high == bound >> 64) & (low < np.uint64(bound & (1 << 64) - 1))
    )
    least = (1 << 128) - bound  # in two's complement
    most_high = np.int64((least >> 64) - (1 << 64))
    above = (high > most_high) | ((high == most_high) & (low > np.uint64(least & (1 << 64) - 1)))
    valid = fits & np.where(high < 0, above, below)
    buffers = [pa.array(valid).buffers()[1], pa.py_buffer(np.ascontiguousarray(wide))]
    type_ = pa.decimal128(wanted.precision, wanted.scale)
    column = pl.from_arrow(pa.Array.from_buffers(type_, len(wide), buffers))
    assert isinstance(column, pl.Series)
    return column
