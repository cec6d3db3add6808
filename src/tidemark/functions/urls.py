"""Functions over URLs and Internet addresses."""

from __future__ import annotations

from tidemark import types as t
from tidemark.functions.java_regex import quoted
from tidemark.functions.registry import Function, SparkCall, scalar
from tidemark.functions.spark_text import string

# Flink parses URLs with java.net.URL, which knows few protocols and is lenient otherwise; Spark's
# parse_url is strict. These patterns parse a URL like the former; the first group of each is the
# part, and a URL without it does not match.
_BEFORE = r"(?s)\A[\x00-\x20]*(?i:url:)?"
_PROTOCOL = r"(?i:https?|ftp|file|mailto|jar):"
_HOST = r"(?:\[[^\]/?#]*\]|[^\[\]@:/?#]*)"
_PORT = r"(?::[0-9]*)?(?=[/?#]|[\x00-\x20]*\z)"
_USER = r"(?:[^@/?#]*@)?"
_AUTHORITY = rf"(?://{_USER}{_HOST}{_PORT}|(?!//))"
_PATH = r"[^?#]*?"
_QUERY = r"(?:\?[^#]*?)?"
_REF = r"(?:#.*?)?"
_AFTER = r"[\x00-\x20]*\z"
_REST = _PATH + _QUERY + _REF + _AFTER

PARTS = {
    "PROTOCOL": f"{_BEFORE}({_PROTOCOL[:-1]}):{_AUTHORITY}{_REST}",
    "HOST": f"{_BEFORE}{_PROTOCOL}(?://{_USER}({_HOST}){_PORT}|(?!//)){_REST}",
    "PATH": f"{_BEFORE}{_PROTOCOL}{_AUTHORITY}({_PATH}){_QUERY}{_REF}{_AFTER}",
    "QUERY": rf"{_BEFORE}{_PROTOCOL}{_AUTHORITY}{_PATH}\?([^#]*?){_REF}{_AFTER}",
    "REF": f"{_BEFORE}{_PROTOCOL}{_AUTHORITY}{_PATH}{_QUERY}#(.*?){_AFTER}",
    "FILE": f"{_BEFORE}{_PROTOCOL}{_AUTHORITY}({_PATH}{_QUERY}){_REF}{_AFTER}",
    "AUTHORITY": f"{_BEFORE}{_PROTOCOL}//({_USER}{_HOST}{_PORT}){_REST}",
    "USERINFO": f"{_BEFORE}{_PROTOCOL}//([^@/?#]*)@{_HOST}{_PORT}{_REST}",
}
_BEFORE_KEY = rf"{_BEFORE}{_PROTOCOL}{_AUTHORITY}{_PATH}\?(?:[^#]*?&)??"
_AFTER_KEY = rf"=([^&#]*?)(?:&[^#]*?)?{_REF}{_AFTER}"


def _write_parse_url(call: SparkCall) -> str:
    url, part, *key = call.args
    if key:
        only_query = f"CASE {part} WHEN 'QUERY' THEN {_key_pattern(call)} END"
        return _first_group(url, only_query)
    name = call.literal(1)
    if isinstance(name, str):
        return _write_part(url, name)
    patterns = " ".join(f"WHEN '{n}' THEN {string(pattern)}" for n, pattern in PARTS.items())
    found = _first_group(url, f"CASE {part} {patterns} END")
    return f"CASE {part} WHEN 'PROTOCOL' THEN lower({found}) ELSE {found} END"


def _write_part(url: str, name: str) -> str:
    if name not in PARTS:
        return "CAST(NULL AS STRING)"
    found = _first_group(url, string(PARTS[name]))
    return f"lower({found})" if name == "PROTOCOL" else found


def _first_group(url: str, pattern: str) -> str:
    return f"CASE WHEN {url} RLIKE {pattern} THEN regexp_extract({url}, {pattern}, 1) END"


def key_pattern(key: str) -> str:
    """The pattern of a URL whose query has a key, which is written as a pattern; the first group is
    the value.
    """
    return _BEFORE_KEY + key + _AFTER_KEY


def _key_pattern(call: SparkCall) -> str:
    key = quoted(call.args[2], call.literal(2))
    return f"concat({string(_BEFORE_KEY)}, {key}, {string(_AFTER_KEY)})"


_BYTE = "0*(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
ADDRESS = rf"\A{_BYTE}(?:\.{_BYTE}){{0,3}}\z"


def _write_inet_aton(call: SparkCall) -> str:
    """The last number is the lowest byte however many there are: `1.2` is 1.0.0.2."""
    address = call.args[0]
    none_yet = "named_struct('total', 0L, 'last', 0L, 'weight', 4294967296L)"
    total = "_tm_sum.total + _tm_sum.last * _tm_sum.weight"
    step = (
        f"named_struct('total', {total}, 'last', CAST(_tm_byte AS BIGINT), "
        "'weight', shiftright(_tm_sum.weight, 8))"
    )
    return (
        f"CASE WHEN {address} RLIKE {string(ADDRESS)} "
        f"THEN aggregate(split({address}, '[.]'), {none_yet}, (_tm_sum, _tm_byte) -> {step}, "
        "_tm_sum -> _tm_sum.total + _tm_sum.last) END"
    )


def _write_inet_ntoa(call: SparkCall) -> str:
    number = f"CAST({call.args[0]} AS BIGINT)"
    each = f"CAST(shiftright({number}, _tm_shift) & 255 AS STRING)"
    dotted = f"array_join(transform(array(24, 16, 8, 0), _tm_shift -> {each}), '.')"
    return f"CASE WHEN {number} BETWEEN 0 AND 4294967295 THEN {dotted} END"


FUNCTIONS: tuple[Function, ...] = (
    scalar(
        "URL_ENCODE",
        "(string)",
        t.STRING,
        "url_encode({0})",
        category="string",
        summary="The string URL-encoded, as in HTML forms.",
        strict=False,
    ),
    scalar(
        "URL_DECODE",
        "(string)",
        t.STRING,
        "try_url_decode({0})",
        category="string",
        summary="The URL-decoded string; NULL if it is not validly encoded.",
        strict=False,
    ),
    scalar(
        "PARSE_URL",
        "(string, string, [string])",
        t.STRING,
        _write_parse_url,
        category="string",
        summary="A part of a URL: HOST, PATH, QUERY, REF, PROTOCOL, AUTHORITY, FILE or USERINFO.",
        strict=False,
    ),
    scalar(
        "INET_ATON",
        "(string)",
        t.BigInt(),
        _write_inet_aton,
        category="string",
        summary="The number of an IPv4 address; NULL if it is not a valid address.",
        strict=False,
    ),
    scalar(
        "INET_NTOA",
        "(integer)",
        t.STRING,
        _write_inet_ntoa,
        category="string",
        summary="The IPv4 address of a number; NULL if it does not fit in 32 bits.",
        strict=False,
    ),
)
