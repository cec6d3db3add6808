"""Top-N: `ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS rn ... WHERE rn <= 3`."""

from __future__ import annotations

from sqlglot import exp

from tidemark.plan.bind.ranks.computed import with_columns
from tidemark.plan.bind.ranks.first_rows import first_rows
from tidemark.plan.bind.ranks.numbered import BoundRank
from tidemark.plan.bind.ranks.rule import Ranked, always_one, check_end
from tidemark.plan.nodes import WindowOrder
from tidemark.plan.nodes.window_rank import RANK


def applies(rank: BoundRank) -> bool:
    return bool(rank.order)


def plan(rank: BoundRank) -> Ranked:
    """The wanted rows of each key, as a changelog; in a batch, what they are in the end."""
    if not rank.context.batch:
        check_end(rank)
    node, places = with_columns(rank.rows, [*rank.keys, *(by.value for by in rank.order)])
    keys = tuple(dict.fromkeys(places[: len(rank.keys)]))
    order = tuple(
        WindowOrder(place, by.descending, by.nulls_last)
        for place, by in zip(places[len(rank.keys) :], rank.order, strict=True)
    )
    wanted = rank.numbered
    ranked = first_rows(
        node,
        keys,
        order,
        (wanted.low, wanted.high),
        rank.context,
        by=wanted.by,
        ranked=True,
        at=rank.at,
    )
    if rank.is_first_only:
        return Ranked(ranked, always_one())
    return Ranked(ranked, exp.Column(this=exp.to_identifier(RANK, quoted=True)))
