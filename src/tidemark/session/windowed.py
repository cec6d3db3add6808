"""`table.window(...).group_by(...).select(...)`: the same plans as windows in SQL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from sqlglot import exp

from tidemark.dialect import parse_script, to_sql
from tidemark.dialect import statements as s
from tidemark.errors import PlanError, Source, Span
from tidemark.kernels.windows.spec import Emit, Firing
from tidemark.plan.windows.emit import EmitRules
from tidemark.plan.windows.group_windows import rows_window
from tidemark.windows import Window

R = TypeVar("R")

# Runs a query whose windows emit results by these rules.
Run = Callable[[s.Query, Source, EmitRules], R]


@dataclass(frozen=True, slots=True)
class WindowedTable(Generic[R]):
    """The rows of a query in windows, to be grouped and aggregated."""

    query: exp.Expression
    run: Run[R]
    window: Window
    keys: tuple[str, ...] = ()

    def group_by(self, *keys: str) -> WindowedTable[R]:
        """The windows of each key; keys are columns or SQL expressions."""
        return replace(self, keys=(*self.keys, *keys))

    def select(self, *items: str) -> R:
        """One row per key and window: SQL expressions over keys, aggregates, and, for time
        windows, `window_start`, `window_end` and `window_time`.
        """
        if not items:
            raise PlanError(
                "select() needs at least one column", hint="for example: 'COUNT(*) AS n'"
            )
        text = self._sql(items)
        [statement] = parse_script(text, "<window>").statements
        assert isinstance(statement, s.Query)
        if self.window.row_counts is not None:
            statement = _with_rows(statement, *self.window.row_counts)
        return self.run(statement, Source(text, "<window>"), self._rules(text))

    def _sql(self, items: tuple[str, ...]) -> str:
        rows = f"({to_sql(self.query)})"
        of_rows = self.window.row_counts is not None
        source = rows if of_rows else f"TABLE({self.window.function(rows, self.keys)})"
        bounds = () if of_rows else ("window_start", "window_end", "window_time")
        grouped = ", ".join((*bounds, *self.keys))
        end = f"\nGROUP BY {grouped}" if grouped else ""
        return f"SELECT {', '.join(items)}\nFROM {source}{end}"

    def _rules(self, text: str) -> EmitRules:
        window = self.window
        if window.late_ms is not None and not window.lateness_ms:
            raise PlanError(
                "late_fire() requires allowed_lateness()",
                hint="add .allowed_lateness('1 hour')",
            )
        emit = Emit(_firing(window.early_ms), _firing(window.late_ms))
        return EmitRules(emit, window.lateness_ms, Span(0, len(text)))


def _firing(period_ms: int | None) -> Firing | None:
    if period_ms is None:
        return None
    return Firing(every_ms=period_ms) if period_ms else Firing(each_row=True)


def _with_rows(statement: s.Query, size: int, slide: int) -> s.Query:
    """The query, grouped by row-count windows too, which SQL has no syntax for."""
    query = statement.query.copy()
    group = query.args.get("group") or exp.Group(expressions=[])
    group.append("expressions", rows_window(size, slide))
    query.set("group", group)
    return replace(statement, query=query)
