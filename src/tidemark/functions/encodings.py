"""Strings to bytes and back: character sets and Base64."""

from __future__ import annotations

from tidemark import types as t
from tidemark.functions.registry import Argument, Function, SignatureMismatch, SparkCall, scalar
from tidemark.functions.spark_text import string

_CHARSETS = ("US-ASCII", "ISO-8859-1", "UTF-8", "UTF-16BE", "UTF-16LE", "UTF-16")
_REPLACEMENT = "\ufffd"
# What a single-byte character set cannot encode, as a pattern.
_BEYOND = {"US-ASCII": r"[^\x00-\x7F]", "ISO-8859-1": r"[^\x00-\xFF]"}


def _checked_charset(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    name = arguments[1].value
    if isinstance(name, str) and name.upper() not in _CHARSETS:
        raise SignatureMismatch(
            f"unknown character set '{name}', expected one of {', '.join(_CHARSETS)}"
        )
    return tuple(argument.type for argument in arguments)


def _charset(call: SparkCall) -> str | None:
    name = call.literal(1)
    return name.upper() if isinstance(name, str) else None


def _write_encode(call: SparkCall) -> str:
    """Characters that the character set lacks become question marks; Spark would fail."""
    text, charset = call.args
    beyond = _BEYOND.get(_charset(call) or "")
    if beyond:
        text = f"regexp_replace({text}, {string(beyond)}, '?')"
    return f"encode({text}, {charset})"


def _write_decode(call: SparkCall) -> str:
    """Invalid bytes become U+FFFD; Spark would fail (and does for invalid UTF-16)."""
    data, charset = call.args
    if _charset(call) == "UTF-8":
        return f"make_valid_utf8(CAST({data} AS STRING))"
    if _charset(call) == "US-ASCII":
        latin = f"decode({data}, 'ISO-8859-1')"
        return f"regexp_replace({latin}, {string(_BEYOND['US-ASCII'])}, {string(_REPLACEMENT)})"
    return f"decode({data}, {charset})"


def _write_from_base64(call: SparkCall) -> str:
    text = call.args[0]
    if isinstance(call.type(0), t.BINARIES):
        text = f"CAST({text} AS STRING)"
    return f"make_valid_utf8(CAST(to_binary({text}, 'base64') AS STRING))"


FUNCTIONS: tuple[Function, ...] = (
    scalar(
        "ENCODE",
        "(string, string)",
        t.BYTES,
        _write_encode,
        category="string",
        summary="The string encoded in a character set, as bytes.",
        converts=_checked_charset,
    ),
    scalar(
        "DECODE",
        "(bytes, string)",
        t.STRING,
        _write_decode,
        category="string",
        summary="The bytes decoded from a character set, as a string.",
        converts=_checked_charset,
    ),
    scalar(
        "TO_BASE64",
        "(text)",
        t.STRING,
        "base64({0})",
        category="string",
        summary="The bytes, or the UTF-8 bytes of a string, in Base64.",
    ),
    scalar(
        "FROM_BASE64",
        "(text)",
        t.STRING,
        _write_from_base64,
        category="string",
        summary="The string decoded from Base64; invalid Base64 is an error.",
    ),
)
