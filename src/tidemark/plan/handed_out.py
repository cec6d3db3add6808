"""Which INSERTs of a statement set read late rows as an output of the operator that drops them.

Such an INSERT only filters and projects late rows, and becomes a part of the job whose operator
hands them out: one decision, one watermark, one exchange. The operator is the last one with state
of its INSERT and has one input. Others find late rows in jobs of their own, by `LateRows`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from tidemark.kernels.windows.spec import Sliding
from tidemark.plan.carried import Carrier
from tidemark.plan.nodes import (
    AssignWindows,
    Filter,
    LateColumns,
    LateOutput,
    LateRows,
    Node,
    Project,
    Sink,
    UnionAll,
    Unnest,
    pruned,
    walk,
)

_PASSING = (Sink, Project, Filter, Unnest)


def handed_out(roots: Sequence[Node]) -> tuple[Node, ...]:
    """The roots of a statement set with all their columns. Late rows are read from an operator of
    another root if that can hand them out.
    """
    outlets = _Outlets(tuple(roots))
    readers = [outlets.reader(place) for place in range(len(roots))]
    for reader in readers:
        if reader is not None:
            outlets.ask(pruned(reader))
    return tuple(
        outlets.opened(place) if reader is None else reader for place, reader in enumerate(readers)
    )


def outlets_of(root: Node) -> frozenset[int]:
    """The outlets that operators of a root have."""
    return frozenset(node.outlet for node in walk(root) if isinstance(node, LateColumns))


def is_reader(root: Node) -> bool:
    """Whether a root is part of other jobs because it reads their late rows."""
    return any(isinstance(node, LateOutput) for node in walk(root))


def readers_of(root: Node, roots: Sequence[Node]) -> Iterator[Sink]:
    """The other roots that read late rows of this one; of a union, only the branches that do."""
    outlets = outlets_of(root)
    for other in roots:
        if outlets and is_reader(other):
            part = _part(other, outlets)
            if part is not None:
                assert isinstance(part, Sink)  # a query is alone in its plan
                yield part


def _part(node: Node, outlets: frozenset[int]) -> Node | None:
    if isinstance(node, LateOutput):
        return node if node.outlet in outlets else None
    parts = [part for below in node.inputs if (part := _part(below, outlets)) is not None]
    if not parts:
        return None
    if isinstance(node, UnionAll) and len(parts) == 1:
        return parts[0]
    return node.with_inputs(parts)


@dataclass(slots=True)
class _Outlets:
    """The operators that hand out late rows. For each root: the number of the outlet, what carries
    the values of the table to the operator, and which of its columns are requested.
    """

    roots: tuple[Node, ...]
    numbers: dict[int, int] = field(default_factory=dict)
    carriers: dict[int, Carrier] = field(default_factory=dict)
    asked: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))

    def reader(self, place: int) -> Node | None:
        """The root as a reader of outlets; None if it must be a job of its own."""
        root = self.roots[place]
        late = [node for node in walk(root) if isinstance(node, LateRows)]
        if not late or not _only_passes(root):
            return None
        found = {node: self._dropping(node, place) for node in late}
        ways: dict[int, Carrier] = dict(self.carriers)
        for node, of in found.items():
            # An operator has one outlet, for one table.
            if of is None or ways.setdefault(of, _carrier(node)) != _carrier(node):
                return None
        self.carriers = ways
        outputs = {node: self._output(node, of) for node, of in found.items() if of is not None}
        return _with_outputs(root, outputs)

    def _dropping(self, late: LateRows, reader: int) -> int | None:
        """The root whose last operator with state drops these rows, and can hand them out."""
        if late.dropped_by is None:
            return None
        for place, root in enumerate(self.roots):
            if place != reader and late.dropped_by == _last_operator(root):
                return place if _hands_out(late) else None
        return None

    def _output(self, late: LateRows, of: int) -> LateOutput:
        number = self.numbers.setdefault(of, len(self.numbers))
        columns = late.edge.columns
        width = len(late.kept)
        return LateOutput(
            number,
            late.operator,
            columns[:width],
            tuple(range(width)),
            columns[width:],
            late.edge.bounded,
        )

    def ask(self, reader: Node) -> None:
        """Note which columns of the table a reader needs."""
        for node in walk(reader):
            if isinstance(node, LateOutput):
                self.asked[node.outlet].update(node.places)

    def opened(self, place: int) -> Node:
        """The root, with the requested columns added to the input of its last stateful operator."""
        root = self.roots[place]
        if place not in self.carriers:
            return root
        number, carrier = self.numbers[place], self.carriers[place]
        places = tuple(sorted(self.asked[number]))
        wanted = replace(
            carrier,
            values=tuple(carrier.values[n] for n in places),
            names=tuple(f"late {carrier.names[n]}" for n in places),
        )
        operator = _last_operator(root)
        assert operator is not None
        [rows] = operator.inputs
        [carried] = wanted.to(rows)
        with_late_columns = LateColumns(carried.rows, places, number)
        return _replaced(root, operator.with_inputs([with_late_columns]))


def _only_passes(root: Node) -> bool:
    if isinstance(root, Sink) and root.overwrite:
        return False
    return all(isinstance(node, (*_PASSING, UnionAll, LateRows)) for node in _above_late_rows(root))


def _above_late_rows(node: Node) -> Iterator[Node]:
    yield node
    if not isinstance(node, LateRows):
        for below in node.inputs:
            yield from _above_late_rows(below)


def _last_operator(node: Node) -> Node | None:
    """The operator with state whose rows nothing but filters and projections change."""
    while isinstance(node, _PASSING):
        node = node.input
    return node if node.is_stateful else None


def _replaced(root: Node, operator: Node) -> Node:
    """The root with another last operator."""
    if not isinstance(root, _PASSING):
        return operator
    return root.with_inputs([_replaced(root.input, operator)])


def _hands_out(late: LateRows) -> bool:
    """Whether the late rows are those that the operator drops: each row of the table reaches it
    once, on one path.
    """
    operator = late.dropped_by
    assert operator is not None
    if len(operator.inputs) != 1 or [rule.rows for rule in operator.late_inputs] != [
        operator.inputs[0]
    ]:
        return False
    node, core = operator.inputs[0], _carrier(late).core
    while node != core:
        if not isinstance(node, Project | Filter | Unnest) and not _tumbles(node):
            return False
        [node] = node.inputs
    return True


def _tumbles(node: Node) -> bool:
    """Whether the node puts each row into one window."""
    if not isinstance(node, AssignWindows) or not isinstance(node.assigner, Sliding):
        return False
    return node.assigner.size == node.assigner.slide


def _carrier(late: LateRows) -> Carrier:
    assert late.table is not None
    return replace(Carrier.of(late.table), last_only=False)


def _with_outputs(node: Node, outputs: dict[LateRows, LateOutput]) -> Node:
    if isinstance(node, LateRows):
        return outputs[node]
    return node.with_inputs([_with_outputs(below, outputs) for below in node.inputs])
