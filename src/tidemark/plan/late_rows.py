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
from tidemark.kernels.windows.spec import Assigner, CountSliding, Session
from tidemark.plan.carried import Carried, Carrier, sources
from tidemark.plan.expressions import Expression, Ref
from tidemark.plan.joins.late import Join, sides_of
from tidemark.plan.nodes import (
    AssignWindows,
    CoGroup,
    Column,
    Edge,
    IntervalJoin,
    LateRows,
    Node,
    Project,
    UnionAll,
    Unnest,
    WindowAggregate,
    WindowJoin,
    WindowRank,
    delay_ms,
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
class _Rule:
    """When a row is late for an operator, as `LateRows` says it."""

    time: int
    given: tuple[int, int] | None = None
    assigner: Assigner | None = None
    keys: tuple[int, ...] = ()
    lateness_ms: int = 0
    held_back_ms: int = 0
    shares_sessions: bool = False


@dataclass(frozen=True, slots=True)
class _Read:
    """A table that is read, and what carries its rows to operators: from what can be found below
    these, where projections one above the other have become one."""

    edge: Edge
    carrier: Carrier
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
            carrier = Carrier(rows.input, rows.expressions, edge.names)
        else:
            scope = Scope.of(edge)
            values = tuple(scope.ref(place) for place in range(len(edge.columns)))
            carrier = Carrier(rows, values, edge.names)
        return cls(edge, carrier, times[0], at)

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
                case WindowJoin() | CoGroup() | IntervalJoin(drops_late=True):
                    yield from self._of_join(node)

    def _of_windows(self, node: _OfWindows) -> Iterator[LateRows]:
        below, keys = _without_grouping_sets(node)
        given = _given(node)
        for carried in self.carrier.to(below):
            own = None if isinstance(node, WindowRank) else node.time
            time = self._kept(carried.rows)[self.time] if own is None else own
            assigner = None if isinstance(node, WindowRank) or given is not None else node.assigner
            if isinstance(assigner, Session) and carried.beside:
                self._refuse_sessions()
            lateness_ms = node.lateness_ms if isinstance(node, WindowAggregate) else 0
            rule = _Rule(time, given, assigner, keys, lateness_ms, delay_ms(below))
            yield self._late(carried, _words(node), rule)

    def _of_join(self, node: Join) -> Iterator[LateRows]:
        held_back_ms = max(delay_ms(node.left), delay_ms(node.right))
        for side, other in sides_of(node):
            for carried in self.carrier.to(side.node):
                time = self._kept(carried.rows)[self.time] if side.time is None else side.time
                beside = (*carried.beside, *sources([other.node]))
                rule = _Rule(time, side.window, held_back_ms=held_back_ms)
                if isinstance(node, IntervalJoin):
                    # A row at the watermark is in time.
                    rule = replace(rule, lateness_ms=1)
                elif isinstance(node, CoGroup) and node.gap_ms is not None:
                    if carried.beside:
                        self._refuse_sessions()
                    sessions = Session(node.gap_ms)
                    rule = replace(rule, assigner=sessions, keys=side.keys, shares_sessions=True)
                    beside = (other.of_sessions,)
                words = _operator(node, side.node, side.keys, side.window)
                together = replace(carried, beside=beside)
                yield self._late(together, f"{words}, {side.name} side", rule)

    def by_the_source(self) -> LateRows:
        """The rows that are at or behind the watermark that was before them."""
        [carried] = self.carrier.to(self.carrier.core)
        return self._late(carried, "source", _Rule(self._kept(carried.rows)[self.time]))

    def _late(self, carried: Carried, operator: str, rule: _Rule) -> LateRows:
        keys = rule.keys if isinstance(rule.assigner, Session) else ()
        asked = [rule.time, *keys, *(rule.given or ())]
        rows, (time, *places) = self._narrow(carried.rows, asked)
        return LateRows(
            rows,
            operator,
            time,
            (places[-2], places[-1]) if rule.given is not None else None,
            rule.assigner,
            tuple(places) if keys else (),
            rule.lateness_ms,
            self._kept(rows),
            self._edge(rows, time),
            carried.beside,
            rule.held_back_ms,
            rule.shares_sessions,
        )

    def _refuse_sessions(self) -> None:
        raise NotSupported(
            "the late rows of sessions through a UNION ALL cannot be told yet",
            at=self.at,
            notes={"why": "a row is late by the sessions that the rows of all branches make"},
            hint="make a view of the UNION ALL, and read the late rows of that",
        )

    def _kept(self, rows: Node) -> tuple[int, ...]:
        """Where the values of the table are: behind everything else."""
        width = len(rows.edge.columns)
        return tuple(range(width - len(self.edge.columns), width))

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
    if isinstance(node, WindowRank):
        return _operator(node, node.input, node.keys, node.bounds)
    return _operator(node, node.input, node.keys, None, window_words.window(node.assigner))


def _operator(
    node: _OfWindows | Join,
    below: Node,
    keys: Sequence[int],
    given: tuple[int, int] | None,
    window: str | None = None,
) -> str:
    """What an operator is called, with its keys and windows."""
    of = ", ".join(below.edge.names[key] for key in keys)
    if given is not None and (column := below.edge.columns[given[0]].window) is not None:
        window = window_words.window(column.assigner)
    kind = _KINDS[type(node)]
    return ", ".join(filter(None, (f"{kind} of {of}" if of else kind, window)))


_KINDS = {
    WindowAggregate: "window-aggregate",
    WindowRank: "window-rank",
    AssignWindows: "session-window",
    WindowJoin: "window-join",
    CoGroup: "co-group",
    IntervalJoin: "interval-join",
}
