"""Rankings that are not supported yet, with the reason for each."""

from __future__ import annotations

from collections.abc import Callable

from tidemark.errors import NotSupported
from tidemark.plan.bind.ranks.numbered import BoundRank
from tidemark.plan.expressions import Ref

# From the specific to the general: a name, a test for it, and a hint.
_NOT_YET: tuple[tuple[str, Callable[[BoundRank], bool], str | None], ...] = (
    ("ROW_NUMBER() over rows that are updated or deleted", lambda r: r.rows.edge.changes, None),
    ("ROW_NUMBER() without PARTITION BY", lambda rank: not rank.keys, None),
    ("ROW_NUMBER() without ORDER BY", lambda rank: not rank.order, None),
    (
        "PARTITION BY an expression",
        lambda rank: not all(isinstance(key, Ref) for key in rank.keys),
        "compute the column in a subquery",
    ),
    (
        "Top-N outside of windows",
        lambda rank: True,
        "keep one row of each key, by a time attribute, or rank the rows of a window: PARTITION "
        "BY window_start, window_end, ...",
    ),
)


def refusal(rank: BoundRank) -> NotSupported:
    """Why no rule applies."""
    name, hint = next((name, hint) for name, is_that, hint in _NOT_YET if is_that(rank))
    return NotSupported(f"{name} is not supported yet", at=rank.at, hint=hint)
