"""Records that cannot be read: how one makes Spark fail, and how that failure is told.

The failing row raises inside Spark with a message that carries what is known there. When the
exception reaches the driver, `data_error_from` reads it back, looks the record up in its file for
the line number, and gives an error that a person can act on.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tidemark.errors import DataError
from tidemark.functions import spark_text

_MARK = "TIDEMARK_RECORD:"
_PAYLOAD = re.compile(_MARK + r"([0-9A-F]+)")
_SHOWN = 300


def raising(**facts: str) -> str:
    """A Spark expression that fails with the facts: names to Spark expressions of strings."""
    pairs = ", ".join(f"{spark_text.string(name)}, {sql}" for name, sql in facts.items())
    return f"raise_error(concat('{_MARK}', hex(to_json(named_struct({pairs})))))"


def data_error_from(failure: BaseException) -> DataError | None:
    """The bad record that made Spark fail, if that is what happened."""
    match = _PAYLOAD.search(_whole_text(failure))
    if match is None:
        return None
    return _describe(json.loads(bytes.fromhex(match[1]).decode("utf-8", "replace")))


def _whole_text(failure: BaseException) -> str:
    parts: list[str] = []
    current: BaseException | None = failure
    while current is not None:
        parts.append(str(current))
        current = current.__cause__ or current.__context__
    return "\n".join(parts)


def _describe(facts: Mapping[str, Any]) -> DataError:
    file, record = facts.get("file"), facts.get("record")
    line, found = _look_up(file, facts)
    record = record or found
    place = f"{file or 'a record'}{f':{line}' if line else ''}"
    notes: dict[str, object] = {"why": facts.get("reason") or _why_not_json(record)}
    if facts.get("value") is not None:
        notes["value"] = repr(facts["value"])
    if record:
        notes["record"] = record if len(record) <= _SHOWN else record[:_SHOWN] + " ..."
    return DataError(f"{place}  {facts['problem']}", notes=notes, hint=facts.get("hint"))


def _why_not_json(record: str | None) -> str:
    try:
        value = json.loads(record or "")
    except ValueError as problem:
        return f"not valid JSON: {problem}"
    if not isinstance(value, dict):
        return "not a JSON object"
    return "the structure of a value does not match the type of its column"


def _look_up(file: str | None, facts: Mapping[str, Any]) -> tuple[int | None, str | None]:
    """The number and text of the line that the facts speak of."""
    wanted = _matcher(facts)
    if file is None or wanted is None:
        return None, None
    try:
        for number, line in enumerate(_lines(file), start=1):
            if wanted(line):
                return number, line
    except (OSError, UnicodeError):
        pass  # The error is worth telling without its line number too.
    return None, None


def _matcher(facts: Mapping[str, Any]) -> Callable[[str], bool] | None:
    record, value = facts.get("record"), facts.get("value")
    if record is not None:
        first = record.split("\n", 1)[0]
        return lambda line: line == first
    if facts.get("column") is None or value is None:
        return None
    return lambda line: _has_value(line, facts["column"], value)


def _has_value(line: str, column: str, value: str) -> bool:
    try:
        parsed = json.loads(line, parse_float=str, parse_int=str)
    except ValueError:
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
    with opener(file, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            yield line.rstrip("\r\n")
