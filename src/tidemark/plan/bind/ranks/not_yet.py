"""Rankings that are not supported yet, with the reason for each."""

from __future__ import annotations

from collections.abc import Callable

from tidemark.errors import NotSupported
from tidemark.plan import unsupported
from tidemark.plan.bind.ranks.numbered import BoundRank
from tidemark.plan.expressions import Ref
from tidemark.unsupported import Unsupported

# From the specific to the general: what it is, and a test for it.
_NOT_YET: tuple[tuple[Unsupported, Callable[[BoundRank], bool]], ...] = (
    (unsupported.RANK_OF_CHANGES, lambda rank: rank.rows.edge.changes),
    (unsupported.RANK_WITHOUT_KEY, lambda rank: not rank.keys),
    (unsupported.RANK_WITHOUT_ORDER, lambda rank: not rank.order),
    (
        unsupported.RANK_BY_EXPRESSION,
        lambda rank: not all(isinstance(key, Ref) for key in rank.keys),
    ),
    (unsupported.TOP_N, lambda rank: True),
)


def refusal(rank: BoundRank) -> NotSupported:
    """Why no rule applies."""
    declared = next(declared for declared, is_that in _NOT_YET if is_that(rank))
    return declared.error(rank.at)
