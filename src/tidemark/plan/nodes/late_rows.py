"""The rows that another operator drops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.kernels.windows.spec import Assigner, Session
from tidemark.plan.nodes.base import Description, LateInput, Narrowed, Node, delay_ms
from tidemark.plan.nodes.edge import Column, Edge
from tidemark.plan.nodes.families import ON_STATE, Stateful
from tidemark.plan.nodes.narrowing import whole
from tidemark.plan.nodes.needs import Needs, Port
from tidemark.plan.nodes.state import StateSpec, by_name, plain


@dataclass(frozen=True)
class LateRows(Stateful):
    """The rows that an operator drops because they come too late: their columns `kept`, and then
    which operator it is, the row's time, the watermark it met, by how many milliseconds it was
    late, and its kind if there are kinds.

    Rows are put into windows as in `WindowAggregate`, sessions of the columns `keys`. Without
    windows a row is late at or behind the watermark. The operator has other inputs where `beside`
    has nodes; of these only the watermarks count. Its own watermark is `held_back_ms` behind them.
    If it `shares_sessions`, the sessions are those of its rows and of the rows of the one node
    `beside`, which has their keys and then their time.
    """

    input: Node
    operator: str
    time: int
    given: tuple[int, int] | None
    assigner: Assigner | None
    keys: tuple[int, ...]
    lateness_ms: int
    kept: tuple[int, ...]
    beside: tuple[Node, ...] = ()
    held_back_ms: int = 0
    shares_sessions: bool = False
    # The operator itself, which may hand out what it drops of an input, and the table whose rows
    # these are.
    dropped_by: Node | None = field(default=None, compare=False, repr=False)
    port: int = field(default=0, compare=False, repr=False)
    # Which one it is of the paths on which rows of the table reach the operator there.
    path: int = field(default=0, compare=False, repr=False)
    table: Node | None = field(default=None, compare=False, repr=False)

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input, *self.beside)

    def with_inputs(self, new: Sequence[Node]) -> LateRows:
        return replace(self, input=new[0], beside=tuple(new[1:]))

    def _edge(self) -> Edge:
        """The table's columns and those that say why a row is here. No row of them all is in
        time any more, so there is no event time."""
        below = self.input.edge
        kept = [below.columns[place] for place in self.kept]
        own = [replace(c, time=None, window=None) if c.time == "event" else c for c in kept]
        zoned = isinstance(below.columns[self.time].type, t.TimestampLtz)
        moment = (t.TimestampLtz if zoned else t.Timestamp)(3, nullable=False)
        details = [
            Column("late_operator", t.STRING.with_nullable(False)),
            Column("late_time", moment),
            Column("late_watermark", moment),
            Column("late_by", t.BigInt(nullable=False)),
        ]
        if below.changes:
            details.append(Column("late_kind", t.STRING.with_nullable(False)))
        return Edge((*own, *details), Changelog.APPEND, (), below.bounded)

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        return whole(self)

    def _description(self) -> Description:
        time = self.input.edge.names[self.time]
        keeps = "the sessions of each key" if isinstance(self.assigner, Session) else "nothing"
        details = (f"operator=[{self.operator}]", f"time=[{time}]")
        return Description("LateRows", details, ON_STATE, keeps)

    @property
    def needs(self) -> Needs:
        # Where lateness does not depend on the key, rows may be anywhere.
        keys = self.keys if isinstance(self.assigner, Session) else (self.time,)
        # An operator with other inputs knows the watermark of its batch, not that before each row.
        rows = Port(keys, self.time, stamps=not self.beside)
        held_back_ms = self.held_back_ms if self.beside else delay_ms(self.input)
        return Needs("late-rows", (rows, *map(self._beside, self.beside)), held_back_ms)

    def _beside(self, other: Node) -> Port:
        """An input that shares its sessions with the rows, or one that only moves the watermark."""
        if self.shares_sessions:
            *keys, time = range(len(other.edge.columns))
            return Port(tuple(keys), time)
        return Port((), 0)

    @property
    def state(self) -> StateSpec:
        below = self.input
        meaning = {
            "operator": self.operator,
            "keys": below.origins(self.keys),
            "windows": plain(self.assigner),
            "given by columns": self.given,
            "time": below.origin(self.time),
            "allowed lateness in milliseconds": self.lateness_ms,
            "held back in milliseconds": self.held_back_ms,
            "shares sessions": self.shares_sessions,
            "inputs": 1 + len(self.beside),
        }
        return StateSpec(meaning, (by_name(below.edge),))

    @property
    def why_rows_change(self) -> None:
        return None

    @property
    def own_delay_ms(self) -> int:
        return 0

    @property
    def late_inputs(self) -> tuple[LateInput, ...]:
        return ()
