"""The functions that are computed in columns, by name."""

from __future__ import annotations

from tidemark.columns import arithmetic, clock, comparison, conditional
from tidemark.columns.call import WriteColumn

WRITERS: dict[str, WriteColumn] = {
    name: write
    for table in (
        comparison.COLUMNS,
        arithmetic.COLUMNS,
        conditional.COLUMNS,
        clock.COLUMNS,
    )
    for name, write in table.items()
}
