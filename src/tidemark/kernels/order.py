"""What rows are ordered by."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Order:
    """A column that rows are ordered by."""

    column: str
    descending: bool = False
    nulls_last: bool = False
