"""Merges two consecutive projections if no expression would be evaluated twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tidemark.plan.expressions import Expression, Literal, Ref, over, walk


def fused(outer: Sequence[Expression], inner: Sequence[Expression]) -> list[Expression] | None:
    """`outer`, which reads the output of `inner`, over the input of `inner`.

    None if an expression is used more than once: it may be expensive, or random.
    """
    uses = Counter(
        part.index for expression in outer for part in walk(expression) if isinstance(part, Ref)
    )
    if any(count > 1 and not isinstance(inner[i], Ref | Literal) for i, count in uses.items()):
        return None
    return [over(expression, lambda ref: inner[ref.index]) for expression in outer]
