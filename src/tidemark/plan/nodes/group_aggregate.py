"""GROUP BY and DISTINCT without a window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tidemark.catalog.tables import Changelog
from tidemark.plan.nodes.aggregate_call import AggregateCall
from tidemark.plan.nodes.base import (
    Description,
    LateInput,
    Narrowed,
    Reason,
    delay_ms,
    is_stateful,
)
from tidemark.plan.nodes.edge import Column, Edge, TimeAttribute
from tidemark.plan.nodes.families import ON_STATE, Stateful, Unary
from tidemark.plan.nodes.narrowing import whole
from tidemark.plan.nodes.needs import Needs, Port
from tidemark.plan.nodes.state import StateSpec, by_place
from tidemark.plan.words import idle_words


@dataclass(frozen=True)
class GroupAggregate(Unary, Stateful):
    """A row for each key, with the keys and the results, updated with every row of the key, or,
    if `at_end`, emitted once at the end of the input. If it is for `distinct` rows, its
    result never changes while the key has rows. `hinted_ms` is how long a STATE_TTL hint keeps idle
    keys. With `upserts`, updates come without the rows that they replace.
    """

    keys: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    at_end: bool = False
    distinct: bool = False
    hinted_ms: int | None = None
    upserts: bool = False

    def _edge(self) -> Edge:
        below = self.input.edge
        of_keys = tuple(
            Column(below.columns[key].name, below.columns[key].type) for key in self.keys
        )
        results = tuple(
            Column(f"$result{n}", call.type, _time_of_extreme(call, below))
            for n, call in enumerate(self.calls)
        )
        names = tuple(column.name for column in of_keys)
        is_key = bool(names) and len(set(names)) == len(names) and not self.distinct
        keys = (names,) if is_key else ()
        return Edge((*of_keys, *results), self._changelog, keys, below.bounded)

    @property
    def _changelog(self) -> Changelog:
        if self.at_end:
            return Changelog.APPEND
        if self.distinct:
            # On append-only input, a repeated row changes nothing and emits nothing.
            return self.input.edge.changelog
        return Changelog.UPSERT if self.upserts else Changelog.RETRACT

    @property
    def updated_by(self) -> tuple[str, ...] | None:
        return None if self.distinct else tuple(self.input.edge.names[key] for key in self.keys)

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        width = len(self.keys)
        kept = sorted({place - width for place in wanted if place >= width})
        if self.distinct or len(kept) == len(self.calls):
            return whole(self)
        if not kept and not width:
            kept = [0]  # what makes it emit a row
        calls = [self.calls[n] for n in kept]
        used = {*self.keys, *(place for call in calls for place in call.used)}
        below = self.input.narrowed(sorted(used))
        node = replace(
            self,
            input=below.node,
            keys=below.places(self.keys),
            calls=tuple(call.moved(below.place) for call in calls),
        )
        return Narrowed(node, (*range(width), *(width + n for n in kept)))

    def _description(self) -> Description:
        names = self.input.edge.names
        key = [f"key=[{', '.join(names[key] for key in self.keys)}]"] if self.keys else []
        select = f"select=[{', '.join(call.words(names) for call in self.calls)}]"
        keeps = f"the aggregates of each key, {self._kept}"
        return Description("GroupAggregate", (*key, select), ON_STATE, keeps)

    @property
    def _kept(self) -> str:
        if self.at_end:
            return "until the input ends"
        if self.hinted_ms is None:
            return "until it is idle for 'table.exec.state.ttl' if that is set"
        return idle_words(self.hinted_ms, "after its last row")

    def ttls_ms(self, session_ms: int) -> tuple[int, ...]:
        return (session_ms if self.hinted_ms is None else self.hinted_ms,)

    @property
    def needs(self) -> Needs:
        # No row is late here: what operators emit need not say which watermark it meets.
        port = Port(self.keys, stamps=not is_stateful(self.input))
        return Needs("group-aggregate", (port,), delay_ms(self.input), waits=self.at_end)

    @property
    def state(self) -> StateSpec:
        below = self.input
        meaning = {
            "keys": below.origins(self.keys),
            "functions": [call.meaning(below.origin) for call in self.calls],
            "at end": self.at_end,
            "changes": below.edge.changelog.value,
        }
        used = {*self.keys, *(place for call in self.calls for place in call.used)}
        format_ = 1 if self.at_end else AggregateCall.format_of(self.calls, below.edge.changelog)
        return StateSpec(meaning, (by_place(below.edge, used),), format=format_)

    @property
    def why_rows_change(self) -> Reason:
        return Reason(
            "without a window, GROUP BY and DISTINCT update a result for each row",
            "group by a window",
        )

    @property
    def own_delay_ms(self) -> int:
        return 0

    @property
    def late_inputs(self) -> tuple[LateInput, ...]:
        return ()


def _time_of_extreme(call: AggregateCall, edge: Edge) -> TimeAttribute | None:
    """The largest time of a group is the time of its newest row, and a time attribute: it makes
    the result a versioned table.
    """
    if call.function != "MAX" or edge.columns[call.arguments[0]].time != "event":
        return None
    return "event"
