"""Top-N and deduplication within windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark import types as t
from tidemark.kernels.windows.spec import Numbering
from tidemark.plan.nodes.base import Description, LateInput, Narrowed, delay_ms
from tidemark.plan.nodes.edge import Column, Edge
from tidemark.plan.nodes.families import ON_STATE, Stateful, Unary
from tidemark.plan.nodes.lateness import operator_words, window_of
from tidemark.plan.nodes.narrowing import whole
from tidemark.plan.nodes.needs import Needs, Port
from tidemark.plan.nodes.state import StateSpec, by_name, plain

RANK = "$rank"


@dataclass(frozen=True, slots=True)
class WindowOrder:
    """A column by which the rows of a window are ordered."""

    column: int
    descending: bool
    nulls_last: bool

    def words(self, names: tuple[str, ...]) -> str:
        """As in ORDER BY; by default NULL is the smallest value."""
        as_usual = self.nulls_last == self.descending
        nulls = "" if as_usual else f" NULLS {'LAST' if self.nulls_last else 'FIRST'}"
        return names[self.column] + (" DESC" if self.descending else "") + nulls


@dataclass(frozen=True)
class WindowRank(Unary, Stateful):
    """The rows `low` to `high` of each key and window in an order, numbered `by` ROW_NUMBER or
    another rank, and followed by their number.

    `bounds` are the columns of the window's start and end. Among equals, the first to arrive is
    first, or the last if `newest_first`.
    """

    keys: tuple[int, ...]
    bounds: tuple[int, int]
    order: tuple[WindowOrder, ...]
    low: int
    high: int
    newest_first: bool
    time_type: t.DataType  # the type of the windows' time
    by: Numbering = "ROW_NUMBER"

    def _edge(self) -> Edge:
        return self.input.edge.with_columns([Column(RANK, t.BigInt(nullable=False))])

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        return whole(self)

    def _description(self) -> Description:
        names = self.input.edge.names
        details = [f"window=[{', '.join(names[column] for column in self.bounds)}]"]
        if self.keys:
            details.append(f"key=[{', '.join(names[key] for key in self.keys)}]")
        wanted = f"{self.low}" if self.low == self.high else f"{self.low} to {self.high}"
        order = ", ".join(by.words(names) for by in self.order)
        rows = "rows" if self.by == "ROW_NUMBER" else self.by
        details += [f"order=[{order}]", f"{rows}=[{wanted}]"]
        kept = f"the first {self.high} row(s) of each key and window"
        if self.by != "ROW_NUMBER":
            kept = f"the rows of each key and window whose {self.by} is at most {self.high}"
        keeps = f"{kept}, until the watermark has reached its end"
        return Description("WindowRank", tuple(details), ON_STATE, keeps)

    @property
    def needs(self) -> Needs:
        port = Port(self.keys, stamps=True)
        return Needs("window-rank", (port,), delay_ms(self.input))

    @property
    def state(self) -> StateSpec:
        below = self.input
        meaning = {
            "keys": below.origins(self.keys),
            "bounds": self.bounds,
            "order": [{**plain(by), "column": below.origin(by.column)} for by in self.order],
            "ranks": [self.low, self.high],
            "newest first": self.newest_first,
            **({} if self.by == "ROW_NUMBER" else {"by": self.by}),
        }
        zoned = isinstance(self.time_type, t.TimestampLtz)
        return StateSpec(meaning, (by_name(below.edge),), zoned)

    @property
    def why_rows_change(self) -> None:
        return None

    @property
    def own_delay_ms(self) -> int:
        return 0

    @property
    def late_inputs(self) -> tuple[LateInput, ...]:
        window = window_of(self.input, self.bounds)
        words = operator_words("window-rank", self.input, self.keys, window)
        behind = delay_ms(self.input)
        return (
            LateInput(self.input, words, None, self.bounds, keys=self.keys, held_back_ms=behind),
        )
