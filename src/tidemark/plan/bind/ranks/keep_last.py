"""Keep-last deduplication: `ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) ... rn = 1`.

Over an append-only stream, this declares a versioned table as a view: its key is the partition key
and its time attribute the one it is ordered by, both inferred.
"""

from __future__ import annotations

from tidemark.plan.bind.ranks.by_time import is_deduplication, places
from tidemark.plan.bind.ranks.numbered import BoundRank
from tidemark.plan.bind.ranks.rule import Ranked, always_one
from tidemark.plan.nodes import KeepLast


def applies(rank: BoundRank) -> bool:
    return is_deduplication(rank, descending=True)


def plan(rank: BoundRank) -> Ranked:
    """The newest row of each key: as a changelog, in a batch only what it is in the end."""
    keys, time = places(rank)
    return Ranked(KeepLast(rank.rows, keys, time, rank.context.batch), always_one())
