"""The functions that are computed in columns, by name."""

from __future__ import annotations

from tidemark.columns import (
    arithmetic,
    chance,
    clock,
    collections,
    comparison,
    conditional,
    constructors,
    digits,
    encodings,
    json,
    maps,
    numeric,
    pairs_in_strings,
    patterns,
    periods,
    regexps,
    rewriting,
    rounding,
    sets,
    strings,
    time_strings,
    time_units,
    urls,
)
from tidemark.columns.call import WriteColumn

WRITERS: dict[str, WriteColumn] = {
    name: write
    for table in (
        comparison.COLUMNS,
        arithmetic.COLUMNS,
        conditional.COLUMNS,
        clock.COLUMNS,
        strings.COLUMNS,
        rounding.COLUMNS,
        numeric.COLUMNS,
        patterns.COLUMNS,
        regexps.COLUMNS,
        time_units.COLUMNS,
        time_strings.COLUMNS,
        constructors.COLUMNS,
        collections.COLUMNS,
        json.COLUMNS,
        encodings.COLUMNS,
        rewriting.COLUMNS,
        pairs_in_strings.COLUMNS,
        chance.COLUMNS,
        digits.COLUMNS,
        maps.COLUMNS,
        sets.COLUMNS,
        periods.COLUMNS,
        urls.COLUMNS,
    )
    for name, write in table.items()
}
