"""Values to strings, as whole columns: what the text formats write alike."""

from __future__ import annotations

import polars as pl

from tidemark import types as t

# From here on, and below its inverse, Java writes a number with an exponent.
_LARGE, _SMALL = 1e7, 1e-3
# A decimal whose fraction begins so is written with one, too.
_SO_SMALL = "000000"


def text_of(value: pl.Expr, type_: t.DataType, *, iso_times: bool = False) -> pl.Expr:
    """The string of a value that is not nested. NULL remains NULL."""
    match type_:
        case t.Char() | t.VarChar():
            return value
        case t.Float() | t.Double():
            return _floating(value)
        case t.Decimal():
            return value.cast(pl.String)
        case t.Binary() | t.VarBinary():
            return value.bin.encode("base64")
        case t.Time():
            return _trimmed(value.dt.to_string("%H:%M:%S%.6f"))
        case t.Timestamp() | t.TimestampLtz():
            separator = "T" if iso_times else " "
            text = _trimmed(value.dt.to_string(f"%Y-%m-%d{separator}%H:%M:%S%.6f"))
            return text + "Z" if isinstance(type_, t.TimestampLtz) else text
        case _:
            return value.cast(pl.String)


def shortened(decimal: pl.Expr, type_: t.Decimal) -> pl.Expr:
    """A DECIMAL without zeros at its end, as Flink writes it: 1.50 is 1.5, and 1200 is 1.2E+3."""
    text = decimal.cast(pl.String)
    sign = pl.when(text.str.starts_with("-")).then(pl.lit("-")).otherwise(pl.lit(""))
    whole = text.str.strip_chars_start("-")
    if not type_.scale:
        return sign + _without_zeros(whole)
    split = whole.str.split_exact(".", 1).struct
    whole, fraction = split.field("field_0"), split.field("field_1").str.strip_chars_end("0")
    written = (
        pl.when(fraction == "")
        .then(_without_zeros(whole))
        .when((whole == "0") & fraction.str.starts_with(_SO_SMALL))
        .then(_small(fraction))
        .otherwise(whole + "." + fraction)
    )
    return sign + written


def _without_zeros(whole: pl.Expr) -> pl.Expr:
    """The digits of a number without a fraction; those that end with zeros with an exponent."""
    digits = whole.str.strip_chars_end("0")
    exponent = (whole.str.len_bytes().cast(pl.Int64) - 1).cast(pl.String)
    shown = _mantissa(digits) + "E+" + exponent
    return pl.when((digits == whole) | (whole == "0")).then(whole).otherwise(shown)


def _small(fraction: pl.Expr) -> pl.Expr:
    digits = fraction.str.strip_chars_start("0")
    zeros = fraction.str.len_bytes().cast(pl.Int64) - digits.str.len_bytes()
    return _mantissa(digits) + "E-" + (zeros + 1).cast(pl.String)


def _mantissa(digits: pl.Expr) -> pl.Expr:
    """One digit before the point."""
    rest = digits.str.slice(1)
    point = pl.when(rest == "").then(pl.lit("")).otherwise(pl.lit("."))
    return digits.str.slice(0, 1) + point + rest


def _trimmed(text: pl.Expr) -> pl.Expr:
    """Without zeros at the end of the fraction."""
    return text.str.strip_chars_end("0").str.strip_chars_end(".")


def _floating(value: pl.Expr) -> pl.Expr:
    """As Java does, with the fewest digits that tell a number from all others."""
    text, size = value.cast(pl.String), value.abs()
    plain = ((size >= _SMALL) & (size < _LARGE)) | (size == 0) | value.is_nan()
    infinite = pl.when(value > 0).then(pl.lit("Infinity")).otherwise(pl.lit("-Infinity"))
    return (
        pl.when(plain)
        .then(text)
        .when(value.is_infinite())
        .then(infinite)
        .otherwise(_exponent(text))
    )


def _exponent(text: pl.Expr) -> pl.Expr:
    """The digits of a number as 1.23E45."""
    parts = text.str.extract_groups(r"^(-?)([0-9]+)(?:\.([0-9]+))?(?:e([+-]?[0-9]+))?$").struct
    sign, whole, power = parts.field("1"), parts.field("2"), parts.field("4")
    digits = whole + parts.field("3").fill_null("")
    significant = digits.str.strip_chars_start("0")
    zeros = digits.str.len_bytes().cast(pl.Int64) - significant.str.len_bytes()
    exponent = power.cast(pl.Int64).fill_null(0) + whole.str.len_bytes() - 1 - zeros
    shown = significant.str.strip_chars_end("0")
    rest = shown.str.slice(1)
    fraction = pl.when(rest == "").then(pl.lit("0")).otherwise(rest)
    return sign + shown.str.slice(0, 1) + "." + fraction + "E" + exponent.cast(pl.String)
