"""A grouping with its aggregate calls, collected while the SELECT list is bound; then a node."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from tidemark import types as t
from tidemark.dialect import span_of
from tidemark.errors import PlanError
from tidemark.kernels.windows.spec import Emit, Session
from tidemark.plan import unsupported
from tidemark.plan.aggregates.calls import Columns
from tidemark.plan.aggregates.grouping import Grouping, expanded, grouping_of
from tidemark.plan.aggregates.results_of_none import result_of_none
from tidemark.plan.aggregates.single_rows import ungrouped
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression, Ref
from tidemark.plan.no_rows import has_no_rows, is_known_of_none
from tidemark.plan.nodes import (
    AggregateCall,
    GroupAggregate,
    Node,
    RowOfNone,
    Values,
    WindowAggregate,
    project,
    without_unread_over,
)
from tidemark.plan.relation import Relation
from tidemark.plan.scalars import literals
from tidemark.plan.scalars.binder import Binder
from tidemark.plan.scope import Scope
from tidemark.plan.windows import group_windows
from tidemark.plan.windows.emit import EmitRules
from tidemark.plan.windows.grouped import (
    ByCall,
    ByColumns,
    ByRows,
    Unwindowed,
    Windowed,
    columns_of_window,
)

Windows = ByCall | ByRows | ByColumns | Unwindowed


@dataclass(slots=True)
class Aggregation:
    """A grouping with the calls found so far. Its rows will contain the keys, the window's
    start, end and time, and the results.
    """

    rows: Node
    grouping: Grouping
    windows: Windows
    columns: Columns
    scope: Scope  # of the rows, which hints may name
    calls: list[AggregateCall] = field(default_factory=list)

    @classmethod
    def of(cls, select: exp.Select, relation: Relation, context: Context) -> Aggregation:
        written = _written(select)
        calls = [element for element in written if group_windows.is_group_window(element)]
        others = [element for element in written if not group_windows.is_group_window(element)]
        binder = context.binder(relation.scope)
        grouping = grouping_of(others, binder)
        windows: Windows
        rows = group_windows.rows_of(calls[0]) if calls else None
        if rows is not None:
            windows = ByRows(rows, calls[0])
        elif calls:
            windows = ByCall(_only_window(calls, grouping, binder), calls[0])
        else:
            found = columns_of_window(relation.node.edge, grouping, select)
            windows, grouping = found or (Unwindowed(), grouping)
        return cls(relation.node, grouping, windows, Columns(list(grouping.keys)), relation.scope)

    @property
    def key_width(self) -> int:
        """The number of key columns in the output; one of them may be the number of the grouping
        set.
        """
        return len(self.grouping.keys) + (not self.grouping.is_single)

    def key(self, place: int) -> Ref:
        key = self.grouping.keys[place]
        name = key.name if isinstance(key, Ref) else f"$key{place}"
        always = all(place in one for one in self.grouping.sets)
        return Ref(place, name, key.type if always else key.type.with_nullable(True))

    @property
    def set_number(self) -> Ref:
        return Ref(len(self.grouping.keys), "$set", t.Int(nullable=False))

    @property
    def bounds(self) -> tuple[Ref, ...]:
        """The window's start, end and time."""
        columns = enumerate(self.windows.columns, start=self.key_width)
        return tuple(Ref(place, column.name, column.type) for place, column in columns)

    @property
    def has_rows(self) -> bool:
        """Whether a group always has rows. A group of all rows may have none."""
        return bool(self.grouping.keys) or not isinstance(self.windows, Unwindowed)

    def result(self, call: AggregateCall) -> Ref:
        if call not in self.calls:
            self.calls.append(call)
        place = self.calls.index(call)
        before = self.key_width + len(self.windows.columns)
        return Ref(before + place, f"$result{place}", call.type)

    def grouped(self, expression: Expression) -> Expression | None:
        """The part of a group's row that an expression over its rows corresponds to."""
        if expression in self.grouping.keys:
            return self.key(self.grouping.keys.index(expression))
        if expression in self.windows.keys:
            return self.bounds[self.windows.keys.index(expression)]
        return None

    def node(self, context: Context) -> Node:
        blank = not self.calls
        if blank:
            # One result per group at the end, which never changes.
            always = self.columns.add(literals.boolean(True))
            self.result(AggregateCall("MAX", (always,), t.Boolean()))
        match self.windows:
            case Unwindowed():
                return self._group_aggregate(context, (), blank=blank)
            case ByColumns() as windows:
                if windows.never_end(self.rows, self.grouping.keys, self.columns):
                    return self._groups_of_windows(context, windows)
        return self._window_aggregate(self.windows, context.emit())

    def _groups_of_windows(self, context: Context, windows: ByColumns) -> Node:
        """Groups by the columns of windows that never end, as rows of a window aggregate."""
        groups = self._group_aggregate(context, windows.grouped_by)
        if windows.time is not None:
            return groups
        columns = groups.edge.refs
        # Nothing reads the window's time, as the query does not group by it.
        unread = literals.null(windows.columns[2].type)
        before = self.key_width + len(windows.grouped_by)
        expressions: list[Expression] = [*columns[:before], unread, *columns[before:]]
        names = [e.name if isinstance(e, Ref) else windows.columns[2].name for e in expressions]
        return project(groups, expressions, names)

    def _group_aggregate(
        self, context: Context, bounds: tuple[Ref, ...], *, blank: bool = False
    ) -> Node:
        """Groups that never end, by the keys and these bounds of windows. `blank` ones are without
        results that the query asks for.
        """
        places = tuple(self.columns.add(bound) for bound in bounds)
        rows, keys = self._keyed(Windowed(self.rows, None, None))
        keys = (*keys, *places)
        single = ungrouped(rows, keys, self.calls)
        if single is not None:
            return single
        ttl = context.state_ttls.of_table(self.scope)
        calls = tuple(self.calls)
        groups = GroupAggregate(rows, keys, calls, context.batch, hinted_ms=ttl)
        if keys or not self.grouping.is_single:
            return groups
        if context.batch:
            return RowOfNone(groups, tuple(map(result_of_none, calls)))
        # The only row of a blank one is the same before the first row and after.
        if blank or (is_known_of_none(calls) and has_no_rows(rows)):
            return Values((tuple(map(result_of_none, calls)),), groups.edge.columns)
        return groups

    def _window_aggregate(
        self, windows: ByCall | ByRows | ByColumns, rules: EmitRules
    ) -> WindowAggregate:
        emit = _checked_emit(rules, windows)
        windowed = self.windows.rows(self.rows, self.grouping.keys, self.columns)
        rows, keys = self._keyed(windowed)
        time = windowed.time
        if time is None and windowed.given is None:
            emit = Emit(emit.early)  # in processing time nothing is late
        return WindowAggregate(
            rows,
            keys,
            windows.assigner,
            time,
            windowed.given,
            tuple(self.calls),
            emit,
            rules.lateness_ms if emit.late is not None else 0,
            self.windows.columns,
        )

    def _keyed(self, windowed: Windowed) -> tuple[Node, tuple[int, ...]]:
        """The rows with columns for keys and arguments, and the positions of the keys."""
        if not self.columns.expressions:
            # Spark needs at least one column.
            self.columns.add(literals.boolean(True))
        names = [
            e.name if isinstance(e, Ref) else f"${place}"
            for place, e in enumerate(self.columns.expressions)
        ]
        rows = project(windowed.node, self.columns.expressions, names)
        if not isinstance(self.windows, ByColumns):  # between these is a window function
            rows = without_unread_over(rows)
        keys = tuple(range(len(self.grouping.keys)))
        if self.grouping.is_single:
            return rows, keys
        width = len(rows.edge.columns)
        opened = expanded(rows, keys, self.grouping.sets)
        return opened, tuple(range(width, width + self.key_width))


def _written(select: exp.Select) -> list[exp.Expression]:
    """The elements of GROUP BY; those of `(a, b)` one by one."""
    group = select.args.get("group")
    if group is None:
        return []
    elements: list[exp.Expression] = []
    for element in group.expressions:
        elements += element.expressions if isinstance(element, exp.Tuple) else [element]
    return elements


def _only_window(
    calls: list[exp.Expression], grouping: Grouping, binder: Binder
) -> group_windows.GroupWindow:
    if len(calls) > 1:
        raise PlanError("GROUP BY allows only one window", at=span_of(calls[1]))
    if not grouping.is_single:
        raise unsupported.GROUPING_SETS_OF_WINDOWS.error(span_of(calls[0]))
    return group_windows.group_window(calls[0], binder)


def _checked_emit(rules: EmitRules, windows: ByCall | ByRows | ByColumns) -> Emit:
    if rules.is_plain:
        return rules.emit
    if isinstance(windows, ByRows):
        raise PlanError("EMIT is not supported for row-count windows")
    if isinstance(windows.assigner, Session):
        raise PlanError(
            "a session window emits its result once; EMIT and the early and late fire options "
            "'table.exec.emit.*' are not supported for it",
            at=rules.clause or span_of(windows.at),
            notes={"why": "sessions merge, so an early result may belong to two sessions"},
        )
    if isinstance(windows, ByColumns) and rules.clause is None:
        raise PlanError(
            "the options 'table.exec.emit.*' for early-fire and late-fire apply to group windows, "
            "not for window table functions",
            at=span_of(windows.at),
            hint="add a clause after the query: EMIT WITHOUT DELAY BEFORE WATERMARK",
        )
    return rules.emit
