"""`name$late`: the rows of a table or view that are late for the operators that read it.

These are the operators of the other INSERTs of the statement set. For each of them, an operator
of its own finds exactly the rows that it drops; see `handed_out` for when the operator itself hands
them out. If no operator drops rows, those at or behind the watermark are late.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tidemark.catalog.catalogs import Catalogs
from tidemark.catalog.tables import Relation
from tidemark.dialect.statements import Name
from tidemark.errors import PlanError, Span
from tidemark.kernels.windows.spec import Session
from tidemark.plan import unsupported
from tidemark.plan.carried import Carried, CarriedTable, sources
from tidemark.plan.expressions import Expression, Ref
from tidemark.plan.nodes import (
    FromChangelog,
    LateInput,
    LateRows,
    Node,
    Project,
    ToChangelog,
    UnionAll,
    project,
    walk,
)
from tidemark.plan.scope import Scope
from tidemark.plan.upserts import as_upserts

SUFFIX = "$late"


def relation_of(name: Name, catalogs: Catalogs) -> Relation | None:
    """The table or view whose late rows a name refers to; None if it is another name."""
    if not name.parts[-1].endswith(SUFFIX) or catalogs.find(name) is not None:
        return None
    own = name.parts[-1].removesuffix(SUFFIX)
    return catalogs.relation(Name((*name.parts[:-1], own), name.span))


def bind_late_rows(rows: Node, name: str, at: Span | None, others: Sequence[Node]) -> Node:
    """The late rows of the table `name` with these rows: those that operators of `others` drop."""
    read = _Read.of(rows, name, at)
    found = [late for root in others for late in read.by_operators_of(root)]
    late = list(dict.fromkeys(found)) or [_Read.of(as_upserts(rows), name, at).by_the_source()]
    return late[0] if len(late) == 1 else UnionAll(tuple(late))


def time_of(rows: Node) -> int:
    """The column that is the event time of a table."""
    return next(n for n, column in enumerate(rows.edge.columns) if column.time == "event")


@dataclass(frozen=True, slots=True)
class _Read:
    """The table, and what carries its rows to operators."""

    rows: Node
    carried: CarriedTable
    time: int
    at: Span | None

    @classmethod
    def of(cls, rows: Node, name: str, at: Span | None) -> _Read:
        if all(column.time != "event" for column in rows.edge.columns):
            raise PlanError(
                f"`{name}` has no event time, so it has no late rows",
                at=at,
                notes={"columns": ", ".join(rows.edge.names)},
                hint="declare a WATERMARK for a column of the table",
            )
        return cls(rows, CarriedTable.of(rows), time_of(rows), at)

    # --- operators -------------------------------------------------------------------------

    def by_operators_of(self, root: Node) -> Iterator[LateRows]:
        """The rows of the table that the operators of a plan drop."""
        for node in walk(root):
            for input_ in node.late_inputs:
                if self._is_coded(input_.rows):
                    raise unsupported.LATE_CHANGELOGS.error(self.at)
                for path, carried in enumerate(self.carried.to(input_.rows)):
                    late = replace(self._late(carried, input_), path=path)
                    yield replace(late, dropped_by=node, port=input_.port, table=self.rows)

    def by_the_source(self) -> LateRows:
        """The rows at or behind the watermark of the rows before them."""
        [carried] = self.carried.to(self.carried.core)
        return self._late(carried, LateInput(carried.rows, "source", None))

    def _late(self, carried: Carried, rule: LateInput) -> LateRows:
        of_sessions = isinstance(rule.assigner, Session)
        if of_sessions and carried.beside:
            self._refuse_sessions()
        time = self._kept(carried.rows)[self.time] if rule.time is None else rule.time
        keys = rule.keys if of_sessions else ()
        rows, (time, *places) = self._narrow(carried.rows, [time, *keys, *(rule.given or ())])
        return LateRows(
            rows,
            rule.operator,
            time,
            (places[-2], places[-1]) if rule.given is not None else None,
            rule.assigner,
            tuple(places) if keys else (),
            rule.lateness_ms,
            self._kept(rows),
            _beside(carried, rule),
            rule.held_back_ms,
            shares_sessions=rule.shared is not None,
        )

    def _is_coded(self, node: Node, coded: bool = False) -> bool:
        """Whether the table's rows reach a node by TO_CHANGELOG or FROM_CHANGELOG: they are other
        rows after it.
        """
        if node == self.carried.core or node.is_stateful:
            return coded and node == self.carried.core
        coded = coded or isinstance(node, ToChangelog | FromChangelog)
        return any(self._is_coded(below, coded) for below in node.inputs)

    def _refuse_sessions(self) -> None:
        raise unsupported.LATE_SESSIONS.error(self.at)

    def _kept(self, rows: Node) -> tuple[int, ...]:
        """The positions of the table's values, after all other columns."""
        width = len(rows.edge.columns)
        return tuple(range(width - len(self.rows.edge.columns), width))

    def _narrow(self, rows: Node, asked: Sequence[int]) -> tuple[Node, list[int]]:
        """The rows with only the requested columns besides the values of the table, and the new
        positions of the requested columns.
        """
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


def _beside(carried: Carried, rule: LateInput) -> tuple[Node, ...]:
    """What else the operator depends on: rows of the same sessions, or other watermarks."""
    if rule.shared is not None:
        return (rule.shared,)
    return (*carried.beside, *(sources([rule.other]) if rule.other is not None else ()))


def _plain(expression: Expression) -> bool:
    return isinstance(expression, Ref)
