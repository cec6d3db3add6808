"""Which columns a name can refer to in a part of a query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tidemark.errors import PlanError, Span, did_you_mean
from tidemark.plan.expressions import Expression, FieldAccess, Ref, shifted
from tidemark.plan.nodes import Column, Edge
from tidemark.types import Row

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Visible:
    """A column of the current row, and the table it may be qualified with.

    `table` is an alias or the full path of a table, whose last parts suffice; it is empty if there
    is none. A column that USING has merged with another one is found only `by` its qualified name,
    and what the planner has added by none.
    """

    table: Path
    column: Column
    by: Literal["any name", "qualified name", "no name"] = "any name"

    def is_of(self, table: Path) -> bool:
        if self.by == "no name":
            return False
        if not table:
            return self.by == "any name"
        return self.table[-len(table) :] == table

    def is_called(self, name: str) -> bool:
        """Whether it is the column of that name without a table."""
        return self.is_of(()) and self.column.name == name


class Scope:
    """The columns of one FROM clause, in the order of its rows, and the values that stand for
    subqueries, by number.
    """

    def __init__(
        self, visible: Iterable[Visible] = (), values: tuple[Expression, ...] = ()
    ) -> None:
        self.visible = tuple(visible)
        self.values = values

    @classmethod
    def of(cls, edge: Edge, *table: str) -> Scope:
        return cls(Visible(table, column) for column in edge.columns)

    def __add__(self, other: Scope) -> Scope:
        return Scope((*self.visible, *other.visible))

    @classmethod
    def hidden(cls, edge: Edge) -> Scope:
        """Columns that the planner has added, which no name means."""
        return cls(Visible((), column, "no name") for column in edge.columns)

    def ref(self, index: int) -> Ref:
        column = self.visible[index].column
        return Ref(index, column.name, column.type)

    def has_table(self, table: Path) -> bool:
        return any(visible.is_of(table) for visible in self.visible)

    def has_column(self, name: str) -> bool:
        return any(visible.is_called(name) for visible in self.visible)

    def star(self, table: Path, at: Span | None) -> list[Ref]:
        """`*`, or `table.*`."""
        found = [self.ref(i) for i, visible in enumerate(self.visible) if visible.is_of(table)]
        if not found and not table:
            raise PlanError("`*` needs a FROM clause", at=at)
        if not found:
            raise self._unknown_table(".".join(table), at)
        return found

    def resolve(self, parts: Path, at: Span | None) -> Expression:
        """`column`, `table.column`, `database.table.column`, followed by fields of rows."""
        for length in range(1, len(parts)):
            table, column, fields = parts[:length], parts[length], parts[length + 1 :]
            if self.has_table(table):
                return _fields(self._column(column, table, at), fields, at)
        if len(parts) > 1 and not self.has_column(parts[0]):
            raise self._unknown_table(parts[0], at)
        return _fields(self._column(parts[0], (), at), parts[1:], at)

    def _column(self, name: str, table: Path, at: Span | None) -> Ref:
        seen = [(i, v) for i, v in enumerate(self.visible) if v.is_of(table)]
        matches = [index for index, visible in seen if visible.column.name == name]
        if len(matches) == 1:
            return self.ref(matches[0])
        if matches:
            raise self._ambiguous(name, matches, at)
        known = list(dict.fromkeys(visible.column.name for _, visible in seen))
        where = f"table `{'.'.join(table)}`" if table else "any table"
        raise PlanError(
            f"column `{name}` not found in {where}" if known else "there are no columns here",
            at=at,
            notes={"columns": ", ".join(known)} if known else None,
            hint=did_you_mean(name, known),
        )

    def _ambiguous(self, name: str, matches: list[int], at: Span | None) -> PlanError:
        tables = sorted({self.visible[i].table[-1] for i in matches if self.visible[i].table})
        if len(tables) < len(matches):
            return PlanError(
                f"column `{name}` is ambiguous",
                at=at,
                notes={"found": f"{len(matches)} times in the subquery or collection"},
                hint="give the columns different names with AS",
            )
        return PlanError(
            f"column `{name}` is ambiguous",
            at=at,
            notes={"found in": ", ".join(tables)},
            hint=f"write `{tables[0]}.{name}`",
        )

    def _unknown_table(self, name: str, at: Span | None) -> PlanError:
        known = sorted({v.table[-1] for v in self.visible if v.table and v.by != "no name"})
        return PlanError(
            f"table `{name}` not found in the FROM clause",
            at=at,
            notes={"tables": ", ".join(known)} if known else None,
            hint=did_you_mean(name, known),
        )


class InnerFirst(Scope):
    """The scope of a subquery: the outer columns, then its own. Its own take precedence."""

    def __init__(self, outer: Scope, inner: Scope) -> None:
        super().__init__((*outer.visible, *inner.visible))
        self._inner = inner
        self._width = len(outer.visible)

    def resolve(self, parts: Path, at: Span | None) -> Expression:
        of_table = any(self._inner.has_table(parts[:length]) for length in range(1, len(parts)))
        if of_table or self._inner.has_column(parts[0]):
            return shifted(self._inner.resolve(parts, at), self._width)
        return super().resolve(parts, at)

    def star(self, table: Path, at: Span | None) -> list[Ref]:
        if table and not self._inner.has_table(table):
            return super().star(table, at)
        return [self.ref(self._width + own.index) for own in self._inner.star(table, at)]


def _fields(value: Expression, names: Path, at: Span | None) -> Expression:
    for name in names:
        value = access(value, name, at)
    return value


def access(value: Expression, name: str, at: Span | None) -> FieldAccess:
    """`value.name`, where `value` must be a ROW with such a field."""
    if not isinstance(value.type, Row):
        raise PlanError(f"{value.type.text()} is not a ROW, so it has no field `{name}`", at=at)
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
