"""Bytes as strings, with U+FFFD where Java has it for what is not valid."""

from __future__ import annotations

import codecs
import re

_SURROGATE = re.compile(rb"\xED[\xA0-\xBF][\x80-\xBF]")
_HANDLER = "tidemark-java"


def _replaced(problem: UnicodeError) -> tuple[str, int]:
    """Java takes the three bytes of a surrogate for one character."""
    assert isinstance(problem, UnicodeDecodeError)
    if _SURROGATE.match(problem.object, problem.start):
        return "\ufffd", problem.start + 3
    return "\ufffd", problem.end


codecs.register_error(_HANDLER, _replaced)


def decoded(data: bytes) -> str:
    """The bytes as a string.

    >>> decoded(b"a\\xff\\xed\\xa0\\x80")
    'a\ufffd\ufffd'
    """
    return data.decode("utf-8", _HANDLER)
