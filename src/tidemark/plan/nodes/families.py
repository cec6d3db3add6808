"""What groups of nodes have in common: sources, nodes of one input, with and without state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from tidemark.plan.nodes.base import LateInput, Node, Reason

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
    def is_stateful(self) -> bool:
        return False

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
    def is_stateful(self) -> bool:
        return True

    @property
    def is_ordered(self) -> bool:
        return False

    @property
    def can_be_stamped(self) -> bool:
        return False

    @property
    def keeps_all_rows(self) -> bool:
        return False
