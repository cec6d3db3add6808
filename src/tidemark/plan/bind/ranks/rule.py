"""One kind of ranking: what it is recognized by, and what it plans."""

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
    """The rows that are left, with the columns of the input first, and what stands for
    ROW_NUMBER() over them."""

    node: Node
    number: exp.Expression


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of ranking. Of the rules in the table the first that applies plans it."""

    name: str
    applies: Callable[[BoundRank], bool]
    plan: Callable[[BoundRank], Ranked]


def always_one() -> exp.Expression:
    """The number of rows that are all the first."""
    return exp.Cast(this=exp.Literal.number(1), to=nodes.TypeNode(type=t.BigInt(nullable=False)))
