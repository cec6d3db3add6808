"""Rewords the failures of micro-batches, so that Spark always reports them.

Spark searches the message for an interruption. Its regular expression recurses for each character
after a failed call into Java, so a long message overflows the stack: the query ends without an
exception, as if it had finished.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Deliver = Callable[["DataFrame", int], None]

_CALL = "py4j.protocol.Py4JJavaError: An error occurred while calling"
# What Spark takes for an interruption.
_INTERRUPTIONS = (
    "java.lang.InterruptedException",
    "java.io.InterruptedIOException",
    "java.nio.channels.ClosedByInterruptException",
)


class GivenUp(Exception):
    """A micro-batch is not delivered because its query is being stopped."""


class DeliveryFailed(Exception):
    """What was wrong, with all that caused it."""


def failing_in_words(deliver: Deliver) -> Deliver:
    """The same function, whose failures Spark reports however long their messages are."""

    @wraps(deliver)
    def delivering(data: DataFrame, batch: int) -> None:
        try:
            deliver(data, batch)
        except Exception as problem:
            raise in_words(problem) from None

    return delivering


def in_words(problem: Exception) -> DeliveryFailed:
    if isinstance(problem, GivenUp):
        return DeliveryFailed(f"{_CALL} {_INTERRUPTIONS[0]}")
    text = "".join(traceback.format_exception(problem))
    for interruption in _INTERRUPTIONS:
        if interruption in text:
            return DeliveryFailed(f"{_CALL} {interruption}")
    return DeliveryFailed(text.replace(_CALL, "Spark failed in"))
