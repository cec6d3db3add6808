"""Top-N: the first rows of each key by some order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.kernels.windows.spec import Numbering
from tidemark.plan.nodes.base import Description, Narrowed, Reason, delay_ms
from tidemark.plan.nodes.edge import Column, Edge
from tidemark.plan.nodes.families import ON_STATE, Stateful, Unary
from tidemark.plan.nodes.narrowing import exactly
from tidemark.plan.nodes.needs import Needs, Port
from tidemark.plan.nodes.state import StateSpec, by_name, plain
from tidemark.plan.nodes.window_rank import RANK, WindowOrder

# What the input does: it only inserts; it also retracts rows; or it updates rows by their `unique`
# columns, which never makes a row's place worse. Flink's AppendFast, Retract and UpdateFast.
RankInput = Literal["inserts", "retractions", "updates"]


@dataclass(frozen=True)
class TopN(Unary, Stateful):
    """The rows `low` to `high` of each key in an order, without an order as they arrive, or the
    `newest_first`, numbered `by` ROW_NUMBER or another rank, and followed by their number if they
    are `ranked`. `high` is None if there is no last one.

    They are a changelog; or, with `at_end`, what they are when the input ends, in this order. With
    `upserts`, updates come without the rows that they replace.
    """

    keys: tuple[int, ...]
    order: tuple[WindowOrder, ...]
    low: int
    high: int | None
    rows: RankInput
    unique: tuple[int, ...] = ()
    ranked: bool = True
    at_end: bool = False
    by: Numbering = "ROW_NUMBER"
    newest_first: bool = False
    upserts: bool = False

    def _edge(self) -> Edge:
        below = self.input.edge
        keys = list(below.keys)
        if self.updated_by:
            keys.append(self.updated_by)
        changes = Changelog.UPSERT if self.upserts else Changelog.RETRACT
        rank = Column(RANK, t.BigInt(nullable=False))
        return replace(
            below,
            columns=(*below.columns, rank) if self.ranked else below.columns,
            changelog=changes if self._changes else Changelog.APPEND,
            keys=tuple(dict.fromkeys(keys)),
        )

    @property
    def updated_by(self) -> tuple[str, ...] | None:
        if self.by != "ROW_NUMBER":
            return None  # equal rows have the same number
        by_key = tuple(self.input.edge.names[key] for key in self.keys)
        if by_key and self.low == self.high:
            return by_key
        return (*by_key, RANK) if self.ranked else None

    @property
    def _changes(self) -> bool:
        """The first rows to arrive are never replaced if nothing is retracted."""
        return not self.at_end and bool(self.order or self.newest_first or self.rows != "inserts")

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        number = len(self.input.edge.columns)
        ordered = {by.column for by in self.order}
        needed = {*self.keys, *self.unique, *ordered, *wanted} - {number}
        # Rows without any columns cannot be counted: at least one is kept.
        below = exactly(self.input, needed or {0})
        ranked = self.ranked and number in wanted
        node = replace(
            self,
            input=below.node,
            keys=below.places(self.keys),
            unique=below.places(self.unique),
            order=tuple(replace(by, column=below.place(by.column)) for by in self.order),
            ranked=ranked,
        )
        return Narrowed(node, (*below.kept, *[number] * ranked))

    def _description(self) -> Description:
        names = self.input.edge.names
        details = [f"key=[{', '.join(names[key] for key in self.keys)}]"] if self.keys else []
        arrival = "newest first" if self.newest_first else "as they arrive"
        order = ", ".join(by.words(names) for by in self.order) or arrival
        rows = "rows" if self.by == "ROW_NUMBER" else self.by
        details += [f"order=[{order}]", f"{rows}=[{self._wanted}]"]
        if self.unique:
            details.append(f"updated by=[{', '.join(names[place] for place in self.unique)}]")
        return Description("TopN", tuple(details), ON_STATE, self._keeps)

    @property
    def _wanted(self) -> str:
        if self.high is None:
            return "all" if self.low == 1 else f"{self.low} and all after it"
        return f"{self.low}" if self.low == self.high else f"{self.low} to {self.high}"

    @property
    def _keeps(self) -> str:
        if self.rows == "retractions" or self.high is None:
            kept = "all rows"
        elif self.by != "ROW_NUMBER":
            kept = f"the rows of each key whose {self.by} is at most {self.high}"
        else:
            kept = f"the first {self.high} row(s) of each key" if self.keys else "these rows"
        if self.at_end:
            return f"{kept}, until the input ends"
        return f"{kept}; until 'table.exec.state.ttl' after they were written, if that is set"

    @property
    def needs(self) -> Needs:
        return Needs("top-n", (Port(self.keys),), delay_ms(self.input), waits=self.at_end)

    @property
    def state(self) -> StateSpec:
        below = self.input
        meaning = {
            "keys": below.origins(self.keys),
            "order": [{**plain(by), "column": below.origin(by.column)} for by in self.order],
            "ranks": [self.low, self.high],
            "rows": self.rows,
            "unique": below.origins(self.unique),
            "at end": self.at_end,
            **({} if self.by == "ROW_NUMBER" else {"by": self.by}),
            **({"newest first": True} if self.newest_first else {}),
        }
        return StateSpec(meaning, (by_name(below.edge),))

    @property
    def why_rows_change(self) -> Reason | None:
        if not self._changes:
            return None
        return Reason("a row that comes among the first ones replaces another one")

    @property
    def can_be_stamped(self) -> bool:
        return not self.at_end and self.input.can_be_stamped

    @property
    def own_delay_ms(self) -> int:
        return 0

    @property
    def late_inputs(self) -> tuple[()]:
        return ()  # whatever the time of a row is, it has its place
