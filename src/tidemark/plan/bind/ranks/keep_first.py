"""Keep-first deduplication: `ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) ... WHERE rn = 1`."""

from __future__ import annotations

from tidemark.plan.bind.ranks.by_time import is_deduplication, places
from tidemark.plan.bind.ranks.numbered import BoundRank
from tidemark.plan.bind.ranks.rule import Ranked, always_one
from tidemark.plan.nodes.keep_first import KeepFirst


def applies(rank: BoundRank) -> bool:
    return is_deduplication(rank, descending=False)


def plan(rank: BoundRank) -> Ranked:
    """The first row of each key, which is never replaced."""
    keys, time = places(rank)
    return Ranked(KeepFirst(rank.rows, keys, time), always_one())
