"""Top-N: `ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS rn ... WHERE rn <= 3`."""

from __future__ import annotations

from sqlglot import exp

from tidemark.plan.bind.ranks.computed import with_columns
from tidemark.plan.bind.ranks.numbered import BoundRank
from tidemark.plan.bind.ranks.progress import input_of
from tidemark.plan.bind.ranks.rule import Ranked, always_one, check_end
from tidemark.plan.nodes import Node, TopN, WindowOrder
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
    wanted, batch = rank.numbered, rank.context.batch
    rows, unique = input_of(node, keys, order)
    if rows == "inserts" and wanted.by == "ROW_NUMBER" and _is_arrival(order[0], node):
        order = ()
    if rows == "updates" and wanted.by != "ROW_NUMBER":
        rows, unique = "retractions", ()  # a row that gets better changes the ranks of its peers
    ranked = TopN(
        node, keys, order, wanted.low, wanted.high, rows, unique, at_end=batch, by=wanted.by
    )
    if rank.is_first_only:
        return Ranked(ranked, always_one())
    return Ranked(ranked, exp.Column(this=exp.to_identifier(RANK, quoted=True)))


def _is_arrival(by: WindowOrder, node: Node) -> bool:
    """Whether rows in this order come as they arrive: no row comes before an earlier one."""
    return node.edge.columns[by.column].time == "processing" and not by.descending
