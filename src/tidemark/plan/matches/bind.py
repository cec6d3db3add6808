"""MATCH_RECOGNIZE in FROM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from tidemark import functions
from tidemark import types as t
from tidemark.dialect import nodes, span_of
from tidemark.errors import PlanError
from tidemark.kernels.match_recognize.spec import ALL_ROWS
from tidemark.plan.aggregates.calls import Columns
from tidemark.plan.context import Context
from tidemark.plan.expressions import Case, Expression, Literal, Ref, over
from tidemark.plan.matches.pattern import BoundPattern, skip_of, unknown_variable
from tidemark.plan.matches.values import MatchBinder, MatchValues, VariableScope
from tidemark.plan.nodes import (
    AggregateValue,
    ClassifierValue,
    Column,
    Match,
    MatchedValue,
    MatchTest,
    MatchVariable,
    Node,
    OwnValue,
    PreviousValue,
    RowTest,
    RowValue,
    WindowOrder,
    project,
)
from tidemark.plan.relation import Relation, aliased, check_distinct
from tidemark.plan.scalars import literals
from tidemark.plan.scalars.conversions import apply, convert


def bind_match_recognize(node: nodes.MatchRecognize, context: Context) -> Relation:
    """One row for each match: the columns of PARTITION BY, then the measures. With ALL ROWS, each
    row of a match: the columns of PARTITION BY and ORDER BY, the measures, and all other columns.
    """
    _check_clauses(node)
    relation = context.bind_relation(node.this)
    if relation.node.edge.changes:
        raise PlanError(
            "MATCH_RECOGNIZE requires append-only rows, and these are updated or deleted",
            at=span_of(node.this),
            notes={"why": "a match is never retracted (same in Flink)"},
        )
    return aliased(_Clauses.of(node, relation, context).plan(), node, ())


def _check_clauses(node: nodes.MatchRecognize) -> None:
    if node.args.get("order") is None:
        raise PlanError(
            "MATCH_RECOGNIZE requires ORDER BY a time attribute",
            at=span_of(node),
            hint="add ORDER BY and the column that has the WATERMARK",
        )


@dataclass(frozen=True, slots=True)
class _Clauses:
    """The clauses, bound one after the other; `rows` collects what they need of rows."""

    node: nodes.MatchRecognize
    relation: Relation
    context: Context
    rows: Columns
    pattern: BoundPattern
    keys: tuple[Ref, ...]
    order: tuple[tuple[Ref, exp.Ordered], ...]

    @classmethod
    def of(cls, node: nodes.MatchRecognize, relation: Relation, context: Context) -> _Clauses:
        keys = tuple(_key(key, relation, context) for key in node.args.get("partition_by") or ())
        order = tuple(
            (_ordered(one, relation, context), one) for one in node.args["order"].expressions
        )
        _check_time(order, relation)
        return cls(node, relation, context, Columns(), BoundPattern.of(node), keys, order)

    @property
    def time(self) -> Column:
        return self.relation.node.edge.columns[self.order[0][0].index]

    @property
    def names(self) -> tuple[str, ...]:
        return self.pattern.names

    @property
    def all_rows(self) -> bool:
        return (self.node.args.get("rows") or "").startswith("ALL ROWS")

    @property
    def unmatched(self) -> bool:
        return (self.node.args.get("rows") or "").endswith("UNMATCHED ROWS")

    def plan(self) -> Node:
        keys = tuple(self.rows.add(key) for key in self.keys)
        ordered = [(self.rows.add(column), by) for column, by in self.order]
        variables = self._with_tests()
        values, measures = MatchValues(), []
        carried = self._carried(values) if self.all_rows else []
        written = self.node.args.get("measures") or ()
        for measure in written:
            measures.append(self._binder(values, measures=True).bind(measure.this))
        if self.unmatched:
            measures = _only_of_matches(values, measures)
        within_ms = self._within_ms()
        if within_ms is None and self.pattern.unbounded:
            self.context.warn(
                "MATCH_RECOGNIZE with an unbounded quantifier and without WITHIN keeps the rows of "
                "partial matches for as long as they may go on; add WITHIN INTERVAL ... after the "
                "pattern to bound the state"
            )
        names = [
            e.name if isinstance(e, Ref) else f"${place}"
            for place, e in enumerate(self.rows.expressions)
        ]
        node = Match(
            project(self.relation.node, self.rows.expressions, names),
            keys,
            ordered[0][0],
            tuple(_order(place, by) for place, by in ordered[1:]),
            variables,
            skip_of(self.node.args.get("after"), self.names),
            within_ms,
            tuple(values.found),
            self.pattern.shape,
            self.pattern.subsets,
            self.all_rows,
            self.pattern.shows_empty,
            self.unmatched,
        )
        before = [each for each in carried if each[0] in self._ordered_names]
        aliases = [measure.alias for measure in written]
        after = [each for each in carried if each not in before]
        return self._measured(node, [*before, *zip(aliases, measures, strict=True), *after])

    @property
    def _ordered_names(self) -> list[str]:
        return [column.name for column, _ in self.order]

    def _carried(self, values: MatchValues) -> list[tuple[str, Expression]]:
        """The other columns of rows, those of ORDER BY first. They are those of the row that is
        emitted, but the time of processing is that of the match.
        """
        of_rows = self.relation.scope.star((), None)
        places = [ref.index for ref, _ in self.order]
        places += [ref.index for ref in of_rows if ref.index not in places]
        found: list[tuple[str, Expression]] = []
        for place in places:
            ref = self.relation.node.edge.ref(place)
            if place in [key.index for key in self.keys]:
                continue
            value: Expression
            if self.relation.node.edge.columns[place].time == "processing":
                value = apply(functions.BUILT_IN["PROCTIME"], [], self.node)
            else:
                column = self.rows.add(ref)
                own = self.pattern.shows_empty or self.unmatched
                shown = OwnValue(column) if own else RowValue(column, ALL_ROWS)
                value = values.add(shown, Column(ref.name, ref.type))
            found.append((ref.name, value))
        return found

    def _measured(self, node: Match, measures: Sequence[tuple[str, Expression]]) -> Node:
        before = len(self.keys)
        outputs: list[Expression] = [node.edge.ref(place) for place in range(before)]
        outputs += [
            over(measure, lambda ref: node.edge.ref(before + ref.index)) for _, measure in measures
        ]
        names = [*(key.name for key in self.keys), *(name for name, _ in measures)]
        check_distinct(names, span_of(self.node))
        return project(node, outputs, names)

    def _binder(self, values: MatchValues, *, measures: bool) -> MatchBinder:
        scope = VariableScope(self.relation.scope, self.names)
        catalogs = self.context.catalogs
        return MatchBinder(
            scope,
            catalogs,
            self.names,
            self.rows,
            values,
            self.time,
            measures,
            self.all_rows,
            self.pattern.own_names,
        )

    # --- DEFINE ---------------------------------------------------------------------------------

    def _with_tests(self) -> tuple[MatchVariable, ...]:
        tests: dict[str, RowTest | MatchTest | None] = {}
        for definition in self.node.args["define"]:
            name = definition.alias
            if name in tests:
                raise PlanError(
                    f"pattern variable `{name}` is defined twice", at=span_of(definition)
                )
            if name not in self.pattern.own_names:
                unknown = unknown_variable(name, self.pattern.own_names, span_of(definition))
                self.context.warn(f"{unknown.message}, so its definition has no effect")
                tests[name] = None
                continue
            tests[name] = self._test(definition.this, self.names.index(name))
        return tuple(
            MatchVariable(v.name, v.least, v.most, v.greedy, tests.get(v.name))
            for v in self.pattern.variables
        )

    def _test(self, condition: exp.Expression, place: int) -> RowTest | MatchTest:
        values = MatchValues()
        needed = len(self.rows.expressions)
        bound = self._binder(values, measures=False).bind(condition)
        if not isinstance(bound.type, t.Boolean | t.Null):
            raise PlanError(
                f"the condition of {self.names[place]} must be a BOOLEAN, not {bound.type.text()}",
                at=span_of(condition),
            )
        bound = convert(bound, t.Boolean())
        found = [value for _, value in values.found]
        if all(_is_current(value, place) for value in found):
            # The row decides alone, so the condition is a column; what it reads need not be one.
            columns = self.rows.expressions
            over_rows = over(bound, lambda ref: _row_of(columns, found[ref.index]))
            del columns[needed:]
            return RowTest(self.rows.add(over_rows))
        picked = tuple(
            v
            for v in found
            if isinstance(v, RowValue | AggregateValue | PreviousValue | ClassifierValue)
        )
        return MatchTest(picked, bound)

    # --- WITHIN ---------------------------------------------------------------------------------

    def _within_ms(self) -> int | None:
        """The length of WITHIN; an interval of zero means no limit, as in Flink."""
        written = self.node.args.get("within")
        if written is None:
            return None
        bound = self.context.binder(self.relation.scope).bind(written)
        if not isinstance(bound, Literal) or not isinstance(bound.type, t.DayTimeInterval):
            raise PlanError(
                "WITHIN takes a constant interval of days, hours, minutes or seconds",
                at=span_of(written),
                notes={"why": "months and years vary in length (same in Flink)"},
                hint="write WITHIN INTERVAL '10' MINUTE",
            )
        return int(bound.value) or None


def _only_of_matches(values: MatchValues, measures: Sequence[Expression]) -> list[Expression]:
    """The measures, which are NULL for a row that is of no match."""
    flag = values.add(MatchedValue(), Column("matched", t.Boolean(nullable=False)))
    return [
        Case(((flag, each),), literals.null(each.type), each.type.with_nullable(True))
        for each in measures
    ]


def _is_current(value: object, variable: int) -> bool:
    """Whether a value in a condition is a column of the row that is tested."""
    if not isinstance(value, RowValue) or value.first or value.offset:
        return False
    return value.variable in (variable, ALL_ROWS)


def _row_of(columns: Sequence[Expression], value: object) -> Expression:
    assert isinstance(value, RowValue)
    return columns[value.column]


# --- PARTITION BY and ORDER BY -------------------------------------------------------------------


def _key(key: exp.Expression, relation: Relation, context: Context) -> Ref:
    bound = context.binder(relation.scope).bind(key)
    if not isinstance(bound, Ref):
        raise PlanError(
            "PARTITION BY of MATCH_RECOGNIZE takes columns",
            at=span_of(key),
            notes={"why": "Flink does not take expressions either"},
            hint="compute it in a subquery in front of MATCH_RECOGNIZE",
        )
    return bound


def _ordered(one: exp.Ordered, relation: Relation, context: Context) -> Ref:
    bound = context.binder(relation.scope).bind(one.this)
    if not isinstance(bound, Ref):
        raise PlanError("ORDER BY of MATCH_RECOGNIZE takes columns", at=span_of(one))
    return bound


def _check_time(order: Sequence[tuple[Ref, exp.Ordered]], relation: Relation) -> None:
    time, written = order[0]
    columns = relation.node.edge.columns
    if columns[time.index].time is None:
        attributes = [column.name for column in columns if column.time is not None]
        raise PlanError(
            "ORDER BY of MATCH_RECOGNIZE must begin with a time attribute",
            at=span_of(written),
            notes={"time attributes": ", ".join(attributes) or "none"},
            hint=f"ORDER BY {attributes[0]}" if attributes else "add a WATERMARK to the table",
        )
    if written.args.get("desc"):
        raise PlanError(
            "the time attribute must be in ascending order",
            at=span_of(written),
            notes={"why": "rows are processed as time passes (same in Flink)"},
            hint="remove DESC",
        )


def _order(place: int, by: exp.Ordered) -> WindowOrder:
    descending, first = bool(by.args.get("desc")), by.args.get("nulls_first")
    return WindowOrder(place, descending, descending if first is None else not first)
