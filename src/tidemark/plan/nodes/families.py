"""What groups of nodes have in common: sources, nodes with one input, stateful and stateless
ones.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from tidemark.plan.nodes.base import LateInput, Node, Reason
from tidemark.plan.nodes.needs import Needs
from tidemark.plan.nodes.state import Passed, StateSpec

ON_STATE = "stateful operator, one kernel per key bucket"


class Leaf(Node):
    """A node without inputs."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        return ()

    def with_inputs(self, new: Sequence[Node]) -> Self:
        assert not new
        return self

    @property
    def can_be_stamped(self) -> bool:
        return False

    @property
    def keeps_all_rows(self) -> bool:
        return False


@dataclass(frozen=True)
class Unary(Node):
    """A node over one input."""

    input: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)

    def with_inputs(self, new: Sequence[Node]) -> Self:
        [only] = new
        return replace(self, input=only)


class Stateless(Node):
    """A node that processes rows one at a time: it drops none as late, and holds none back."""

    @property
    def needs(self) -> None:
        return None

    @property
    def state(self) -> None:
        return None

    @property
    def why_rows_change(self) -> Reason | None:
        return None

    @property
    def own_delay_ms(self) -> int:
        return 0

    @property
    def late_inputs(self) -> tuple[LateInput, ...]:
        return ()


@dataclass(frozen=True)
class Stateful(Node):
    """A stateful node. It decides when its rows are emitted, so they are not in the order of a
    source. Each node decides itself what changes, is late or is held back.
    """

    passed: tuple[tuple[Passed, ...], ...] = field(default=(), kw_only=True)

    @property
    @abstractmethod
    def needs(self) -> Needs:
        """What it requires of its inputs."""

    @property
    @abstractmethod
    def state(self) -> StateSpec:
        """What must be the same for a checkpoint's state to fit."""

    @property
    def is_ordered(self) -> bool:
        return False

    @property
    def can_be_stamped(self) -> bool:
        return False

    @property
    def keeps_all_rows(self) -> bool:
        return False


@dataclass(frozen=True, kw_only=True)
class Picking(Stateful):
    """An operator that emits columns of its inputs: all of them, or only `output` if set."""

    output: tuple[int, ...] | None = None

    @property
    @abstractmethod
    def given(self) -> tuple[int, ...]:
        """The columns that it emits, numbered across all inputs."""

    def picking(self, places: Sequence[int]) -> Self:
        """The same operator, emitting only these of its columns."""
        return replace(self, output=tuple(self.given[place] for place in places))
