"""Statements that run as plans."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from tidemark.catalog.catalogs import Catalogs
from tidemark.catalog.options import (
    IDLE_TIMEOUT,
    INTERVAL_CLEANUP,
    INTERVAL_LATE_ROWS,
    LOAD_PHASE,
    RUNTIME_MODE,
    STATE_TTL,
    SessionOptions,
)
from tidemark.catalog.tables import Relation, Table, TableTraits, Use, View
from tidemark.dialect import statements as s
from tidemark.errors import PlanError
from tidemark.plan.bind.subqueries import bind_condition
from tidemark.plan.context import Context, Recursion
from tidemark.plan.create_as import bind_create_as
from tidemark.plan.early_filters import moved_before, with_early_filters
from tidemark.plan.handed_out import handed_out, is_reader
from tidemark.plan.inserts import bind_insert
from tidemark.plan.joins.outer import Padding, Unpadded
from tidemark.plan.kept_state import KeptState
from tidemark.plan.late_rows import bind_late_rows
from tidemark.plan.nodes import (
    Edge,
    Node,
    Scan,
    WindowAggregate,
    pruned,
    walk,
    with_rows_read,
)
from tidemark.plan.queries import bind_query, bind_result
from tidemark.plan.relations import bind_from, bind_relation, bind_view
from tidemark.plan.silent_sources import warnings as of_silent_sources
from tidemark.plan.tables import bind_table
from tidemark.plan.unchecked_times import without_needless_checks
from tidemark.plan.upserts import result_of, with_conditions
from tidemark.plan.windows.emit import EmitRules, emit_rules

Mode = Literal["streaming", "batch"]
Traits = Callable[[Table, Use], TableTraits]
Part = s.Query | s.Insert | s.CreateTable  # CREATE TABLE ... AS
Runnable = Part | s.StatementSet

_RECURSION = Recursion(bind_query, bind_relation, bind_from, bind_condition)


@dataclass(frozen=True, slots=True)
class Plan:
    """One root for a query, one for each INSERT. All run in the same mode."""

    roots: tuple[Node, ...]
    mode: Mode
    warnings: tuple[str, ...] = ()
    # The roots with all their columns: existing state may have more than the query needs.
    whole: tuple[Node, ...] = ()
    # The same, where no root is a part of another one's job.
    apart: Plan | None = None
    # What joins do not pad because it is dropped above, and the same plan in which they pad some of
    # it, as a checkpoint may have it.
    unpadded: tuple[Unpadded, ...] = ()
    padding: Callable[[Collection[Unpadded]], Plan] | None = field(default=None, compare=False)

    @property
    def of_single_roots(self) -> Plan:
        """The plan by which each root can run without the others."""
        return self.apart or self

    def keeping_apart(self, places: Collection[int]) -> Plan:
        """The plan in which these roots are not parts of other jobs."""
        return _together(self.of_single_roots, places) if places else self

    @property
    def jobs(self) -> tuple[Node, ...]:
        """The roots that are jobs; the others are parts of these."""
        return tuple(root for root in self.roots if not is_reader(root))

    @property
    def bounded(self) -> bool:
        return all(root.edge.bounded for root in self.roots)


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans statements with a session's catalog and options."""

    catalogs: Catalogs
    options: SessionOptions
    traits: Traits

    def plan(
        self, statement: Runnable, windows: EmitRules | None = None, dry_run: Mode | None = None
    ) -> Plan:
        """The plan of a query or INSERT. Raises PlanError, NotSupported, OptionError.

        `windows` decides when windows emit results, and `dry_run` in which mode the plan will run
        without its sinks, regardless of the statement and options.
        """
        mode: Mode = dry_run or ("batch" if self.options.batch else "streaming")
        context = self._context(batch=mode == "batch", writes=dry_run is None)
        plan = self._plan(statement, windows, mode, context)

        def padding(kept: Collection[Unpadded]) -> Plan:
            other = replace(context, padding=Padding(kept), warnings=[])
            return self._plan(statement, windows, mode, other)

        return replace(plan, unpadded=tuple(context.padding.dropped), padding=padding)

    def _plan(
        self, statement: Runnable, windows: EmitRules | None, mode: Mode, context: Context
    ) -> Plan:
        parts = _parts(statement)
        whole = tuple(
            self._root(part, self._beside_others(part, parts, context), windows) for part in parts
        )
        roots = tuple(map(finished, whole))
        if mode == "batch":
            _refuse_unbounded(roots, statement)
        elif self.options.milliseconds(IDLE_TIMEOUT):
            for warning in of_silent_sources(roots):
                context.warn(warning)
        return _together(Plan(roots, mode, tuple(context.warnings), whole))

    def _context(self, *, batch: bool, writes: bool = True) -> Context:
        """The scope in which a statement is planned."""
        return Context(
            self.catalogs,
            self.traits,
            _RECURSION,
            batch=batch,
            writes=writes,
            drops_nulls=self.options.drops_nulls,
            checks_fields=self.options.checks_fields,
            materializing=self.options.materializing,
            cdc_duplicates=self.options.cdc_duplicates,
            interval_slack=self.options.get(INTERVAL_CLEANUP),
            interval_drops_late=self.options.get(INTERVAL_LATE_ROWS) == "drop",
            temporal_drops_late=self.options.flink_version == "2.4",
            state_ttl_ms=self.options.milliseconds(STATE_TTL) or 0,
            load_idle_ms=self.options.milliseconds(LOAD_PHASE) or None,
        )

    def _beside_others(self, part: Part, parts: tuple[Part, ...], context: Context) -> Context:
        """The context of a part, which can ask for the plans of the others."""

        def others() -> tuple[Node, ...]:
            return tuple(self._root(p, context, None) for p in parts if p is not part)

        return replace(context, others=others)

    def _root(self, statement: Part, context: Context, windows: EmitRules | None) -> Node:
        clause = None if isinstance(statement, s.CreateTable) else statement.emit
        context = replace(context, emit=lambda: windows or emit_rules(self.options, clause))
        if isinstance(statement, s.Insert):
            root: Node = bind_insert(statement, context)
        elif isinstance(statement, s.CreateTable):
            root = bind_create_as(statement, context)
        else:
            root = result_of(bind_result(statement.query, context))
        if clause is not None and not any(isinstance(n, WindowAggregate) for n in walk(root)):
            raise PlanError(
                "EMIT requires a windowed aggregation, and this query has none",
                at=clause.span,
            )
        return root

    def relation(self, relation: Relation) -> Edge:
        """The columns of a table or view, with their properties.

        A table has columns even if its connector is not supported yet or does not exist.
        """
        return self._rows(relation).edge

    def late_rows(self, relation: Relation, name: s.Name) -> Edge:
        """The columns of the late rows of a table or view, which has an event time."""
        return bind_late_rows(self._rows(relation), relation.name, name.span, ()).edge

    def _rows(self, relation: Relation) -> Node:
        context = self._context(batch=self.options.batch)
        if isinstance(relation, View):
            return bind_view(relation, context)
        return bind_table(relation, replace(context, traits=declared_traits))


def finished(root: Node) -> Node:
    """The root as it runs: no row, column, field or change on the way that nothing needs."""
    return _without_unread(with_early_filters(root))


def finished_as_before(root: Node, kept: Iterable[KeptState]) -> Node:
    """The root as it runs on from a checkpoint: no other filters are moved than then."""
    return _without_unread(with_early_filters(root, moved_before(kept)))


def _without_unread(root: Node) -> Node:
    read = with_rows_read(pruned(with_conditions(root)))
    return without_needless_checks(read)


def _together(plan: Plan, apart: Collection[int] = ()) -> Plan:
    """The plan in which roots may be parts of other jobs, if they are not to be `apart`."""
    together = handed_out(plan.whole, apart)
    if together == plan.whole:
        return plan
    return replace(plan, roots=tuple(map(finished, together)), whole=together, apart=plan)


def _parts(statement: Runnable) -> tuple[Part, ...]:
    return statement.inserts if isinstance(statement, s.StatementSet) else (statement,)


def _refuse_unbounded(roots: tuple[Node, ...], statement: Runnable) -> None:
    for root in roots:
        for node in walk(root):
            if isinstance(node, Scan) and not node.edge.bounded:
                raise PlanError(
                    f"table `{node.table.name}` is unbounded and cannot be read in batch mode",
                    at=statement.span,
                    hint=f"SET '{RUNTIME_MODE}' = 'streaming', or bound the source",
                )


def declared_traits(table: Table, _: Use = "read") -> TableTraits:
    """For use without the connector: every metadata key has its declared type."""
    metadata = {
        column.key or column.name: column.type
        for column in table.columns
        if isinstance(column, s.MetadataColumn)
    }
    return TableTraits(metadata=metadata, readable=True, writable=True)
