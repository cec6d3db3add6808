"""Expressions of MEASURES and DEFINE: their columns are values of a match.

`A.x` is a column of the last row of A, `x` one of the last row of all. FIRST and LAST apply to each
column inside them: `LAST(A.x + 1, 2)` is `LAST(A.x, 2) + 1`. In DEFINE the row that is tested is
the last one.

Where all rows of a match are emitted, values are those after the row that is emitted (RUNNING),
unless FINAL asks for those after the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from sqlglot import exp

from tidemark import functions
from tidemark import types as t
from tidemark.dialect import nodes, span_of
from tidemark.errors import PlanError, Span
from tidemark.kernels.match_recognize.spec import ALL_ROWS
from tidemark.plan import unsupported
from tidemark.plan.aggregates.calls import Columns, aggregate_of, bind_call, finished
from tidemark.plan.expressions import Expression, Ref
from tidemark.plan.matches.pattern import unknown_variable
from tidemark.plan.nodes import (
    AggregateValue,
    ClassifierValue,
    Column,
    FinalValue,
    MatchNumberValue,
    MatchRowtime,
    MatchValue,
    PreviousValue,
    RowValue,
    RunningValue,
)
from tidemark.plan.scalars.binder import Binder
from tidemark.plan.scalars.conversions import apply
from tidemark.plan.scope import Path, Scope, access

# How many rows back it is to the row beside another one, without an offset.
_BESIDE: Final = {"PREV": 1, "NEXT": -1}


@dataclass(slots=True)
class MatchValues:
    """The values that expressions need, each once."""

    found: list[tuple[Column, MatchValue]] = field(default_factory=list)

    def add(self, value: MatchValue, column: Column) -> Ref:
        known = [other for _, other in self.found]
        if value not in known:
            self.found.append((replace(column, name=f"$v{len(known)}"), value))
            known.append(value)
        place = known.index(value)
        kept = self.found[place][0]
        return Ref(place, kept.name, kept.type)


class VariableScope(Scope):
    """The columns of rows under the names of variables; notes which variables are named."""

    def __init__(self, scope: Scope, names: Sequence[str]) -> None:
        super().__init__(scope.visible)
        self._rows, self._names = scope, tuple(names)
        self.named: list[int] = []

    def resolve(self, parts: Path, at: Span | None) -> Expression:
        variable, column, fields = self.split(parts, at)
        if variable not in self.named:
            self.named.append(variable)
        value: Expression = column
        for name in fields:
            value = access(value, name, at)
        return value

    def split(self, parts: Path, at: Span | None) -> tuple[int, Ref, Path]:
        """The variable, the column of its rows, and fields inside it."""
        columns = Scope(replace(visible, table=()) for visible in self._rows.visible)
        variable, rest = ALL_ROWS, parts
        if len(parts) > 1 and parts[0] in self._names:
            variable, rest = self._names.index(parts[0]), parts[1:]
        elif not columns.has_column(parts[0]) and len(parts) > 1:
            raise unknown_variable(parts[0], self._names, at)
        found = columns.resolve(rest[:1], at)
        assert isinstance(found, Ref)
        return variable, found, rest[1:]


@dataclass(frozen=True, slots=True)
class MatchBinder(Binder):
    """Binds expressions over a match. `rows` are the columns that its rows must have, `values`
    what is asked of a match. Inside FIRST, LAST, PREV or NEXT, `within` is the call's name.
    `variables` are the `names` that are not those of subsets.
    """

    names: tuple[str, ...]
    rows: Columns
    values: MatchValues
    time: Column
    measures: bool
    all_rows: bool
    variables: tuple[str, ...]
    first: bool = False
    offset: int = 0
    back: int = 0
    final: bool = False
    within: str | None = None

    def bind(self, node: exp.Expression) -> Expression:
        if isinstance(node, exp.Column | exp.Dot) and nodes.name_path(node) is not None:
            return self._column(node)
        if isinstance(node, nodes.OverMatch):
            return self._over_match(node)
        if aggregate_of(node, self.catalogs) is not None:
            return self._aggregate(node)
        if isinstance(node, exp.Anonymous) and not isinstance(node, nodes.QualifiedCall):
            name = node.name.upper()
            if name in ("FIRST", "LAST", *_BESIDE):
                return self._navigation(name, node)
            if name == "CLASSIFIER":
                return self._classifier(node)
            if name == "MATCH_NUMBER":
                return self._number(node)
            if name in ("MATCH_ROWTIME", "MATCH_PROCTIME"):
                return self._time(name, node)
        return Binder.bind(self, node)

    def _column(self, node: exp.Expression) -> Expression:
        path = nodes.name_path(node)
        assert path is not None and isinstance(self.scope, VariableScope)
        at = span_of(node)
        variable, column, fields = self.scope.split(tuple(part.name for part in path), at)
        if variable not in self.scope.named:
            self.scope.named.append(variable)
        row_value = RowValue(self.rows.add(column), variable, self.first, self.offset)
        of_row = PreviousValue(row_value, self.back) if self.back else row_value
        type_ = column.type.with_nullable(True)
        value = self._asked(of_row, Column(column.name, type_))
        for name in fields:
            value = access(value, name, at)
        return value

    def _asked(self, value: RunningValue, column: Column) -> Expression:
        return self.values.add(FinalValue(value) if self.final else value, column)

    def _over_match(self, node: nodes.OverMatch) -> Expression:
        kind, call = node.args["kind"], node.this
        navigates = isinstance(call, exp.Anonymous) and call.name.upper() in ("FIRST", "LAST")
        if not navigates and aggregate_of(call, self.catalogs) is None:
            raise PlanError(
                f"{kind} applies to FIRST, LAST and aggregates",
                at=span_of(node),
                hint=f"write {kind} LAST(...)",
            )
        if not self.measures and kind == "FINAL":
            raise PlanError(
                "FINAL is not allowed in DEFINE",
                at=span_of(node),
                notes={"why": "the last row of the match is not known while rows are tested"},
            )
        # With one row per match, that is the row after the last one.
        return replace(self, final=self.all_rows and kind == "FINAL").bind(call)

    def _classifier(self, node: exp.Anonymous) -> Expression:
        if self.within in _BESIDE:
            what = f"CLASSIFIER inside {self.within}"
            raise unsupported.IN_MATCHES.error(span_of(node), what)
        if len(node.expressions) > 1:
            raise PlanError("CLASSIFIER takes at most one variable", at=span_of(node))
        variable = self._variable_in(node.expressions[0]) if node.expressions else ALL_ROWS
        assert isinstance(self.scope, VariableScope)
        if variable not in self.scope.named:
            self.scope.named.append(variable)
        value = ClassifierValue(self.variables, variable, self.first, self.offset)
        return self._asked(value, Column("classifier", t.STRING))

    def _variable_in(self, node: exp.Expression) -> int:
        name = node.name if isinstance(node, exp.Column) and not node.table else None
        if name not in self.names:
            raise unknown_variable(name or node.sql(), self.names, span_of(node))
        return self.names.index(name)

    def _number(self, node: exp.Anonymous) -> Expression:
        if not self.measures or node.expressions:
            raise PlanError(
                "MATCH_NUMBER() is only allowed in MEASURES, and takes no argument",
                at=span_of(node),
                notes={"why": "a match has a number when it is complete"},
            )
        return self.values.add(
            MatchNumberValue(), Column("number", t.BigInt().with_nullable(False))
        )

    def _navigation(self, name: str, node: exp.Anonymous) -> Expression:
        if name in _BESIDE and self.within in ("FIRST", "LAST"):
            what = f"{name} inside FIRST or LAST"
            raise unsupported.IN_MATCHES.error(span_of(node), what)
        if self.within is not None and not (self.within in _BESIDE and name not in _BESIDE):
            raise PlanError(
                f"{name} is not allowed inside {self.within}",
                at=span_of(node),
                notes={"why": "each of them chooses a row (same in Flink)"},
            )
        if not 1 <= len(node.expressions) <= 2:
            raise PlanError(
                f"{name} takes a column and an offset",
                at=span_of(node),
                notes={"expected": f"{name}(A.x) or {name}(A.x, 1)"},
            )
        scope = self._own_scope()
        given = self._offset(node.expressions[1]) if len(node.expressions) == 2 else None
        if name in _BESIDE:
            back = (1 if given is None else given) * _BESIDE[name]
            inner = replace(self, scope=scope, back=back, within=name)
        else:
            first = name == "FIRST"
            inner = replace(self, scope=scope, first=first, offset=given or 0, within=name)
        bound = inner.bind(node.expressions[0])
        _check_one_variable(scope, node, self.names)
        return bound

    def _offset(self, node: exp.Expression) -> int:
        value = node.this if isinstance(node, exp.Literal) and not node.is_string else ""
        if not value.isdigit():
            raise PlanError(
                "the offset must be an integer that is not negative",
                at=span_of(node),
                notes={"expected": "a literal, as in LAST(A.x, 1)"},
            )
        return int(value)

    def _aggregate(self, node: exp.Expression) -> Expression:
        if self.within is not None:
            raise PlanError(
                f"an aggregate is not allowed inside {self.within}",
                at=span_of(node),
                notes={"why": f"{self.within} chooses a row (same in Flink)"},
            )
        if next(node.find_all(exp.Distinct), None) is not None:
            raise PlanError(
                "DISTINCT is not allowed in aggregates of MATCH_RECOGNIZE",
                at=span_of(node),
                notes={"why": "Flink does not allow it either"},
            )
        for inside in node.find_all(exp.Anonymous):
            if inside is not node and inside.name.upper() == "CLASSIFIER":
                what = "CLASSIFIER inside an aggregate"
                raise unsupported.IN_MATCHES.error(span_of(inside), what)
        scope = self._own_scope()
        call = bind_call(node, Binder(scope, self.catalogs), self.rows, some=False, retracts=False)
        variable = _check_one_variable(scope, node, self.names)
        value = AggregateValue(call, variable)
        return finished(node, self._asked(value, Column(call.function, call.type)))

    def _time(self, name: str, node: exp.Anonymous) -> Expression:
        if not self.measures:
            raise PlanError(
                f"{name} is only allowed in MEASURES",
                at=span_of(node),
                notes={"why": "a match has a time when it is complete"},
                hint="compare the times of rows: A.ts",
            )
        if name == "MATCH_PROCTIME":
            return apply(functions.BUILT_IN["PROCTIME"], [], node)
        if self.time.time != "event":
            raise PlanError(
                "MATCH_ROWTIME requires rows ordered by event time",
                at=span_of(node),
                hint="use MATCH_PROCTIME()",
            )
        given = [self._own_time(argument) for argument in node.expressions]
        type_ = self.time.type if given else t.Timestamp(3).with_nullable(False)
        return self.values.add(MatchRowtime(type_), Column("rowtime", type_, "event"))

    def _own_time(self, node: exp.Expression) -> Expression:
        bound = Binder(self._own_scope(), self.catalogs).bind(node)
        if not isinstance(bound, Ref) or bound.name != self.time.name:
            raise PlanError(
                f"MATCH_ROWTIME takes the column that rows are ordered by, `{self.time.name}`",
                at=span_of(node),
            )
        return bound

    def _own_scope(self) -> VariableScope:
        assert isinstance(self.scope, VariableScope)
        return VariableScope(self.scope, self.names)


def _check_one_variable(scope: VariableScope, node: exp.Expression, names: Sequence[str]) -> int:
    if len(scope.named) > 1:
        named = [names[place] if place != ALL_ROWS else "all rows" for place in scope.named]
        raise PlanError(
            "a call can only use the rows of one pattern variable",
            at=span_of(node),
            notes={"found": ", ".join(named)},
            hint="combine two calls: LAST(A.x) + LAST(B.x)",
        )
    return scope.named[0] if scope.named else ALL_ROWS
