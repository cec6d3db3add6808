"""Where in the source a node comes from."""

from __future__ import annotations

from sqlglot import exp

from tidemark.errors import Span

_KEY = "span"


def mark(node: exp.Expression, span: Span) -> None:
    """Record the span of source text that a node was parsed from. Copies of the node keep it."""
    node.meta[_KEY] = (span.start, span.end)


def span_of(node: exp.Expression) -> Span | None:
    """The span of source text that a node, or all its parts together, was parsed from.

    None for nodes that were not parsed.
    """
    own = node.meta_get(_KEY)
    if own is not None:
        return Span(*own)
    spans = [span for child in node.iter_expressions() if (span := span_of(child)) is not None]
    if not spans:
        return None
    return Span(min(span.start for span in spans), max(span.end for span in spans))
