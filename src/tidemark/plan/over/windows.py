"""The windows of OVER: named ones resolved, and what is in parentheses bound."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from tidemark import types as t
from tidemark.dialect import span_of
from tidemark.errors import PlanError, did_you_mean
from tidemark.kernels.over.spec import OverFrame
from tidemark.plan.aggregates.calls import Columns
from tidemark.plan.constants import integer_of
from tidemark.plan.expressions import Expression, Literal
from tidemark.plan.nodes import WindowOrder
from tidemark.plan.scalars.binder import Binder

_PARTS = ("partition_by", "order", "spec")
_DISTANT = (*t.NUMERICS, t.Date, t.Time, *t.TIMESTAMPS)


@dataclass(frozen=True, slots=True)
class BoundWindow:
    """Which rows are together, as columns, and in which order; the frame belongs to each call."""

    keys: tuple[int, ...]
    order: tuple[WindowOrder, ...]


def resolved(window: exp.Window, select: exp.Select) -> exp.Window:
    """The window with what it takes over from the named one that it refers to."""
    named = {one.this.name: one for one in select.args.get("windows") or ()}
    alias = window.args.get("alias")
    if alias is None:
        return window
    if alias.name not in named:
        raise PlanError(
            f"window `{alias.name}` is not defined",
            at=span_of(alias) or span_of(window),
            notes={"windows": ", ".join(named)} if named else None,
            hint=did_you_mean(alias.name, named) or f"add WINDOW {alias.name} AS (...)",
        )
    # A window may refer to those before it only.
    before = select.copy()
    before.set("windows", [o.copy() for o in _before(list(named.values()), alias.name)])
    base = resolved(named[alias.name], before)
    both = window.copy()
    both.set("alias", None)
    for part in _PARTS:
        if both.args.get(part) and base.args.get(part):
            raise PlanError(
                f"window `{alias.name}` already has this part",
                at=span_of(both.args[part]) if part != "partition_by" else span_of(window),
                hint="write it in one of the two places",
            )
        both.set(part, both.args.get(part) or base.args.get(part))
    return both


def _before(windows: list[exp.Window], name: str) -> list[exp.Window]:
    names = [one.this.name for one in windows]
    return windows[: names.index(name)]


def bound_window(window: exp.Window, binder: Binder, columns: Columns) -> BoundWindow:
    """A resolved window over columns that are added for it."""
    keys = [columns.add(key) for key in binder.bind_all(window.args.get("partition_by") or ())]
    order = window.args.get("order")
    written = order.expressions if order is not None else []
    return BoundWindow(
        tuple(dict.fromkeys(keys)), tuple(_ordering(one, binder, columns) for one in written)
    )


def _ordering(written: exp.Ordered, binder: Binder, columns: Columns) -> WindowOrder:
    """NULL is the smallest value unless the query says where NULLs are."""
    descending = bool(written.args.get("desc"))
    first = written.args.get("nulls_first")
    last = descending if first is None else not first
    return WindowOrder(columns.add(binder.bind(written.this)), descending, last)


# --- frames ------------------------------------------------------------------------------------


def bound_frame(window: exp.Window, order: tuple[Expression, ...], binder: Binder) -> OverFrame:
    """The frame of a resolved window; by default up to the current row and its peers."""
    spec = window.args.get("spec")
    if spec is None:
        return OverFrame()
    by_rows = spec.args["kind"] == "ROWS"
    type_ = order[0].type if len(order) == 1 else None
    start = _bound(spec, "start", by_rows, type_, binder)
    end = _bound(spec, "end", by_rows, type_, binder)
    first = float("-inf") if start is None else start
    if first > (float("inf") if end is None else end):
        raise PlanError("the frame ends before it begins", at=span_of(spec))
    return OverFrame(start, end, by_rows)


def _bound(
    spec: exp.WindowSpec, part: str, by_rows: bool, type_: t.DataType | None, binder: Binder
) -> float | None:
    """How far after the current row it is; None if it is unbounded.

    A range may have a negative distance: -1 FOLLOWING is 1 PRECEDING.
    """
    written, side = spec.args[part], spec.args.get(f"{part}_side")
    if written == "CURRENT ROW":
        return 0
    if written == "UNBOUNDED":
        if (side == "FOLLOWING") == (part == "start"):
            raise PlanError(
                f"a frame cannot {part} with UNBOUNDED {side}",
                at=span_of(spec),
                hint="write BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
            )
        return None
    distance = _rows(written, binder) if by_rows else _distance(written, spec, type_, binder)
    return -distance if side == "PRECEDING" else distance


def _rows(written: exp.Expression, binder: Binder) -> int:
    count = integer_of(binder.bind(written))
    if count is None or count < 0:
        raise PlanError("ROWS requires a constant number of rows", at=span_of(written))
    return count


def _distance(
    written: exp.Expression, spec: exp.WindowSpec, type_: t.DataType | None, binder: Binder
) -> float:
    bound = binder.bind(written)
    if type_ is None or not isinstance(type_, _DISTANT):
        raise PlanError(
            "RANGE with a distance requires ORDER BY one column that is a number or a time",
            at=span_of(spec),
            hint="count rows: ROWS BETWEEN ...",
        )
    if isinstance(bound.type, t.YearMonthInterval):
        raise PlanError(
            "distances in months or years are not supported, because their length varies",
            at=span_of(written),
            hint="write INTERVAL '30' DAY",
        )
    fits = isinstance(
        bound.type, t.NUMERICS if isinstance(type_, t.NUMERICS) else t.DayTimeInterval
    )
    if not isinstance(bound, Literal) or bound.value is None or not fits:
        kind = "a constant number" if isinstance(type_, t.NUMERICS) else "a constant interval"
        raise PlanError(
            f"the distance of rows ordered by {type_.text()} must be {kind}",
            at=span_of(written),
            notes={"given": bound.type.text()},
        )
    value: float = bound.value if isinstance(bound.value, int) else float(bound.value)
    return value
