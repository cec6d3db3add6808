"""`name$late`: the rows of a table or view that came too late for the operators that read it.

Which operators these are, the other INSERTs of the statement set say. Each becomes an operator
of its own that is late exactly where the other one is, and tells what that one drops. Where
nobody drops rows, those count that lie at or behind the watermark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tidemark import types as t
from tidemark.catalog.catalogs import Catalogs
from tidemark.catalog.tables import Changelog, Relation
from tidemark.dialect.statements import Name
from tidemark.errors import NotSupported, PlanError, Span
from tidemark.kernels.windows.spec import CountSliding, Session
from tidemark.plan.expressions import Expression, Ref
from tidemark.plan.nodes import (
    AssignWindows,
    Column,
    Edge,
    Filter,
    IntervalJoin,
    LateRows,
    Node,
    Project,
    UnionAll,
    Unnest,
    WindowAggregate,
    WindowJoin,
    WindowRank,
    inputs,
    walk,
)
from tidemark.plan.projection import project
from tidemark.plan.scope import Scope
from tidemark.plan.windows import words as window_words

SUFFIX = "$late"


def relation_of(name: Name, catalogs: Catalogs) -> Relation | None:
    """The table or view whose late rows a name means; None if it means something else."""
    if not name.parts[-1].endswith(SUFFIX) or catalogs.find(name) is not None:
        return None
    own = name.parts[-1].removesuffix(SUFFIX)
    return catalogs.relation(Name((*name.parts[:-1], own), name.span))


def bind_late_rows(rows: Node, name: str, at: Span | None, others: Sequence[Node]) -> Node:
    """The late rows among `rows`, which are those of table `name`, by the operators of `others`."""
    read = _Read.of(rows, name, at)
    found = [late for root in others for late in read.by_operators_of(root)]
    late = list(dict.fromkeys(found)) or [read.by_the_source()]
    return late[0] if len(late) == 1 else UnionAll(tuple(late), late[0].edge)


@dataclass(frozen=True, slots=True)
class _Read:
    """A table that is read: its rows are `values` over those of `core`, which is what can be
    found below an operator, where projections one above the other have become one."""

    edge: Edge
    core: Node
    values: tuple[Expression, ...]
    time: int
    at: Span | None

    @classmethod
    def of(cls, rows: Node, name: str, at: Span | None) -> _Read:
        edge = rows.edge
        times = [place for place, column in enumerate(edge.columns) if column.time == "event"]
        if not times:
            raise PlanError(
                f"`{name}` has no event time, so none of its rows are late",
                at=at,
                notes={"columns": ", ".join(edge.names)},
                hint="declare a WATERMARK for a column of the table",
            )
        if isinstance(rows, Project):
            return cls(edge, rows.input, rows.expressions, times[0], at)
        scope = Scope.of(edge)
        values = tuple(scope.ref(place) for place in range(len(edge.columns)))
        return cls(edge, rows, values, times[0], at)

    # --- operators -------------------------------------------------------------------------

    def by_operators_of(self, root: Node) -> Iterator[LateRows]:
        """What the operators of a plan drop of these rows."""
        for node in walk(root):
            match node:
                case WindowAggregate() if not node.by_clock:
                    if not isinstance(node.assigner, CountSliding):
                        yield from self._of_windows(node)
                case WindowRank():
                    yield from self._of_windows(node)
                case AssignWindows(keeps_rows=True) if not node.by_clock:
                    yield from self._of_windows(node)
                case WindowJoin():
                    self._refuse_below(node, "a window join")
                case IntervalJoin(drops_late=True):
                    self._refuse_below(node, "an interval join that drops them")

    def _of_windows(self, node: _OfWindows) -> Iterator[LateRows]:
        given = _given(node)
        below, keys = _without_grouping_sets(node)
        rows = self._carried(below)
        if rows is None:
            return
        own = None if isinstance(node, WindowRank) else node.time
        time = self._kept(rows)[self.time] if own is None else own
        assigner = None if isinstance(node, WindowRank) or given is not None else node.assigner
        keys = keys if isinstance(assigner, Session) else ()
        lateness_ms = node.lateness_ms if isinstance(node, WindowAggregate) else 0
        rows, (time, *places) = self._narrow(rows, [time, *keys, *(given or ())])
        yield LateRows(
            rows,
            _words(node),
            time,
            (places[-2], places[-1]) if given is not None else None,
            assigner,
            tuple(places) if keys else (),
            lateness_ms,
            self._kept(rows),
            self._edge(rows, time),
        )

    def by_the_source(self) -> LateRows:
        """The rows that are at or behind the watermark that was before them."""
        rows = self._carried(self.core)
        assert rows is not None
        rows, [time] = self._narrow(rows, [self._kept(rows)[self.time]])
        edge = self._edge(rows, time)
        return LateRows(rows, "source", time, None, None, (), 0, self._kept(rows), edge)

    def _kept(self, rows: Node) -> tuple[int, ...]:
        """Where the values of the table are: behind everything else."""
        width = len(rows.edge.columns)
        return tuple(range(width - len(self.values), width))

    def _narrow(self, rows: Node, asked: Sequence[int]) -> tuple[Node, list[int]]:
        """The rows with nothing beside the values of the table but columns that are asked for,
        and where these are now."""
        kept = self._kept(rows)
        known = {place: place for place in kept}
        if isinstance(rows, Project):
            values = {e: kept[n] for n, e in enumerate(rows.expressions[kept[0] :]) if _plain(e)}
            found = [(place, rows.expressions[place]) for place in asked]
            known |= {place: values[e] for place, e in found if _plain(e) and e in values}
        others = [place for place in dict.fromkeys(asked) if place not in known]
        scope = Scope.of(rows.edge)
        order = [*others, *kept]
        narrow = project(rows, [scope.ref(p) for p in order], [rows.edge.names[p] for p in order])
        return narrow, [order.index(known.get(place, place)) for place in asked]

    def _edge(self, rows: Node, time: int) -> Edge:
        """The table's columns and those that say why a row is here. No row of them all is in
        time any more, so there is no event time."""
        own = [
            replace(column, time=None, window=None) if column.time == "event" else column
            for column in self.edge.columns
        ]
        zoned = isinstance(rows.edge.columns[time].type, t.TimestampLtz)
        moment = (t.TimestampLtz if zoned else t.Timestamp)(3, nullable=False)
        said = [
            Column("late_operator", t.STRING.with_nullable(False)),
            Column("late_time", moment),
            Column("late_watermark", moment),
            Column("late_by", t.BigInt(nullable=False)),
        ]
        if rows.edge.changelog is not Changelog.APPEND:
            said.append(Column("late_kind", t.STRING.with_nullable(False)))
        return Edge((*own, *said), Changelog.APPEND, (), self.edge.bounded)

    # --- rows on their way -----------------------------------------------------------------

    def _carried(self, node: Node) -> Node | None:
        """The same rows with the values of the table behind their own columns; None where the
        rows are not the table's."""
        if node == self.core:
            return self._beside(node, self.values)
        match node:
            case Project():
                below = self._carried(node.input)
                return None if below is None else self._beside(below, node.expressions, node.edge)
            case Filter():
                below = self._carried(node.input)
                return None if below is None else Filter(below, node.condition, below.edge)
            case AssignWindows(keeps_rows=True):
                return None  # what is late for it does not come out
            case Unnest() | AssignWindows():
                return self._carried_over(node)
            case UnionAll():
                self._refuse_below(node, "a UNION ALL")
        return None

    def _beside(self, below: Node, values: Sequence[Expression], edge: Edge | None = None) -> Node:
        """With no `edge`, the columns of `below` and then the values; with one, its columns made
        of the values, and then what `below` carries."""
        scope, width = Scope.of(below.edge), len(below.edge.columns)
        carried = self.edge.names
        if edge is None:
            own = [scope.ref(place) for place in range(width)]
            return project(below, [*own, *values], [*below.edge.names, *carried])
        brought = [scope.ref(place) for place in range(width - len(carried), width)]
        return project(below, [*values, *brought], [*edge.names, *carried])

    def _carried_over(self, node: Unnest | AssignWindows) -> Node | None:
        """Past a node that adds columns behind those of its input."""
        below = self._carried(node.input)
        if below is None:
            return None
        width, wide = len(node.input.edge.columns), len(below.edge.columns)
        added = node.edge.columns[width:]
        edge = Edge((*below.edge.columns, *added), below.edge.changelog, (), below.edge.bounded)
        opened: Node = replace(node, input=below, edge=edge)
        if isinstance(opened, AssignWindows):
            # A row is late when its last window is over.
            opened = replace(opened, last_only=True)
        scope = Scope.of(edge)
        order = [*range(width), *range(wide, wide + len(added)), *range(width, wide)]
        names = [edge.names[place] for place in order]
        return project(opened, [scope.ref(place) for place in order], names)

    def _refuse_below(self, node: Node, what: str) -> None:
        if any(self._carried(below) is not None for below in inputs(node)):
            raise NotSupported(
                f"the late rows of {what} cannot be told yet",
                at=self.at,
                notes={"why": f"the statement set reads the same rows in {what}"},
                hint="read the late rows in a statement of its own: then a row is late that is at "
                "or behind the watermark",
            )


_OfWindows = WindowAggregate | WindowRank | AssignWindows


def _given(node: _OfWindows) -> tuple[int, int] | None:
    """The columns of the window's bounds, where rows bring them along."""
    match node:
        case WindowRank():
            return node.bounds
        case WindowAggregate():
            return node.given
        case AssignWindows():
            return None


def _without_grouping_sets(node: _OfWindows) -> tuple[Node, tuple[int, ...]]:
    """The operator's input with each row once, and the columns that sessions are of."""
    below = node.input
    opened = isinstance(below, Unnest) and below.edge.names[-1] == "$set"
    if opened and not isinstance(getattr(node, "assigner", None), Session):
        assert isinstance(below, Unnest)
        return below.input, ()
    return below, node.keys


def _plain(expression: Expression) -> bool:
    return isinstance(expression, Ref)


def _words(node: _OfWindows) -> str:
    names = node.input.edge.names
    of = ", ".join(names[key] for key in node.keys)
    bounds = _given(node)
    window = None
    if not isinstance(node, WindowRank):
        window = window_words.window(node.assigner)
    elif bounds is not None and (column := node.input.edge.columns[bounds[0]].window) is not None:
        window = window_words.window(column.assigner)
    kind = _KINDS[type(node)]
    return ", ".join(filter(None, (f"{kind} of {of}" if of else kind, window)))


_KINDS = {
    WindowAggregate: "window-aggregate",
    WindowRank: "window-rank",
    AssignWindows: "session-window",
}
