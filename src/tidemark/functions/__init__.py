"""The built-in scalar functions and operators, by name.

Each module in this folder declares one theme as a flat table `FUNCTIONS`; names that Flink has and
Tidemark does not are in `NOT_YET`, with the reason.
"""

from __future__ import annotations

from tidemark.functions import (
    arithmetic,
    clock,
    collections,
    conditional,
    constructors,
    encodings,
    formatting,
    hashes,
    json_functions,
    not_yet,
    numeric,
    operators,
    patterns,
    regexps,
    session,
    splitting,
    strings,
    time_strings,
    time_units,
    urls,
)
from tidemark.functions.registry import Function
from tidemark.unsupported import Unsupported

TABLES: tuple[tuple[Function, ...], ...] = (
    operators.FUNCTIONS,
    arithmetic.FUNCTIONS,
    patterns.FUNCTIONS,
    constructors.FUNCTIONS,
    conditional.FUNCTIONS,
    numeric.FUNCTIONS,
    time_units.FUNCTIONS,
    time_strings.FUNCTIONS,
    clock.FUNCTIONS,
    collections.FUNCTIONS,
    strings.FUNCTIONS,
    splitting.FUNCTIONS,
    formatting.FUNCTIONS,
    regexps.FUNCTIONS,
    session.FUNCTIONS,
    encodings.FUNCTIONS,
    urls.FUNCTIONS,
    hashes.FUNCTIONS,
    json_functions.FUNCTIONS,
)

BUILT_IN: dict[str, Function] = {
    name: function
    for table in TABLES
    for function in table
    for name in (function.name, *function.aliases)
}

NOT_YET: dict[str, Unsupported] = dict(not_yet.NOT_YET)


def lookup(name: str) -> Function | None:
    """The function with that name in any case: `upper`, `Upper`, `UPPER`."""
    return BUILT_IN.get(name.upper())
