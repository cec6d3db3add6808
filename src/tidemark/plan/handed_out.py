"""Which INSERTs of a statement set read late rows as an output of the operator that drops them.

Such an INSERT only filters and projects late rows, and becomes a part of the job whose operator
hands them out: one decision, one watermark, one exchange. A join hands out the late rows of each
side. Late rows of an operator below others go along with its results. Other INSERTs find late rows
in jobs of their own, by `LateRows`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tidemark.kernels.windows.spec import Session
from tidemark.plan import unsupported
from tidemark.plan.accompanied import Accompanied, Companions, on_the_way, tumbles
from tidemark.plan.carried import CarriedTable
from tidemark.plan.late_rows import time_of
from tidemark.plan.leaving import PASSING, lets_out
from tidemark.plan.nodes import (
    AssignWindows,
    LateColumns,
    LateOutlet,
    LateOutput,
    LateRows,
    Node,
    Over,
    Port,
    Sink,
    UnionAll,
    Unnest,
    WindowAggregate,
    pruned,
    walk,
)
from tidemark.plan.windows.before_windows import before_windows


def handed_out(roots: Sequence[Node], apart: Collection[int] = ()) -> tuple[Node, ...]:
    """The roots of a statement set with all their columns. Late rows are read from an operator of
    another root if that can hand them out, unless a root is to stay `apart`.
    """
    outlets = _Outlets(tuple(roots))
    readers = [None if place in apart else outlets.reader(place) for place in range(len(roots))]
    for root, reader in zip(roots, readers, strict=True):
        if reader is not None:
            outlets.ask(pruned(reader))
        else:
            _refuse_what_only_operators_know(root)
    return tuple(
        outlets.opened(place) if reader is None else reader for place, reader in enumerate(readers)
    )


def _refuse_what_only_operators_know(root: Node) -> None:
    """Reject a job of its own for late rows whose lateness does not follow from watermarks."""
    for node in walk(root):
        dropped_by = node.dropped_by if isinstance(node, LateRows) else None
        if isinstance(dropped_by, Over) and dropped_by.late_by_key:
            raise unsupported.LATE_FOR_FRAMES.error(None)


def outlets_of(root: Node) -> frozenset[int]:
    """The outlets that operators of a root have."""
    found = (node.outlets for node in walk(root) if isinstance(node, LateColumns))
    return frozenset(outlet.number for outlets in found for outlet in outlets)


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
    that are carried to the operator on a path. Of these, some columns are requested.
    """

    number: int
    carried: CarriedTable
    path: int
    time: int  # the column of the table that is its event time
    asked: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, late: LateRows, number: int) -> _Outlet:
        assert late.table is not None
        return cls(number, _carried(late), late.path, time_of(late.table))

    def serves(self, late: LateRows) -> bool:
        return (self.carried, self.path) == (_carried(late), late.path)

    def columns(self, port: Port, *, marked: bool) -> tuple[LateOutlet, Companions]:
        """The requested columns."""
        # The operator may not know the times of rows, if these have their windows.
        time = self.time if port.time is None else None
        places = tuple(sorted(self.asked | ({self.time} if time is not None else set())))
        wanted = replace(
            self.carried,
            values=tuple(self.carried.values[n] for n in places),
            names=tuple(f"late {self.carried.names[n]}" for n in places),
        )
        outlet = LateOutlet(self.number, places, marked, time)
        return outlet, Companions(wanted, self.path)


# The number of a root, one of its operators, and the number of an input of that.
_Place = tuple[int, Node, int]


@dataclass(slots=True)
class _Outlets:
    """The outlets of the operators of all roots."""

    roots: tuple[Node, ...]
    open: dict[_Place, tuple[_Outlet, ...]] = field(default_factory=dict)

    def reader(self, place: int) -> Node | None:
        """The root as a reader of outlets; None if it must be a job of its own."""
        root = self.roots[place]
        late = _late_rows_in(root)
        if not late or not _only_passes(root):
            return None
        before, outputs = dict(self.open), {}
        for node in late:
            of = self._dropping(node)
            if of is None:
                self.open = before
                return None
            outputs[node] = _output(node, self._outlet(node, of).number)
        return _with_outputs(root, outputs)

    def _outlet(self, late: LateRows, of: _Place) -> _Outlet:
        """The outlet for late rows of an input."""
        known = self.open.get(of, ())
        for outlet in known:
            if outlet.serves(late):
                return outlet
        number = sum(map(len, self.open.values()))
        self.open[of] = (*known, _Outlet.of(late, number))
        return self.open[of][-1]

    def _dropping(self, late: LateRows) -> _Place | None:
        """The operator of a root that drops these rows, if it can hand them out. Roots that read
        late rows may become parts of other jobs.
        """
        operator = late.dropped_by
        if operator is None or not _hands_out(late):
            return None
        for place, root in enumerate(self.roots):
            if not _late_rows_in(root) and lets_out(root, operator):
                return place, operator, late.port
        return None

    def ask(self, reader: Node) -> None:
        """Note which columns of the table a reader needs."""
        by_number = {outlet.number: outlet for known in self.open.values() for outlet in known}
        for node in walk(reader):
            if isinstance(node, LateOutput):
                by_number[node.outlet].asked.update(node.places)

    def opened(self, place: int) -> Node:
        """The root, with the requested columns added to the inputs of operators that have
        outlets."""
        found = {(node, port): out for (at, node, port), out in self.open.items() if at == place}
        return _with_outlets(self.roots[place], found) if found else self.roots[place]


def _with_outlets(node: Node, outlets: dict[tuple[Node, int], tuple[_Outlet, ...]]) -> Node:
    """What carries columns into an operator is found before the operators below are changed. Of
    equal operators, the first has the outlets; later ones find them taken.
    """
    inputs = list(node.inputs)
    for port, rows in enumerate(node.inputs):
        known = outlets.pop((node, port), None)
        if known is not None:
            inputs[port] = _beside(node, port, rows, known)
    return node.with_inputs([_with_outlets(below, outlets) for below in inputs])


def _beside(operator: Node, port: int, rows: Node, known: Sequence[_Outlet]) -> LateColumns:
    """The rows of an input, with the requested columns."""
    assert operator.needs is not None
    sets = _grouping_sets(operator)
    way = [node for outlet in known for node in on_the_way(rows, outlet.carried.core)]
    marked = sets is not None or any(map(_repeats, way))
    port_of = operator.needs.ports[port]
    columns = [outlet.columns(port_of, marked=marked) for outlet in known]
    accompanied = Accompanied([companions for _, companions in columns], marked, sets)
    return LateColumns(accompanied.to(rows), tuple(outlet for outlet, _ in columns))


def _repeats(node: Node) -> bool:
    """Whether rows of a table may be there more than once, or with rows of other tables."""
    return isinstance(node, UnionAll) or (isinstance(node, AssignWindows) and not tumbles(node))


def _grouping_sets(operator: Node) -> Unnest | None:
    """What repeats each row of an operator's input, and is late once."""
    if not isinstance(operator, WindowAggregate) or isinstance(operator.assigner, Session):
        return None
    below = operator.input
    return below if operator.opens_grouping_sets and isinstance(below, Unnest) else None


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
    return all(isinstance(node, (*PASSING, UnionAll, LateRows)) for node in _above_late_rows(root))


def _above_late_rows(node: Node) -> Iterator[Node]:
    yield node
    if not isinstance(node, LateRows):
        for below in node.inputs:
            yield from _above_late_rows(below)


def _late_rows_in(root: Node) -> list[LateRows]:
    return [node for node in walk(root) if isinstance(node, LateRows)]


def _hands_out(late: LateRows) -> bool:
    """Whether the operator has the late rows as they are in the table. A join may put rows into
    windows itself, and does not know them by the windows that they have in a view.
    """
    return _port(late).window is None or before_windows(_carried(late).core) is None


def _port(late: LateRows) -> Port:
    assert late.dropped_by is not None and late.dropped_by.needs is not None
    return late.dropped_by.needs.ports[late.port]


def _carried(late: LateRows) -> CarriedTable:
    assert late.table is not None
    return replace(CarriedTable.of(late.table), last_only=False)


def _with_outputs(node: Node, outputs: dict[LateRows, LateOutput]) -> Node:
    if isinstance(node, LateRows):
        return outputs[node]
    return node.with_inputs([_with_outputs(below, outputs) for below in node.inputs])
