"""Group windows: `GROUP BY TUMBLE|HOP|SESSION(time, ...)` and their auxiliary functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from tidemark import functions
from tidemark import types as t
from tidemark.dialect import nodes, span_of
from tidemark.errors import PlanError
from tidemark.kernels.windows.spec import Assigner, CountSliding, Session, Sliding
from tidemark.plan import unsupported
from tidemark.plan.expressions import Call, Expression, Literal, Ref
from tidemark.plan.features import GROUP_WINDOWS
from tidemark.plan.nodes import TimeAttribute
from tidemark.plan.scalars.binder import Binder
from tidemark.plan.scalars.conversions import apply
from tidemark.plan.scope import Scope

_SPELLINGS = {
    "TUMBLE": "TUMBLE(time, size)",
    "HOP": "HOP(time, slide, size)",
    "SESSION": "SESSION(time, gap)",
}


@dataclass(frozen=True, slots=True)
class GroupWindow:
    """A window by a time attribute of the rows that are grouped."""

    name: str
    time: Expression
    attribute: TimeAttribute
    assigner: Assigner


def is_group_window(node: exp.Expression) -> bool:
    return _is_call(node) and node.name.upper() in (*GROUP_WINDOWS, _ROWS)


# SQL has no syntax for row-count windows; the Python API uses this one.
_ROWS = "$ROWS"


def rows_window(size: int, slide: int) -> exp.Expression:
    """What to add to GROUP BY for the last `size` rows of a key after every `slide` of them."""
    lengths = [exp.Literal.number(size), exp.Literal.number(slide)]
    return exp.Anonymous(this=_ROWS, expressions=lengths)


def rows_of(call: exp.Expression) -> CountSliding | None:
    """The row-count window of a call, if it is one."""
    if call.name != _ROWS:
        return None
    size, slide = (int(length.this) for length in call.expressions)
    return CountSliding(size, slide)


def _is_call(node: exp.Expression) -> bool:
    return isinstance(node, exp.Anonymous) and not isinstance(node, nodes.QualifiedCall)


def group_window(call: exp.Expression, binder: Binder) -> GroupWindow:
    """The window that a call of TUMBLE, HOP or SESSION in GROUP BY describes."""
    name = call.name.upper()
    return _window(name, _SPELLINGS[name], call, binder)


def _window(name: str, spelling: str, call: exp.Expression, binder: Binder) -> GroupWindow:
    lengths = 2 if name == "HOP" else 1
    given = call.expressions
    if name == "TUMBLE" and len(given) == 3:
        raise unsupported.ALIGNED_TUMBLE.error(span_of(given[2]))
    if len(given) != 1 + lengths:
        raise PlanError(
            f"{name} requires a time attribute and {lengths} interval(s)",
            at=span_of(call),
            notes={"expected": spelling},
        )
    time, attribute = _time(given[0], binder)
    sizes = [length_ms(node, binder) for node in given[1:]]
    return GroupWindow(name, time, attribute, _assigner(name, sizes))


def _assigner(name: str, sizes: list[int]) -> Assigner:
    if name == "SESSION":
        return Session(sizes[0])
    slide, size = sizes[0], sizes[-1]
    return Sliding(size, slide)


def _time(node: exp.Expression, binder: Binder) -> tuple[Expression, TimeAttribute]:
    bound = binder.bind(node)
    attribute = _attribute(bound, binder.scope)
    if attribute is None:
        raise PlanError(
            f"a window requires a time attribute, and this is a plain {bound.type.text()}",
            at=span_of(node),
            notes={"time attributes": ", ".join(_attributes(binder.scope)) or "none"},
            hint="declare a WATERMARK for the column in its table, or use PROCTIME()",
        )
    return bound, attribute


def _attribute(bound: Expression, scope: Scope) -> TimeAttribute | None:
    if isinstance(bound, Ref):
        return scope.visible[bound.index].column.time
    is_clock = isinstance(bound, Call) and bound.function.name == "PROCTIME"
    return "processing" if is_clock else None


def _attributes(scope: Scope) -> list[str]:
    return [visible.column.name for visible in scope.visible if visible.column.time is not None]


def length_ms(node: exp.Expression, binder: Binder, *, positive: bool = True) -> int:
    """An interval of a fixed length, in milliseconds."""
    bound = binder.bind(node)
    if isinstance(bound.type, t.YearMonthInterval):
        raise PlanError(
            "window sizes in months or years are not supported, because their length varies",
            at=span_of(node),
            hint="write INTERVAL '30' DAY",
        )
    if not isinstance(bound, Literal) or not isinstance(bound.type, t.DayTimeInterval):
        raise PlanError(
            "the length of a window must be a constant interval",
            at=span_of(node),
            hint="write INTERVAL '10' SECOND",
        )
    if positive and bound.value <= 0:
        raise PlanError("the length of a window must be greater than zero", at=span_of(node))
    return int(bound.value)


# --- what may be asked of the window -----------------------------------------------------------


_COLUMNS = {
    "START": "window_start",
    "END": "window_end",
    "ROWTIME": "window_time",
    "PROCTIME": "PROCTIME()",
}


def is_property(node: exp.Expression) -> bool:
    return _is_call(node) and _split(node.name) is not None


def _split(name: str) -> tuple[str, str] | None:
    window, _, part = name.upper().rpartition("_")
    return (window, part) if window in GROUP_WINDOWS and part in _COLUMNS else None


def property_of(
    call: exp.Expression,
    grouped: GroupWindow | None,
    binder: Binder,
    values: Sequence[Expression],
    columns: bool,
) -> Expression:
    """TUMBLE_START(...) and the like; `values` are the window's start, end and time. With windows
    by `columns` of a window function, these are what to ask for.

    `binder` sees the rows that are grouped, as the window in GROUP BY did.
    """
    split = _split(call.name)
    assert split is not None
    window, part = split
    if columns:
        raise PlanError(
            f"{call.name.upper()} is for windows in GROUP BY, and a window function has columns",
            at=span_of(call),
            hint=f"use {_COLUMNS[part]}",
        )
    asked = _window(window, f"{call.name.upper()}(time, ...)", call, binder)
    if grouped is None or asked != grouped:
        raise PlanError(
            f"{call.name.upper()} needs its window in GROUP BY",
            at=span_of(call),
            hint=f"add {window}(...) with the same arguments to GROUP BY",
        )
    start, end, time = values
    if part == "PROCTIME":
        return apply(functions.BUILT_IN["PROCTIME"], [], call)
    if part == "ROWTIME" and grouped.attribute == "processing":
        raise PlanError(
            "a processing-time window has no row time",
            at=span_of(call),
            hint=f"use {window}_PROCTIME or {window}_END",
        )
    return {"START": start, "END": end, "ROWTIME": time}[part]
