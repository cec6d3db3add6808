"""Functions of Java classes that published scripts create, and Python functions instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tidemark.catalog.tables import UserFunction

# By the name of the class: `module.function`.
STAND_INS: Final[Mapping[str, str]] = {
    "com.github.nexmark.flink.udf.CountChar": "tidemark.connectors.nexmark.functions.count_char",
}

# For the name of a class the function, or `module.function`; None if there is none.
StandIn = Callable[[str], UserFunction | str | None]


def known_stand_in(class_name: str) -> str | None:
    """The function for a class whose script Tidemark knows."""
    return STAND_INS.get(class_name)
