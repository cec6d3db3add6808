"""Records that cannot be read: how one makes Spark fail, and how that failure is reported.

The failing row raises inside Spark with a message that contains what is known there. When the
exception reaches the driver, `data_error_from` reads it, looks up the record in its file for the
line number, and returns an error for users.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tidemark.errors import DataError
from tidemark.formats.json_reasons import beyond_limits, why_unreadable
from tidemark.formats.problems import data_error
from tidemark.spark.error_details import details_in, with_details

_STRANGE = re.compile("\ufffd+")
# The message is copied many times; what is beyond this is looked up in the file.
_CARRIED = 100_000


def raising(*, record: str | None = None, **facts: str) -> str:
    """A Spark expression that fails with these details: names to Spark expressions of strings."""
    if record is not None:
        facts["record"] = f"substring({record}, 1, {_CARRIED})"
        facts["length"] = f"length({record})"
    return f"raise_error({with_details(facts)})"


def data_error_from(failure: BaseException) -> DataError | None:
    """The bad record that made Spark fail, if that is what happened."""
    facts = details_in(failure)
    return None if facts is None else _describe(facts)


def _describe(facts: Mapping[str, Any]) -> DataError:
    file = facts.get("file")
    line, found = _look_up(file, facts)
    record = facts.get("record") if found is None else found
    value = facts.get("value")
    return data_error(
        facts["problem"],
        why=facts.get("reason") or _why(found, facts),
        file=file,
        number=line,
        value=None if value is None else str(value),
        record=record,
        hint=facts.get("hint"),
    )


def _why(found: str | None, facts: Mapping[str, Any]) -> str:
    """Why a record is not JSON, even if only its beginning is known."""
    record = facts.get("record") or ""
    length = int(facts.get("length") or len(record))
    if found is not None or len(record) >= length:
        return why_unreadable(record if found is None else found)
    return beyond_limits(record) or (
        f"not valid JSON, beyond its first {len(record):,} characters; it has {length:,}"
    )


def _look_up(file: str | None, facts: Mapping[str, Any]) -> tuple[int | None, str | None]:
    """The number and text of the line that the details are about."""
    wanted = _matcher(facts)
    if file is None or wanted is None:
        return None, None
    try:
        for number, line in enumerate(_lines(file), start=1):
            if wanted(line):
                return number, line
    except (OSError, UnicodeError):
        pass  # the error is useful without its line number too
    return None, None


def _matcher(facts: Mapping[str, Any]) -> Callable[[str], bool] | None:
    record, value = facts.get("record"), facts.get("value")
    if record is not None:
        first = _comparable(record.split("\n", 1)[0])
        if len(record) < int(facts.get("length") or 0):
            return lambda line: _comparable(line).startswith(first)
        return lambda line: _comparable(line) == first
    if facts.get("column") is None or value is None:
        return None
    return lambda line: _has_value(line, facts["column"], value)


def _comparable(line: str) -> str:
    """The line without what readers see differently: bytes that are not UTF-8, line ends."""
    return _STRANGE.sub("\ufffd", line.strip("\ufeff\r"))


def _has_value(line: str, column: str, value: str) -> bool:
    try:
        parsed = json.loads(line, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return False
    rows = parsed if isinstance(parsed, list) else [parsed]
    return any(
        leaf == value for row in rows if isinstance(row, dict) for leaf in _leaves(row.get(column))
    )


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for child in value.values() if isinstance(value, dict) else value:
            yield from _leaves(child)
        yield json.dumps(value)
    elif value is not None:
        yield json.dumps(value) if isinstance(value, bool) else str(value)


def _lines(file: str) -> Iterator[str]:
    opener = gzip.open if file.endswith(".gz") else open
    with opener(file, "rt", encoding="utf-8", errors="replace", newline="\n") as lines:
        for line in lines:
            yield line.rstrip("\r\n")
