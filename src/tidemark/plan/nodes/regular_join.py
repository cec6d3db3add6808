"""Regular joins, which do not depend on time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from tidemark.catalog.tables import Changelog
from tidemark.plan.nodes.base import Description, LateInput, Reason
from tidemark.plan.nodes.edge import Column
from tidemark.plan.nodes.families import ON_STATE
from tidemark.plan.nodes.join import Join
from tidemark.plan.nodes.needs import Needs, Port
from tidemark.plan.nodes.state import StateSpec, by_name, plain
from tidemark.plan.words import idle_words, words


@dataclass(frozen=True, kw_only=True)
class RegularJoin(Join):
    """The pairs of rows with equal keys while both rows exist, as a changelog.

    `why` is why it is not an interval join, if its condition compares times. With `at_end`, only
    the pairs at the end of the input are emitted. `hinted_ms` is how long STATE_TTL hints keep the
    rows of each side.
    """

    why: str = ""
    at_end: bool = False
    hinted_ms: tuple[int | None, int | None] = (None, None)
    # In the order in which the joins of a query are planned; 0 if it is not written as a join.
    number: int = field(default=0, compare=False)

    @property
    def own_columns(self) -> tuple[Sequence[int], Sequence[int]]:
        return (), ()

    def with_own_columns(self, left: Sequence[int], right: Sequence[int]) -> Self:
        return self

    @property
    def _columns(self) -> tuple[Column, ...]:
        """A pair has no time attribute: rows of any age match."""
        return tuple(replace(column, time=None, window=None) for column in super()._columns)

    @property
    def _changelog(self) -> Changelog:
        updates = self.left.edge.changes or self.right.edge.changes
        updates = updates or self.how not in ("inner", "semi")
        return Changelog.RETRACT if updates and not self.at_end else Changelog.APPEND

    @property
    def _keys(self) -> tuple[tuple[str, ...], ...]:
        return self.left.edge.keys if self.how in ("semi", "anti") else ()

    def _description(self) -> Description:
        details: list[str] = [self.how, f"key=[{self.equalities(self.nulls_equal)}]"]
        if self.condition is not None:
            details.append(f"where=[{words(self.condition)}]")
        if self.why:
            details.append(f"no interval join=[{self.why}]")
        return Description("RegularJoin", tuple(details), ON_STATE, self._keeps)

    @property
    def _keeps(self) -> str:
        if self.at_end:
            return "all rows of both sides, until the input ends"
        left, right = (
            "forever, or for 'table.exec.state.ttl' after they were written if that is set"
            if ttl is None
            else idle_words(ttl, "after they were written")
            for ttl in self.hinted_ms
        )
        if left == right:
            return f"all rows of both sides, {left}"
        return f"all rows of both sides: the left ones {left}; the right ones {right}"

    def ttls_ms(self, session_ms: int) -> tuple[int, ...]:
        return tuple(session_ms if ttl is None else ttl for ttl in self.hinted_ms)

    @property
    def needs(self) -> Needs:
        ports = Port(self.left_keys), Port(self.right_keys)
        return Needs("regular-join", ports, waits=self.at_end)

    @property
    def state(self) -> StateSpec:
        sides = (self.left.edge, self.right.edge)
        meaning = {
            **self.meaning,
            "condition": plain(self.condition),
            "at end": self.at_end,
            "changes": [edge.changelog.value for edge in sides],
            "unique keys": [list(edge.keys[0]) if edge.keys else [] for edge in sides],
        }
        return StateSpec(meaning, tuple(map(by_name, sides)))

    @property
    def why_rows_change(self) -> Reason:
        return Reason(
            "an unmatched row is emitted, and retracted when a match arrives",
            "use INNER JOIN, or bound the times of both sides",
        )

    @property
    def own_delay_ms(self) -> int:
        return 0

    @property
    def late_inputs(self) -> tuple[LateInput, ...]:
        return ()
