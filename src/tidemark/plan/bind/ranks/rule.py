"""One kind of ranking: how it is recognized, and its plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from tidemark import types as t
from tidemark.dialect import nodes
from tidemark.plan.bind.ranks.numbered import BoundRank
from tidemark.plan.nodes import Node


@dataclass(frozen=True, slots=True)
class Ranked:
    """The remaining rows, with the columns of the input first, and the expression for
    ROW_NUMBER() over them.
    """

    node: Node
    number: exp.Expression


@dataclass(frozen=True, slots=True)
class RankRule:
    """A kind of ranking. The first rule in the table that applies plans it."""

    name: str
    applies: Callable[[BoundRank], bool]
    plan: Callable[[BoundRank], Ranked]


def always_one() -> exp.Expression:
    """The row number if all rows are first."""
    return exp.Cast(this=exp.Literal.number(1), to=nodes.TypeNode(type=t.BigInt(nullable=False)))
