"""What every node of the plan answers for itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tidemark.kernels.windows.spec import Assigner
from tidemark.plan.expressions import Expression, over
from tidemark.plan.nodes.edge import Edge
from tidemark.plan.nodes.needs import Needs
from tidemark.plan.nodes.state import Passed, StateSpec


class Node(ABC):
    """A part of a plan: what a query means, as a frozen value.

    Methods that are abstract here have no safe default. A new operator must implement all of them;
    `families` has what whole groups of operators have in common.
    """

    @property
    @abstractmethod
    def inputs(self) -> tuple[Node, ...]:
        """The nodes that provide the input."""

    @abstractmethod
    def with_inputs(self, new: Sequence[Node]) -> Node:
        """The same node over other inputs with the same kind of columns."""

    @cached_property
    def edge(self) -> Edge:
        """The output. It follows from the inputs and fields, and is computed once."""
        return self._edge()

    @abstractmethod
    def _edge(self) -> Edge:
        """The output."""

    @abstractmethod
    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        """The node over inputs with only what it needs, emitting at least the wanted columns."""

    # --- for a reader ------------------------------------------------------------------------

    @property
    def description(self) -> Description:
        """The node for EXPLAIN. Names and constants may contain line breaks; a line of a plan
        does not.
        """
        description = self._description()
        return replace(description, details=tuple(map(_on_one_line, description.details)))

    @abstractmethod
    def _description(self) -> Description:
        """The node's name, what it does, and what it keeps."""

    # For each input of a stateful node, what was asked above of its rows and is tested below now.
    passed: tuple[tuple[Passed, ...], ...] = ()

    # --- state and changes -------------------------------------------------------------------

    @property
    @abstractmethod
    def needs(self) -> Needs | None:
        """What it requires of its inputs as a stateful operator; None if it is stateless."""

    @property
    def is_stateful(self) -> bool:
        return self.needs is not None

    def ttls_ms(self, session_ms: int) -> tuple[int, ...]:
        """How long the idle state of each input is kept: as long as the session says, unless a
        hint says something else. 0 means forever.
        """
        return (session_ms,) * len(self.inputs)

    @property
    @abstractmethod
    def state(self) -> StateSpec | None:
        """What must be the same for a checkpoint's state to fit; None if it keeps no state."""

    def origin(self, place: int) -> Any:
        """The name of a column, traced to the table or operator that provides it; for a computed
        column, the expression. As plain values.

        Names are not enough: two computed keys may have the same name, and a column may be renamed.
        """
        return self.edge.names[place]

    def origins(self, places: Sequence[int]) -> list[Any]:
        return [self.origin(place) for place in places]

    @property
    @abstractmethod
    def why_rows_change(self) -> Reason | None:
        """Why it updates and deletes rows although its inputs only insert; None if it does not."""

    # --- time --------------------------------------------------------------------------------

    @property
    @abstractmethod
    def is_ordered(self) -> bool:
        """Whether its rows come in order from a single source."""

    @property
    @abstractmethod
    def can_be_stamped(self) -> bool:
        """Whether each row can have the watermark before it: all rows are from one source that
        is read in order, and operators that may emit rows behind the watermark say which one
        these meet. Above other operators, no row is behind it.
        """

    @property
    @abstractmethod
    def keeps_all_rows(self) -> bool:
        """Whether no row of the source was dropped on the way. Dropped rows still advance the
        watermark, so only then can an operator above declare it instead of the source.
        """

    @property
    @abstractmethod
    def own_delay_ms(self) -> int:
        """How far behind the watermark it may hold rows back."""

    @property
    @abstractmethod
    def late_inputs(self) -> tuple[LateInput, ...]:
        """The inputs of which it drops late rows, and when a row is late there."""


@dataclass(frozen=True, slots=True)
class Description:
    """A node in readable form: what it means, how Spark runs it, what it keeps in state."""

    name: str
    details: tuple[str, ...]
    runs_as: str
    keeps: str = "nothing"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a node produces a changelog, and what to use instead."""

    why: str
    instead: str | None = None


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A node without some of its columns; `kept` are the old positions of the remaining ones."""

    node: Node
    kept: tuple[int, ...]

    def place(self, old: int) -> int:
        return self.kept.index(old)

    def places(self, old: Sequence[int]) -> tuple[int, ...]:
        return tuple(map(self.place, old))

    def moved(self, expression: Expression) -> Expression:
        """An expression over the old columns, converted to the new ones."""
        edge = self.node.edge
        return over(expression, lambda ref: edge.ref(self.place(ref.index)))


@dataclass(frozen=True, slots=True)
class LateInput:
    """An input of an operator, and when the operator drops one of its rows as late.

    `time` is the column of the row's time; None is the time attribute of its table. The row is in
    the windows of `assigner` (sessions are those of the columns `keys`), or in the one whose start
    and end are in the columns `given`; without windows it is late at or behind the watermark. That
    watermark is `held_back_ms` behind those of the rows and of the `other` input, if the operator
    has two. Sessions may be built together with the rows of `shared`, which has their keys followed
    by their time. `port` is the number of the input.
    """

    rows: Node
    operator: str  # its name where late rows are shown
    time: int | None
    given: tuple[int, int] | None = None
    assigner: Assigner | None = None
    keys: tuple[int, ...] = ()
    lateness_ms: int = 0
    held_back_ms: int = 0
    other: Node | None = None
    shared: Node | None = None
    port: int = 0


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, from the top."""
    yield node
    for child in node.inputs:
        yield from walk(child)


def inputs(node: Node) -> tuple[Node, ...]:
    return node.inputs


def with_inputs(node: Node, new: Sequence[Node]) -> Node:
    return node.with_inputs(new)


def is_stateful(node: Node) -> bool:
    """Whether the plan keeps any state."""
    return any(part.is_stateful for part in walk(node))


def delay_ms(node: Node) -> int:
    """How far behind the watermark a node's rows may be without being late."""
    return node.own_delay_ms + max((delay_ms(below) for below in node.inputs), default=0)


def _on_one_line(text: str) -> str:
    return text.replace("\r", "\\r").replace("\n", "\\n")
