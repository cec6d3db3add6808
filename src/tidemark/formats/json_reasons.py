"""Why a record cannot be read as JSON, determined where the error is reported.

Spark's parser only says that it cannot. Its limits are those of Flink's, which is the same one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

MAX_DEPTH = 1_000
MAX_NUMBER = 1_000
MAX_STRING = 20_000_000
MAX_NAME = 50_000

# A string with the colon that makes it a name, a number, or a bracket. None of them is matched
# again from its middle: a record may be long.
_TOKEN = re.compile(
    r'"(?P<string>[^"\\]*+(?:\\.[^"\\]*+)*+)"(?P<colon>\s*+:)?'
    r"|(?P<number>-?[0-9][0-9.eE+-]*+)|(?P<open>[\[{])|(?P<close>[\]}])",
    re.DOTALL,
)


def why_unreadable(record: str) -> str:
    """What is wrong with a whole record that the parser has rejected."""
    return beyond_limits(record) or _malformed(record)


def beyond_limits(record: str) -> str | None:
    """The parser's limit that the record, or its beginning, exceeds."""
    return next(_excesses(record), None)


def _excesses(record: str) -> Iterator[str]:
    depth = 0
    for token in _TOKEN.finditer(record):
        depth += (token["open"] is not None) - (token["close"] is not None)
        if depth > MAX_DEPTH:
            yield f"it is nested more than {MAX_DEPTH:,} deep"
        if token["colon"] and len(token["string"]) > MAX_NAME:
            yield _too_long("a name", len(token["string"]), MAX_NAME)
        elif token["string"] and not token["colon"] and len(token["string"]) > MAX_STRING:
            yield _too_long("a string", len(token["string"]), MAX_STRING)
        elif token["number"] and len(token["number"]) > MAX_NUMBER:
            yield _too_long("a number", len(token["number"]), MAX_NUMBER)


def _too_long(what: str, length: int, limit: int) -> str:
    return f"{what} has {length:,} characters; {limit:,} is the limit"


def _malformed(record: str) -> str:
    if not record.strip():
        return "it has only white space"
    try:
        # A control character in a string is accepted; NaN is not, although Python would.
        value = json.loads(record.strip("\ufeff"), strict=False, parse_constant=_not_json)
    except ValueError as problem:
        return f"not valid JSON: {problem}"
    except RecursionError:
        return "not valid JSON, or the structure of a value does not match the type of its column"
    objects = value if isinstance(value, list) else [value]
    if not all(isinstance(each, dict) for each in objects):
        return "not a JSON object"
    return "the structure of a value does not match the type of its column"


def _not_json(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")
