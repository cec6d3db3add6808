"""Names and values as Spark SQL text that means exactly them, whatever they contain.

Spark reads backslashes in string literals (or not, by a setting) and replaces `${...}` anywhere in
a statement before it is parsed. Text that is not plainly harmless therefore travels as hex digits.
"""

from __future__ import annotations

import re

_HARMLESS_TEXT = re.compile(r"[A-Za-z0-9 _.,:;/+*()<>=@#%&!?|^~\[\]-]*\Z")
_HARMLESS_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def string(value: str) -> str:
    """A string literal.

    >>> string("it's")
    "decode(X'69742773', 'UTF-8')"
    """
    if _HARMLESS_TEXT.match(value):
        return f"'{value}'"
    return f"decode(X'{value.encode('utf-8', 'surrogatepass').hex().upper()}', 'UTF-8')"


def binary(value: bytes) -> str:
    return f"X'{value.hex().upper()}'"


def name(value: str) -> str:
    """A quoted identifier. Only harmless names are ever sent to Spark: see `safe_names`."""
    if not _HARMLESS_NAME.match(value):
        raise ValueError(f"not a name made for Spark: {value!r}")
    return f"`{value}`"


def safe_names(names: list[str] | tuple[str, ...]) -> tuple[str, ...]:
    """Names for Spark columns: the user's own where they are harmless and distinct.

    Spark folds case and Flink does not; a name that would collide gets its position instead.
    """
    taken: set[str] = set()
    result = []
    for position, wanted in enumerate(names):
        harmless = _HARMLESS_NAME.match(wanted) and not wanted.lower().startswith("_tm_")
        chosen = wanted if harmless and wanted.lower() not in taken else f"_tm_{position}"
        taken.add(chosen.lower())
        result.append(chosen)
    return tuple(result)
