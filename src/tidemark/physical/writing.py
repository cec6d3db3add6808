"""Who writes the rows of a table, as EXPLAIN says it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Writes:
    """Workers, unless there is a reason why `only_spark` does. In `any_case` they write the
    rows that Spark has computed last, too.
    """

    only_spark: str | None = None
    any_case: bool = False
