"""What late rows are reported for: an operator with its keys and windows."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.plan import window_words
from tidemark.plan.nodes.base import LateInput, Node, delay_ms
from tidemark.plan.nodes.join import TwoSided

Window = tuple[int, int] | None  # the columns of a window's start and end


def operator_words(kind: str, below: Node, keys: Sequence[int], window: str | None) -> str:
    """The description of an operator with its keys and windows."""
    of = ", ".join(below.edge.names[key] for key in keys)
    return ", ".join(filter(None, (f"{kind} of {of}" if of else kind, window)))


def window_of(below: Node, given: Window) -> str | None:
    """The windows of rows that have them in columns."""
    if given is None:
        return None
    column = below.edge.columns[given[0]].window
    return None if column is None else window_words.window(column.assigner)


def late_sides(
    join: TwoSided, kind: str, windows: tuple[Window, Window] = (None, None)
) -> tuple[LateInput, LateInput]:
    """Both inputs of a join: rows are late by the watermark of both sides."""
    held_back_ms = max(delay_ms(join.left), delay_ms(join.right))

    def side(port: int, rows: Node, other: Node, keys: tuple[int, ...]) -> LateInput:
        name, given = ("left", "right")[port], windows[port]
        words = operator_words(kind, rows, keys, window_of(rows, given))
        return LateInput(
            rows,
            f"{words}, {name} side",
            None,
            given,
            keys=keys,
            held_back_ms=held_back_ms,
            other=other,
            port=port,
        )

    return (
        side(0, join.left, join.right, join.left_keys),
        side(1, join.right, join.left, join.right_keys),
    )
