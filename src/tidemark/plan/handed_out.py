"""Which INSERTs of a statement set read late rows as an output of the operator that drops them.

Such an INSERT only filters and projects late rows, and becomes a part of the job whose operator
hands them out: one decision, one watermark, one exchange. The operator is the last one with state
of its INSERT; a join hands out the late rows of each side. Others find late rows in jobs of their
own, by `LateRows`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from tidemark.kernels.windows.spec import Sliding
from tidemark.plan.carried import Carrier
from tidemark.plan.late_rows import time_of
from tidemark.plan.nodes import (
    AssignWindows,
    Filter,
    LateColumns,
    LateOutput,
    LateRows,
    Node,
    Port,
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
class _Outlet:
    """Where an operator hands out the late rows of an input: under a number, the values of a table
    that are carried to the operator. Of these, some columns are requested.
    """

    number: int
    carrier: Carrier
    time: int  # the column of the table that is its event time
    asked: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, late: LateRows, number: int) -> _Outlet:
        assert late.table is not None
        return cls(number, _carrier(late), time_of(late.table))

    def beside(self, rows: Node, port: Port) -> LateColumns:
        """The rows of an input, with the requested columns."""
        # The operator may not know the times of rows, if these have their windows.
        places = tuple(sorted(self.asked | ({self.time} if port.time is None else set())))
        wanted = replace(
            self.carrier,
            values=tuple(self.carrier.values[n] for n in places),
            names=tuple(f"late {self.carrier.names[n]}" for n in places),
        )
        [carried] = wanted.to(rows)
        return LateColumns(carried.rows, places, self.number, self.time)


@dataclass(slots=True)
class _Outlets:
    """The outlets of the operators of all roots, by the number of the root and of the input."""

    roots: tuple[Node, ...]
    open: dict[tuple[int, int], _Outlet] = field(default_factory=dict)

    def reader(self, place: int) -> Node | None:
        """The root as a reader of outlets; None if it must be a job of its own."""
        root = self.roots[place]
        late = [node for node in walk(root) if isinstance(node, LateRows)]
        if not late or not _only_passes(root):
            return None
        outlets, outputs = dict(self.open), {}
        for node in late:
            of = self._dropping(node, place)
            if of is None:
                return None
            outlet = outlets.setdefault((of, node.port), _Outlet.of(node, len(outlets)))
            if outlet.carrier != _carrier(node):
                return None  # An outlet is for one table.
            outputs[node] = _output(node, outlet.number)
        self.open = outlets
        return _with_outputs(root, outputs)

    def _dropping(self, late: LateRows, reader: int) -> int | None:
        """The root whose last operator with state drops these rows, and can hand them out."""
        if late.dropped_by is None:
            return None
        for place, root in enumerate(self.roots):
            if place != reader and late.dropped_by == _last_operator(root):
                return place if _hands_out(late) else None
        return None

    def ask(self, reader: Node) -> None:
        """Note which columns of the table a reader needs."""
        by_number = {outlet.number: outlet for outlet in self.open.values()}
        for node in walk(reader):
            if isinstance(node, LateOutput):
                by_number[node.outlet].asked.update(node.places)

    def opened(self, place: int) -> Node:
        """The root, with the requested columns added to the inputs of its last stateful operator
        that have outlets."""
        root = self.roots[place]
        outlets = {port: outlet for (at, port), outlet in self.open.items() if at == place}
        if not outlets:
            return root
        operator = _last_operator(root)
        assert operator is not None and operator.needs is not None
        ports = operator.needs.ports
        inputs = [
            outlets[number].beside(rows, ports[number]) if number in outlets else rows
            for number, rows in enumerate(operator.inputs)
        ]
        return _replaced(root, operator.with_inputs(inputs))


def _output(late: LateRows, number: int) -> LateOutput:
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
    node, core = operator.inputs[late.port], _carrier(late).core
    if [rule.rows for rule in operator.late_inputs if rule.port == late.port] != [node]:
        return False
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
