"""Two projections in a row as one, where no expression would run twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tidemark.plan.expressions import Expression, Literal, Ref, over, walk


def fused(outer: Sequence[Expression], inner: Sequence[Expression]) -> list[Expression] | None:
    """`outer`, which reads what `inner` makes, over the input of `inner`.

    None where an expression is wanted more than once: it may be dear, or random.
    """
    uses = Counter(
        part.index for expression in outer for part in walk(expression) if isinstance(part, Ref)
    )
    if any(count > 1 and not isinstance(inner[i], Ref | Literal) for i, count in uses.items()):
        return None
    return [over(expression, lambda ref: inner[ref.index]) for expression in outer]
