"""CAST and TRY_CAST in columns."""

from __future__ import annotations

import polars as pl

from tidemark import types as t
from tidemark.columns import moments
from tidemark.columns.call import Active
from tidemark.columns.from_strings import from_string
from tidemark.columns.nested_casts import cast_elements, check_keys, entries_of
from tidemark.columns.numbers import to_number
from tidemark.columns.refusals import NotInColumns
from tidemark.columns.to_strings import to_string
from tidemark.columns.types import polars_type
from tidemark.functions.spark_text import safe_names

_NUMBERS = (*t.NUMERICS, t.Boolean)
_WITH_DATE = (t.Date, *t.TIMESTAMPS)


def cast(
    value: pl.Expr, source: t.DataType, target: t.DataType, active: Active, *, safe: bool = False
) -> pl.Expr:
    """The value converted to `target`. One that cannot be converted fails the job, or is NULL if
    `safe`.
    """
    kind = polars_type(target)
    if isinstance(source, t.Null):
        return value.cast(kind)
    if _holds_as_it_is(source, target):
        return value
    if isinstance(source, _NUMBERS) and isinstance(target, t.Boolean):
        return value != 0 if not isinstance(source, t.Boolean) else value
    if isinstance(source, _NUMBERS) and isinstance(target, t.NUMERICS):
        return to_number(value, source, target)
    if isinstance(source, t.INTERVALS) and isinstance(target, t.INTERVALS):
        return value
    if isinstance(source, (t.Time, *_WITH_DATE)) and isinstance(target, (t.Time, *_WITH_DATE)):
        return _to_moment(value, source, target, active.surroundings.zone)
    if isinstance(target, t.CHARACTERS):
        strings = isinstance(source, t.CHARACTERS)
        return to_length(value if strings else to_string(value, source, active), source, target)
    if isinstance(source, t.CHARACTERS) and not isinstance(target, t.BINARIES):
        return from_string(value, target, active, safe=safe)
    if isinstance(target, t.BINARIES):
        return _to_bytes(value, source, target)
    if not safe and (nested := _nested(value, source, target, active)) is not None:
        return nested
    raise NotInColumns(f"CAST of {source.text()} to {target.text()}")


def _nested(
    value: pl.Expr, source: t.DataType, target: t.DataType, active: Active
) -> pl.Expr | None:
    match source, target:
        case t.Row(), t.Row():
            return _to_row(value, source, target, active)
        case t.Array(element=old), t.Array(element=new):
            return cast_elements(
                value, target, active, lambda each, inside: cast(each, old, new, inside)
            )
        case t.Map(), t.Map():
            check_keys(source, target)
            entries = value.map.entries()
            cast_entries = cast(entries, entries_of(source), entries_of(target), active)
            return cast_entries.cast(polars_type(target))
    return None


def _to_row(value: pl.Expr, source: t.Row, target: t.Row, active: Active) -> pl.Expr:
    """Rows are cast by position, whatever their fields are called."""
    given = value.is_not_null()
    names = (safe_names([field.name for field in type_.fields]) for type_ in (source, target))
    fields = [
        cast(value.struct.field(old), a.type, b.type, active.where(given)).alias(new)
        for old, new, a, b in zip(*names, source.fields, target.fields, strict=True)
    ]
    return pl.when(given).then(pl.struct(fields))


def _holds_as_it_is(source: t.DataType, target: t.DataType) -> bool:
    """Whether the types are the same but for which of their parts may be NULL, and how long strings
    may be.
    """
    match source, target:
        case (t.Array(element=a), t.Array(element=b)) | (
            t.Multiset(element=a),
            t.Multiset(element=b),
        ):
            return _holds_as_it_is(a, b)
        case (t.Map(), t.Map()):
            pairs = [(source.key, target.key), (source.value, target.value)]
            return all(_holds_as_it_is(a, b) for a, b in pairs)
        case (t.Row(fields=old), t.Row(fields=new)) if len(old) == len(new):
            named = zip(old, new, strict=True)
            return all(a.name == b.name and _holds_as_it_is(a.type, b.type) for a, b in named)
        case (t.Char(length=given) | t.VarChar(length=given), t.VarChar(length=most)):
            return given <= most
    return source.same_as(target)


# --- times -------------------------------------------------------------------------------------


def _to_moment(value: pl.Expr, source: t.DataType, target: t.DataType, zone: str) -> pl.Expr:
    """A date, time or timestamp as another one, without digits that the target lacks."""
    moved = value if type(source) is type(target) else _converted(value, source, target, zone)
    if isinstance(target, t.Date):
        return moved
    given = 0 if isinstance(source, t.Date) else source.precision  # type: ignore[attr-defined]
    return moments.cut(moved, target, given, target.precision)  # type: ignore[attr-defined]


def _converted(value: pl.Expr, source: t.DataType, target: t.DataType, zone: str) -> pl.Expr:
    clock = moments.session_clock(value, source, zone)
    if isinstance(target, t.TimestampLtz):
        return moments.to_instant(clock, zone)
    return moments.of_clock(clock, target)


# --- strings -----------------------------------------------------------------------------------


def _to_bytes(value: pl.Expr, source: t.DataType, target: t.DataType) -> pl.Expr:
    assert isinstance(target, t.Binary | t.VarBinary)
    data = value.cast(pl.Binary)
    if isinstance(target, t.Binary):
        raise NotInColumns(f"CAST of {source.text()} to {target.text()}")
    fits = isinstance(source, t.BINARIES) and source.length <= target.length
    return data if fits or target.length == t.MAX_LENGTH else data.bin.head(target.length)


def to_length(value: pl.Expr, source: t.DataType, target: t.DataType) -> pl.Expr:
    """A string truncated, and for CHAR padded with blanks, to the length of its new type."""
    assert isinstance(target, t.Char | t.VarChar)
    fits = isinstance(source, t.CHARACTERS) and source.length <= target.length
    kept = value if fits or target.length == t.MAX_LENGTH else value.str.head(target.length)
    return kept.str.pad_end(target.length) if isinstance(target, t.Char) else kept
