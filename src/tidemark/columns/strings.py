"""Functions over strings. Characters are code points, as in Spark."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import polars as pl

from tidemark import types as t
from tidemark.columns.call import ColumnCall, WriteColumn
from tidemark.columns.refusals import NotInColumns
from tidemark.columns.repeating import for_each_row_of

_WORDS = "[A-Za-z0-9]+|[^A-Za-z0-9]+"
_CHARACTER = "(?s)."
_TWO_UNITS = r"[\x{10000}-\x{10FFFF}]"
# What Java's `Character.isWhitespace` is true for.
_WHITESPACE = (
    r"[\t-\r\x1C-\x20\x{1680}\x{2000}-\x{2006}\x{2008}-\x{200A}\x{2028}\x{2029}\x{205F}\x{3000}]"
)


def _known(*values: pl.Expr) -> pl.Expr:
    """Whether none of the values is NULL."""
    return reduce(lambda a, b: a & b, (value.is_not_null() for value in values))


def _if_known(result: pl.Expr, *values: pl.Expr) -> pl.Expr:
    """The result where none of the values is NULL; Polars takes a NULL argument for its default."""
    return pl.when(_known(*values)).then(result)


def length(text: pl.Expr) -> pl.Expr:
    return text.str.len_chars().cast(pl.Int32)


def _at_least(number: pl.Expr, least: int) -> pl.Expr:
    return number.clip(lower_bound=least)


# --- case and ends -----------------------------------------------------------------------------


def _initcap(call: ColumnCall) -> pl.Expr:
    """Words are runs of ASCII letters and digits; everything else is unchanged."""
    word = pl.element()
    capitalized = word.str.head(1).str.to_uppercase() + word.str.slice(1).str.to_lowercase()
    each = pl.when(word.str.contains("^[A-Za-z0-9]")).then(capitalized).otherwise(word)
    return call.args[0].str.extract_all(_WORDS).list.eval(each).list.join("")


def _trimmed(text: pl.Expr, characters: pl.Expr, side: str) -> pl.Expr:
    strip = {
        "BOTH": text.str.strip_chars,
        "LEADING": text.str.strip_chars_start,
        "TRAILING": text.str.strip_chars_end,
    }[side]
    return _if_known(strip(characters), characters)


def _trim(call: ColumnCall) -> pl.Expr:
    if len(call.args) == 1:
        return call.args[0].str.strip_chars(" ")
    return _trimmed(call.args[2], call.args[1], str(call.literal(0)).upper())


def _trim_side(side: str) -> WriteColumn:
    def write(call: ColumnCall) -> pl.Expr:
        characters = call.args[1] if len(call.args) == 2 else pl.lit(" ")
        return _trimmed(call.args[0], characters, side)

    return write


def _pad(on_the_left: bool) -> WriteColumn:
    def write(call: ColumnCall) -> pl.Expr:
        text, size, filler = call.args
        size = size.cast(pl.Int64)
        missing = _at_least(size - text.str.len_chars().cast(pl.Int64), 0)
        added = repeated(filler, missing).str.head(missing)
        kept = text.str.head(_at_least(size, 0))
        padded = added + kept if on_the_left else kept + added
        return pl.when((size >= 0) & (filler != "")).then(padded)

    return write


# --- parts -------------------------------------------------------------------------------------


def _substring(call: ColumnCall) -> pl.Expr:
    """Positions start at one; negative ones count from the end; past the end it is the empty
    string.
    """
    text, start, *length_ = call.args
    offset = pl.when(start > 0).then(start.cast(pl.Int64) - 1).otherwise(start.cast(pl.Int64))
    before = start < -length(text)
    if not length_:
        part = text.str.slice(offset)
        return _if_known(pl.when(before).then(pl.lit("")).otherwise(part), text, start)
    part = text.str.slice(offset, _at_least(length_[0], 0))
    inside = pl.when(before).then(pl.lit("")).otherwise(part)
    return pl.when(_known(text, start) & (length_[0] >= 0)).then(inside)


def _left(call: ColumnCall) -> pl.Expr:
    text, count = call.args
    return _if_known(text.str.head(_at_least(count, 0)), count)


def _right(call: ColumnCall) -> pl.Expr:
    text, count = call.args
    return _if_known(text.str.tail(_at_least(count, 0)), count)


def _overlay(call: ColumnCall) -> pl.Expr:
    """A position outside the string replaces nothing; a length of zero drops the rest."""
    text, new, start, *count = call.args
    size = (count[0] if count else length(new)).cast(pl.Int64)
    offset = start.cast(pl.Int64) - 1
    rest = pl.when(size > 0).then(text.str.slice(offset + size)).otherwise(pl.lit(""))
    inside = (start >= 1) & (start <= length(text))
    replaced = text.str.head(_at_least(offset, 0)) + new + rest
    whole = pl.when(inside).then(replaced).otherwise(text)
    return _if_known(whole, text, new, start, *count)


def _reversed(text: pl.Expr) -> pl.Expr:
    return text.str.extract_all(_CHARACTER).list.reverse().list.join("")


def _split_index(call: ColumnCall) -> pl.Expr:
    """The part at a zero-based position, NULL if there is none."""
    text, separator, index = call.args
    if isinstance(call.type(1), t.INTEGERS):
        code = call.constant(1, "a character code")
        separator = pl.lit(chr(code) if code and 1 <= code <= 255 else None, dtype=pl.String)
    parts = for_each_row_of(separator, text).str.split(separator)
    if not call.literal(1):
        # Without a separator, the string is split at whitespace.
        spaced = text.str.replace_all(_WHITESPACE, " ").str.split(" ")
        parts = pl.when(separator == "").then(spaced).otherwise(parts)
    part = parts.list.get(_at_least(index, 0), null_on_oob=True)
    return _if_known(pl.when((text != "") & (index >= 0)).then(part), separator)


def _elt(call: ColumnCall) -> pl.Expr:
    index, *elements = call.args
    nothing = pl.lit(None)
    return reduce(
        lambda rest, numbered: pl.when(index == numbered[0]).then(numbered[1]).otherwise(rest),
        reversed(list(enumerate(elements, start=1))),
        nothing,
    )


# --- searching and replacing -------------------------------------------------------------------


def position(wanted: pl.Expr, text: pl.Expr) -> pl.Expr:
    """Where the string begins in the text, counted from one; 0 if it does not."""
    parts = for_each_row_of(wanted, text).str.splitn(wanted, 2)
    found = pl.when(parts.struct.field("field_1").is_not_null()).then(
        length(parts.struct.field("field_0")) + 1
    )
    place = pl.when(wanted == "").then(pl.lit(1, dtype=pl.Int32)).otherwise(found.fill_null(0))
    return _if_known(place, wanted, text)


def _position(call: ColumnCall) -> pl.Expr:
    """A start below one counts as one."""
    wanted, text, *start = call.args
    if not start or call.literal(2) == 1:
        return position(wanted, text)
    return _if_known(_position_from(wanted, text, _at_least(start[0].cast(pl.Int64), 1)), start[0])


def _position_from(wanted: pl.Expr, text: pl.Expr, start: pl.Expr) -> pl.Expr:
    """The position of the first occurrence from `start` on, which is at least one."""
    skipped = start - 1
    found = position(wanted, text.str.slice(skipped))
    return (
        pl.when((found == 0) | (wanted == "")).then(found).otherwise(found + skipped).cast(pl.Int32)
    )


def _instr(call: ColumnCall) -> pl.Expr:
    """Zero finds nothing, and a negative start searches backward from the end."""
    text, wanted, *rest = call.args
    if call.literal(3, 1) != 1:
        raise NotInColumns("INSTR of a later occurrence")  # each would repeat the one before
    if not rest or call.literal(2) == 1:
        return position(wanted, text)
    first = rest[0].cast(pl.Int64)
    forward = _position_from(wanted, text, _at_least(first, 1))
    backward = _position_from(_reversed(wanted), _reversed(text), _at_least(-first, 1))
    place = length(text) + 2 - backward - length(wanted)
    found = pl.when(first > 0).then(forward).when(backward > 0).then(place).otherwise(0)
    nothing = (first == 0) & _known(text, wanted)
    return _if_known(pl.when(nothing).then(0).otherwise(found), first, text, wanted).cast(pl.Int32)


def _replace(call: ColumnCall) -> pl.Expr:
    text, wanted, new = call.args
    known = call.literal(1)
    if known:
        return for_each_row_of(new, text).str.replace_all(known, new.fill_null(""), literal=True)
    parts = for_each_row_of(wanted, text).str.split(wanted).list.join(new)
    result = pl.when(wanted == "").then(_around_characters(text, new)).otherwise(parts)
    return _if_known(result, text, wanted, new)


def _around_characters(text: pl.Expr, new: pl.Expr) -> pl.Expr:
    """The new string around all characters; Java also puts it into those of two units."""
    units = text.str.replace_all(_TWO_UNITS, "??").str.extract_all(_CHARACTER)
    inside = for_each_row_of(new, units).list.join(new)
    around = pl.when(text == "").then(new).otherwise(new + inside + new)
    return pl.when(new == "").then(text).otherwise(around)


def _translate(call: ColumnCall) -> pl.Expr:
    """Characters without a counterpart are dropped; the first counterpart counts."""
    old = call.constant(1, "characters") or ""
    new = call.constant(2, "characters") or ""
    table: dict[str, str] = {}
    for place, character in enumerate(old):
        table.setdefault(character, new[place] if place < len(new) else "")
    if not table:
        return call.args[0]
    return call.args[0].str.replace_many(list(table), list(table.values()))


# --- put together ------------------------------------------------------------------------------


def repeated(text: pl.Expr, count: pl.Expr) -> pl.Expr:
    times = _at_least(count.cast(pl.Int64), 0)
    return _if_known(text.repeat_by(times).list.join(""), text, count)


def _concat(call: ColumnCall) -> pl.Expr:
    return pl.concat_str(*(arg.cast(pl.String) for arg in call.args))


def _concat_ws(call: ColumnCall) -> pl.Expr:
    separator, *texts = call.args
    if not texts:
        return _if_known(pl.lit(""), separator)
    listed = pl.concat_list(*texts).list.drop_nulls()
    return for_each_row_of(separator, listed).list.join(separator)


# --- tests and codes ---------------------------------------------------------------------------


def _ends(text: str, bytes_: str) -> WriteColumn:
    def write(call: ColumnCall) -> pl.Expr:
        value, wanted = call.args
        if isinstance(call.type(0), t.BINARIES):
            return getattr(value.bin, bytes_)(wanted)  # type: ignore[no-any-return]
        return getattr(value.str, text)(wanted)  # type: ignore[no-any-return]

    return write


def _ascii(call: ColumnCall) -> pl.Expr:
    """The first byte of the UTF-8 string as a signed Java byte; 0 if there is none."""
    first = call.args[0].str.encode("hex").str.head(2).str.to_integer(base=16, strict=False)
    return _if_known(first.fill_null(0).cast(pl.Int8, wrap_numerical=True), call.args[0]).cast(
        pl.Int32
    )


def _chr(call: ColumnCall) -> pl.Expr:
    """The character with a code modulo 256; none for a negative code."""
    characters = pl.lit(pl.Series([chr(code) for code in range(256)]))
    found = characters.gather((call.args[0] % 256).fill_null(0).cast(pl.UInt32))
    named = pl.when(call.args[0] < 0).then(pl.lit("")).otherwise(found)
    return _if_known(named, call.args[0])


def _simple(write: Callable[[pl.Expr], pl.Expr]) -> WriteColumn:
    return lambda call: write(call.args[0])


COLUMNS: dict[str, WriteColumn] = {
    "UPPER": _simple(lambda text: text.str.to_uppercase()),
    "LOWER": _simple(lambda text: text.str.to_lowercase()),
    "INITCAP": _initcap,
    "TRIM": _trim,
    "LTRIM": _trim_side("LEADING"),
    "RTRIM": _trim_side("TRAILING"),
    "BTRIM": _trim_side("BOTH"),
    "LPAD": _pad(on_the_left=True),
    "RPAD": _pad(on_the_left=False),
    "CHAR_LENGTH": _simple(length),
    "SUBSTRING": _substring,
    "LEFT": _left,
    "RIGHT": _right,
    "OVERLAY": _overlay,
    "REVERSE": _simple(_reversed),
    "SPLIT_INDEX": _split_index,
    "ELT": _elt,
    "POSITION": _position,
    "INSTR": _instr,
    "REPLACE": _replace,
    "TRANSLATE": _translate,
    "REPEAT": lambda call: repeated(*call.args),
    "||": _concat,
    "CONCAT": _concat,
    "CONCAT_WS": _concat_ws,
    "STARTSWITH": _ends("starts_with", "starts_with"),
    "ENDSWITH": _ends("ends_with", "ends_with"),
    "ASCII": _ascii,
    "CHR": _chr,
}
