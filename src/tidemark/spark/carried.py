"""What is known where a row is refused, on its way to whoever must explain it.

Spark's expressions can fail only with a string. The facts travel in it as JSON in hexadecimal
digits, which nobody on the way breaks, shortens or mistakes for the string's end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tidemark.functions import spark_text

_MARK = "TIDEMARK_RECORD:"
_PAYLOAD = re.compile(_MARK + r"([0-9A-F]+)")


def carrying(facts: Mapping[str, str]) -> str:
    """Spark SQL for a string that carries the facts: names to Spark expressions."""
    pairs = ", ".join(f"{spark_text.string(name)}, {sql}" for name, sql in facts.items())
    return f"concat('{_MARK}', hex(to_json(named_struct({pairs}))))"


def facts_in(failure: BaseException) -> Mapping[str, Any] | None:
    """The facts that an exception carries, or one that it came from."""
    match = _PAYLOAD.search(whole_text(failure))
    if match is None:
        return None
    facts: Mapping[str, Any] = json.loads(bytes.fromhex(match[1]).decode("utf-8", "replace"))
    return facts


def whole_text(failure: BaseException) -> str:
    """All that an exception says, and those that it came from."""
    parts: list[str] = []
    current: BaseException | None = failure
    while current is not None:
        parts.append(str(current))
        current = current.__cause__ or current.__context__
    return "\n".join(parts)
