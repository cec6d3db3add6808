"""One kind of ranking: how it is recognized, and its plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from tidemark import types as t
from tidemark.dialect import nodes
from tidemark.errors import PlanError
from tidemark.plan.bind.ranks.numbered import BoundRank
from tidemark.plan.nodes import Node


@dataclass(frozen=True, slots=True)
class Ranked:
    """The remaining rows, with the columns of the input first, and the expression for
    the number of each.
    """

    node: Node
    number: exp.Expression


@dataclass(frozen=True, slots=True)
class RankRule:
    """A kind of ranking. The first rule in the table that applies plans it."""

    name: str
    applies: Callable[[BoundRank], bool]
    plan: Callable[[BoundRank], Ranked]


def check_end(rank: BoundRank) -> None:
    """Raise PlanError if all rows after some would be wanted."""
    if rank.numbered.high is None:
        raise PlanError(
            f"{rank.numbered.by}() on a stream requires a rank end",
            at=rank.at,
            notes={"why": "all rows would have to be kept and renumbered (same in Flink)"},
            hint="add a condition such as rn <= 10",
        )


def always_one() -> exp.Expression:
    """The number if all rows are first."""
    return exp.Cast(this=exp.Literal.number(1), to=nodes.TypeNode(type=t.BigInt(nullable=False)))
