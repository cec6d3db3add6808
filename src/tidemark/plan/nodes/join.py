"""What all joins have in common: two sides with keys, a condition, and output columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from tidemark.catalog.tables import Changelog
from tidemark.plan.expressions import Expression, over, references
from tidemark.plan.nodes.base import Narrowed, Node, delay_ms
from tidemark.plan.nodes.edge import Column, Edge
from tidemark.plan.nodes.families import Picking, Stateful
from tidemark.plan.nodes.narrowing import exactly
from tidemark.plan.nodes.needs import Needs, Port
from tidemark.plan.nodes.state import Rows, by_name

How = Literal["inner", "left", "right", "full", "semi", "anti"]


@dataclass(frozen=True, kw_only=True)
class TwoSided(Stateful):
    """An operator over the rows of two nodes with equal keys."""

    left: Node
    right: Node
    left_keys: tuple[int, ...]
    right_keys: tuple[int, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.left, self.right

    def with_inputs(self, new: Sequence[Node]) -> Self:
        left, right = new
        return replace(self, left=left, right=right)

    def sides(
        self,
        kind: str,
        left: Port,
        right: Port,
        tick_ms: int | None = None,
        shown: frozenset[int] | None = None,
    ) -> Needs:
        """What it requires of both sides, whose rows may be behind the watermark."""
        held_back_ms = max(delay_ms(self.left), delay_ms(self.right))
        return Needs(kind, (left, right), held_back_ms, tick_ms, shown)

    @property
    def bounded(self) -> bool:
        return self.left.edge.bounded and self.right.edge.bounded

    def equalities(self, nulls_equal: Sequence[bool] = ()) -> str:
        """The keys of both sides, pair by pair, in readable form."""
        left, right = self.left.edge.names, self.right.edge.names
        nulls_equal = nulls_equal or [False] * len(self.left_keys)
        return ", ".join(
            f"{left[mine]} {'IS NOT DISTINCT FROM' if nulls else '='} {right[theirs]}"
            for mine, theirs, nulls in zip(
                self.left_keys, self.right_keys, nulls_equal, strict=True
            )
        )


@dataclass(frozen=True, kw_only=True)
class Join(TwoSided, Picking):
    """Pairs of rows with equal keys: left columns, then right ones. Semi and anti joins emit left
    columns only.

    `nulls_equal` is, for each key, whether NULL equals NULL. A pair must also meet the `condition`,
    which is over the columns of both inputs.
    """

    nulls_equal: tuple[bool, ...]
    how: How
    condition: Expression | None = None
    # The outer join that it was, and whose columns may be NULL, until WHERE was taken into account.
    padded_as: How | None = None
    # Columns to emit besides the requested ones: its state has them.
    also: tuple[int, ...] = ()

    # --- what each join says itself -----------------------------------------------------------

    @property
    @abstractmethod
    def own_columns(self) -> tuple[Sequence[int], Sequence[int]]:
        """The columns of each side that it needs besides keys, condition and output."""

    @abstractmethod
    def with_own_columns(self, left: Sequence[int], right: Sequence[int]) -> Self:
        """The same join with these own columns."""

    @property
    @abstractmethod
    def _changelog(self) -> Changelog:
        """The output's changelog."""

    @property
    def _keys(self) -> tuple[tuple[str, ...], ...]:
        """The unique keys of the output."""
        return ()

    # --- what comes out -----------------------------------------------------------------------

    @property
    def given(self) -> tuple[int, ...]:
        return tuple(range(len(self._columns))) if self.output is None else self.output

    def _edge(self) -> Edge:
        whole = Edge(self._columns, self._changelog, self._keys, self.bounded)
        return whole if self.output is None else whole.only(self.output)

    @property
    def _columns(self) -> tuple[Column, ...]:
        left, right = self.left.edge.columns, self.right.edge.columns
        how = self.padded_as or self.how
        if how in ("semi", "anti"):
            return left
        return (
            *(column.padded(how in ("right", "full")) for column in left),
            *(column.padded(how in ("left", "full")) for column in right),
        )

    @property
    def shown(self) -> frozenset[int] | None:
        """The columns that are visible: in the output, as keys, or in the residual condition."""
        if self.output is None:
            return None
        width = len(self.left.edge.columns)
        keys = (*self.left_keys, *(width + key for key in self.right_keys))
        tested = references(self.condition) if self.condition is not None else ()
        return frozenset((*self.output, *keys, *tested))

    # --- what is kept -------------------------------------------------------------------------

    @property
    def meaning(self) -> dict[str, Any]:
        """What must be the same of every join for its state to fit."""
        left, right = self.left, self.right
        return {
            "join": self.how,
            "nulls equal": self.nulls_equal,
            "keys": [left.origins(self.left_keys), right.origins(self.right_keys)],
            "held back in milliseconds": max(delay_ms(left), delay_ms(right)),
        }

    def rows_without_times(self, left_time: int, right_time: int) -> tuple[Rows, Rows]:
        """The columns of both sides without times that are not used: these are kept as numbers."""
        shown, width = self.shown, len(self.left.edge.columns)

        def side(edge: Edge, time: int, first: int) -> Rows:
            seen = shown is None or first + time in shown
            return by_name(edge, () if seen else {edge.names[time]})

        return side(self.left.edge, left_time, 0), side(self.right.edge, right_time, width)

    # --- with fewer columns -------------------------------------------------------------------

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        # Spark needs at least one column.
        wanted = tuple(dict.fromkeys((*wanted, *self.also))) or (self._some_column,)
        given = tuple(self.given[place] for place in wanted)
        sides = _NarrowedSides.of(self, given)
        left_own, right_own = self.own_columns
        own = self.with_own_columns(sides.left.places(left_own), sides.right.places(right_own))
        join = replace(
            own,
            left=sides.left.node,
            right=sides.right.node,
            left_keys=sides.left.places(self.left_keys),
            right_keys=sides.right.places(self.right_keys),
            condition=None if self.condition is None else sides.moved(self.condition),
            output=tuple(map(sides.place, given)),
            also=(),
        )
        return Narrowed(join, wanted)

    @property
    def _some_column(self) -> int:
        """The output position of a left column that is needed anyway."""
        needed = [*self.left_keys, *self.own_columns[0]]
        return next((i for i in needed if self.output is None or i in self.output), 0)


@dataclass(frozen=True, slots=True)
class _NarrowedSides:
    """The inputs of a join with only what it needs of them."""

    left: Narrowed
    right: Narrowed
    width: int  # how many columns the left side had

    @classmethod
    def of(cls, join: Join, given: Sequence[int]) -> _NarrowedSides:
        width = len(join.left.edge.columns)
        asked = [*given, *(references(join.condition) if join.condition is not None else ())]
        left_own, right_own = join.own_columns
        of_left = {*join.left_keys, *left_own, *(i for i in asked if i < width)}
        of_right = {*join.right_keys, *right_own, *(i - width for i in asked if i >= width)}
        # Without keys, a side may have no column that is needed; it must have one.
        return cls(exactly(join.left, of_left or {0}), exactly(join.right, of_right or {0}), width)

    def place(self, old: int) -> int:
        """The position of a column among those of both inputs."""
        if old < self.width:
            return self.left.place(old)
        return len(self.left.kept) + self.right.place(old - self.width)

    def moved(self, condition: Expression) -> Expression:
        columns = (*self.left.node.edge.columns, *self.right.node.edge.columns)
        both = Edge(columns)
        return over(condition, lambda ref: both.ref(self.place(ref.index)))
