"""What groups of nodes have in common: sources, nodes of one input, with and without state."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from tidemark.plan.nodes.base import LateInput, Node, Reason
from tidemark.plan.nodes.needs import Needs

ON_STATE = "stateful operator, one kernel per key bucket"


class Leaf(Node):
    """A node that rows come from."""

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
    """A node over one other."""

    input: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)

    def with_inputs(self, new: Sequence[Node]) -> Self:
        [only] = new
        return replace(self, input=only)


class Stateless(Node):
    """A node that looks at one row at a time: it drops none as late, and holds none back."""

    @property
    def needs(self) -> None:
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


class Stateful(Node):
    """A node that remembers something. Its rows come out when it sees fit, so not in the order of
    a source. What changes, is late or held back each of them says itself."""

    @property
    @abstractmethod
    def needs(self) -> Needs:
        """What it asks of its inputs."""

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
    """An operator that gives columns of its inputs, of all these only `output` if it is given."""

    output: tuple[int, ...] | None = None

    @property
    @abstractmethod
    def given(self) -> tuple[int, ...]:
        """Which columns it gives, counted on through all inputs."""

    def picking(self, places: Sequence[int]) -> Self:
        """The same operator, giving only these of its columns."""
        return replace(self, output=tuple(self.given[place] for place in places))
