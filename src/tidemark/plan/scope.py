"""Which columns a name may mean at some place of a query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tidemark.errors import PlanError, Span, did_you_mean
from tidemark.plan.expressions import Expression, FieldAccess, Ref
from tidemark.plan.nodes import Column, Edge
from tidemark.types import Row


@dataclass(frozen=True, slots=True)
class Visible:
    """A column of the row at hand, and the table alias it may be qualified with."""

    qualifier: str | None
    column: Column


class Scope:
    """The columns of one FROM clause, in the order of the row that flows out of it."""

    def __init__(self, visible: Iterable[Visible] = ()) -> None:
        self.visible = tuple(visible)

    @classmethod
    def of(cls, edge: Edge, qualifier: str | None = None) -> Scope:
        return cls(Visible(qualifier, column) for column in edge.columns)

    def __add__(self, other: Scope) -> Scope:
        return Scope((*self.visible, *other.visible))

    def ref(self, index: int) -> Ref:
        column = self.visible[index].column
        return Ref(index, column.name, column.type)

    def star(self, qualifier: str | None, at: Span | None) -> list[Ref]:
        """`*`, or `qualifier.*`."""
        found = [
            self.ref(index)
            for index, visible in enumerate(self.visible)
            if qualifier is None or visible.qualifier == qualifier
        ]
        if not found:
            raise self._unknown_table(qualifier or "*", at)
        return found

    def resolve(self, parts: tuple[str, ...], at: Span | None) -> Expression:
        """`column`, `table.column`, and fields of rows behind either."""
        if len(parts) > 1 and any(v.qualifier == parts[0] for v in self.visible):
            return self._fields(self._column(parts[1], parts[0], at), parts[2:], at)
        if len(parts) > 1 and not any(v.column.name == parts[0] for v in self.visible):
            raise self._unknown_table(parts[0], at)
        return self._fields(self._column(parts[0], None, at), parts[1:], at)

    def _column(self, name: str, qualifier: str | None, at: Span | None) -> Ref:
        matches = [
            index
            for index, visible in enumerate(self.visible)
            if visible.column.name == name and qualifier in (None, visible.qualifier)
        ]
        if len(matches) == 1:
            return self.ref(matches[0])
        if matches:
            tables = sorted({self.visible[i].qualifier or "?" for i in matches})
            raise PlanError(
                f"column `{name}` is ambiguous",
                at=at,
                notes={"found in": ", ".join(tables)},
                hint=f"write `{tables[0]}.{name}`",
            )
        known = [v.column.name for v in self.visible if qualifier in (None, v.qualifier)]
        where = f"table `{qualifier}`" if qualifier else "any table"
        raise PlanError(
            f"column `{name}` not found in {where}",
            at=at,
            notes={"columns": ", ".join(known)} if known else None,
            hint=did_you_mean(name, known),
        )

    def _unknown_table(self, name: str, at: Span | None) -> PlanError:
        known = sorted({v.qualifier for v in self.visible if v.qualifier})
        return PlanError(
            f"table `{name}` not found in the FROM clause",
            at=at,
            notes={"tables": ", ".join(known)} if known else None,
            hint=did_you_mean(name, known),
        )

    def _fields(self, value: Expression, names: tuple[str, ...], at: Span | None) -> Expression:
        for name in names:
            value = access(value, name, at)
        return value


def access(value: Expression, name: str, at: Span | None) -> FieldAccess:
    """`value.name`, where `value` must be a ROW with such a field."""
    if not isinstance(value.type, Row):
        raise PlanError(f"{value.type.text()} has no field `{name}`; only a ROW has", at=at)
    for field in value.type.fields:
        if field.name == name:
            nullable = field.type.nullable or value.type.nullable
            return FieldAccess(value, name, field.type.with_nullable(nullable))
    known = [field.name for field in value.type.fields]
    raise PlanError(
        f"the row has no field `{name}`",
        at=at,
        notes={"fields": ", ".join(known)},
        hint=did_you_mean(name, known),
    )
