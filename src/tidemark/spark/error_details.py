"""Details about a rejected row, attached to the exception that Spark raises.

Spark's expressions can fail only with a string. The details are in it as JSON in hexadecimal
digits, which nothing on the way breaks, truncates or mistakes for the end of the string.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tidemark.functions import spark_text

_MARK = "TIDEMARK_RECORD:"
_PAYLOAD = re.compile(_MARK + r"([0-9A-F]+)")


def with_details(details: Mapping[str, str]) -> str:
    """Spark SQL for a string with details: names to Spark expressions."""
    pairs = ", ".join(f"{spark_text.string(name)}, {sql}" for name, sql in details.items())
    return f"concat('{_MARK}', hex(to_json(named_struct({pairs}))))"


def details_in(failure: BaseException) -> Mapping[str, Any] | None:
    """The details in an exception, or in one that caused it."""
    match = _PAYLOAD.search(full_message(failure))
    if match is None:
        return None
    details: Mapping[str, Any] = json.loads(bytes.fromhex(match[1]).decode("utf-8", "replace"))
    return details


def full_message(failure: BaseException) -> str:
    """The messages of an exception and its causes."""
    parts: list[str] = []
    current: BaseException | None = failure
    while current is not None:
        parts.append(str(current))
        current = current.__cause__ or current.__context__
    return "\n".join(parts)
