"""Plan nodes and expressions in words, for EXPLAIN."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tidemark import types as t
from tidemark.kernels.windows.spec import Session
from tidemark.plan.expressions import (
    Call,
    Case,
    Cast,
    Expression,
    FieldAccess,
    Literal,
    Ref,
    UserCall,
)
from tidemark.plan.nodes import (
    AssignWatermark,
    AssignWindows,
    CoGroup,
    Edge,
    Filter,
    GroupAggregate,
    IntervalJoin,
    KeepLast,
    LateRows,
    Node,
    Project,
    RegularJoin,
    Scan,
    Sink,
    TemporalJoin,
    UnionAll,
    Unnest,
    Values,
    WindowAggregate,
    WindowJoin,
    WindowOrder,
    WindowRank,
)
from tidemark.plan.windows import words as window_words


@dataclass(frozen=True, slots=True)
class Description:
    """A node for a reader: what it means, how Spark runs it, what it remembers between rows."""

    name: str
    details: tuple[str, ...]
    runs_as: str
    keeps: str = "nothing"


def describe(node: Node) -> Description:
    said = _DESCRIBERS[type(node)](node)
    return replace(said, details=tuple(map(_on_one_line, said.details)))


def _on_one_line(text: str) -> str:
    """Names and texts may hold line breaks; a line of a plan does not."""
    return text.replace("\r", "\\r").replace("\n", "\\n")


# --- nodes -------------------------------------------------------------------------------------


def _scan(node: Scan) -> Description:
    connector = node.table.option("connector") or "unknown"
    form = node.table.option("format")
    details = [f"table=[{node.table.identifier}]"]
    if node.metadata:
        details.append(f"metadata=[{', '.join(node.metadata)}]")
    reader = f"{connector} source" + (f", {form} format" if form else "")
    return Description("Scan", tuple(details), f"{reader}, {_bounds(node.edge)}")


def _bounds(edge: Edge) -> str:
    return "bounded" if edge.bounded else "unbounded"


def _watermark(node: AssignWatermark) -> Description:
    details = (f"rowtime=[{node.column}]", f"watermark=[{words(node.expression)}]")
    return Description("WatermarkAssigner", details, "filter that refuses rows without a time")


def _project(node: Project) -> Description:
    items = [
        words(expression) if words(expression) == name else f"{words(expression)} AS {name}"
        for expression, name in zip(node.expressions, node.edge.names, strict=True)
    ]
    return Description("Project", (f"select=[{', '.join(items)}]",), "projection")


def _filter(node: Filter) -> Description:
    return Description("Filter", (f"where=[{words(node.condition)}]",), "filter")


def _union(node: UnionAll) -> Description:
    return Description("UnionAll", (f"inputs=[{len(node.inputs)}]",), "union")


def _values(node: Values) -> Description:
    return Description("Values", (f"rows=[{len(node.rows)}]",), "constants, bounded")


def _unnest(node: Unnest) -> Description:
    details = [f"collection=[{words(node.collection)}]"]
    if node.outer:
        details.append("keeps rows without elements")
    if node.ordinality:
        details.append("with ordinality")
    return Description("Unnest", tuple(details), "explode")


def _keep_last(node: KeepLast) -> Description:
    keys = ", ".join(node.edge.names[index] for index in node.keys)
    time = node.edge.names[node.time]
    details = (f"key=[{keys}]", f"newest by=[{time}]")
    return Description(
        "KeepLast", details, "stateful operator, one kernel per key bucket", "one row per key"
    )


def _temporal_join(node: TemporalJoin) -> Description:
    left, right = node.left.edge.names, node.right.edge.names
    pairs = ", ".join(
        f"{left[mine]} = {right[theirs]}"
        for mine, theirs in zip(node.left_keys, node.right_keys, strict=True)
    )
    details = [f"{node.how}", f"key=[{pairs}]", f"as of=[{left[node.left_time]}]"]
    if node.right_time is None:
        keeps = "the latest version of each key"
        if node.load_idle_ms is not None:
            details.append(
                f"load phase=[until the right side is silent for {node.load_idle_ms} ms]"
            )
            keeps += "; left rows until the right side has been loaded"
    else:
        details.append(f"versions by=[{right[node.right_time]}]")
        keeps = (
            f"left rows until the watermark reaches their {left[node.left_time]}; of each key the "
            f"versions after the watermark and the newest one before it"
        )
    runs_as = "stateful operator, one kernel per key bucket"
    return Description("TemporalJoin", tuple(details), runs_as, keeps)


def _assign_windows(node: AssignWindows) -> Description:
    names = node.input.edge.names
    details = [f"window=[{window_words.window(node.assigner)}]", f"time=[{names[node.time]}]"]
    if node.keys:
        details.append(f"partition=[{', '.join(names[key] for key in node.keys)}]")
    if not node.keeps_rows:
        return Description("WindowFunction", tuple(details), "rows once for each window")
    until = "the clock" if node.by_clock else "the watermark"
    keeps = f"rows until {until} has reached the end of their session"
    runs_as = "stateful operator, one kernel per key bucket"
    return Description("WindowFunction", tuple(details), runs_as, keeps)


def _window_aggregate(node: WindowAggregate) -> Description:
    names = node.input.edge.names
    details = [f"window=[{window_words.window(node.assigner)}]", *_rows_of_windows(node)]
    if node.keys:
        details.append(f"key=[{', '.join(names[key] for key in node.keys)}]")
    details.append(f"select=[{', '.join(window_words.call(c, names) for c in node.calls)}]")
    details += window_words.emit(node.emit)
    if node.lateness_ms:
        details.append(f"lateness=[{window_words.duration(node.lateness_ms)}]")
    runs_as = "stateful operator, one kernel per key bucket"
    return Description("WindowAggregate", tuple(details), runs_as, _windows_kept(node))


def _group_aggregate(node: GroupAggregate) -> Description:
    names = node.input.edge.names
    key = [f"key=[{', '.join(names[key] for key in node.keys)}]"] if node.keys else []
    select = f"select=[{', '.join(window_words.call(call, names) for call in node.calls)}]"
    runs_as = "stateful operator, one kernel per key bucket"
    keeps = "the aggregates of each key, until "
    idle = "it is idle for 'table.exec.state.ttl' if that is set"
    keeps += "the input ends" if node.at_end else idle
    return Description("GroupAggregate", (*key, select), runs_as, keeps)


def _window_rank(node: WindowRank) -> Description:
    names = node.input.edge.names
    details = [f"window=[{', '.join(names[column] for column in node.bounds)}]"]
    if node.keys:
        details.append(f"key=[{', '.join(names[key] for key in node.keys)}]")
    wanted = f"{node.low}" if node.low == node.high else f"{node.low} to {node.high}"
    order = ", ".join(_ordered(by, names) for by in node.order)
    details += [f"order=[{order}]", f"rows=[{wanted}]"]
    runs_as = "stateful operator, one kernel per key bucket"
    keeps = f"the first {node.high} row(s) of each key and window, until the watermark has "
    return Description("WindowRank", tuple(details), runs_as, keeps + "reached its end")


def _ordered(by: WindowOrder, names: tuple[str, ...]) -> str:
    """As ORDER BY writes it; null is the smallest value where nothing else is said."""
    as_usual = by.nulls_last == by.descending
    nulls = "" if as_usual else f" NULLS {'LAST' if by.nulls_last else 'FIRST'}"
    return names[by.column] + (" DESC" if by.descending else "") + nulls


def _rows_of_windows(node: WindowAggregate) -> list[str]:
    """How rows come into their windows."""
    names = node.input.edge.names
    if node.given is not None:
        return [f"bounds=[{', '.join(names[column] for column in node.given)}]"]
    return ["time=[processing time]" if node.time is None else f"time=[{names[node.time]}]"]


def _windows_kept(node: WindowAggregate) -> str:
    until = "the clock" if node.by_clock else "the watermark"
    later = f" and {window_words.duration(node.lateness_ms)} more" if node.lateness_ms else ""
    return f"the aggregates of each key and window, until {until} has reached its end{later}"


def _interval_join(node: IntervalJoin) -> Description:
    left, right = node.left.edge.names, node.right.edge.names
    mine, theirs = left[node.left_time], right[node.right_time]
    near = f"{theirs} in [{mine}{_signed(node.lower_ms)}, {mine}{_signed(node.upper_ms)}]"
    details = [node.how, f"key=[{_equalities(node)}]", f"bounds=[{near}]"]
    if node.condition is not None:
        details.append(f"where=[{words(node.condition)}]")
    if node.drops_late:
        details.append("drops late rows")
    now = "the clock" if node.by_clock else "the watermark"
    keeps = (
        f"left rows until {now} has passed {mine}{_signed(node.upper_ms + node.slack_ms)}; right "
        f"rows until it has passed {theirs}{_signed(node.slack_ms - node.lower_ms)}"
    )
    runs_as = "stateful operator, one kernel per key bucket"
    return Description("IntervalJoin", tuple(details), runs_as, keeps)


def _regular_join(node: RegularJoin) -> Description:
    details: list[str] = [node.how, f"key=[{_equalities(node)}]"]
    if node.condition is not None:
        details.append(f"where=[{words(node.condition)}]")
    if node.why:
        details.append(f"no interval join=[{node.why}]")
    keeps = "all rows of both sides, "
    idle = "for ever, or for 'table.exec.state.ttl' after they were written if that is set"
    keeps += "until the input ends" if node.at_end else idle
    runs_as = "stateful operator, one kernel per key bucket"
    return Description("RegularJoin", tuple(details), runs_as, keeps)


def _window_join(node: WindowJoin) -> Description:
    left, right = node.left.edge.names, node.right.edge.names
    start = node.left.edge.columns[node.left_window[0]]
    details: list[str] = [node.how]
    if start.window is not None:
        details.append(f"window=[{window_words.window(start.window.assigner)}]")
    if node.left_keys:
        details.append(f"key=[{_equalities(node)}]")
    if node.condition is not None:
        details.append(f"where=[{words(node.condition)}]")
    ends = left[node.left_window[1]], right[node.right_window[1]]
    keeps = (
        f"rows of both sides until the watermark reaches their {' or '.join(dict.fromkeys(ends))}"
    )
    runs_as = "stateful operator, one kernel per key bucket"
    return Description("WindowJoin", tuple(details), runs_as, keeps)


def _co_group(node: CoGroup) -> Description:
    left, right = node.left.edge.names, node.right.edge.names
    keys = zip(node.left_keys, node.right_keys, strict=True)
    details = [f"key=[{', '.join(f'{left[mine]} = {right[theirs]}' for mine, theirs in keys)}]"]
    if node.gap_ms is not None:
        details.append(f"window=[SESSION(gap {window_words.duration(node.gap_ms)})]")
    made = "pairs" if node.function is None else getattr(node.function, "__name__", "function")
    details.append(f"makes=[{made}]")
    runs_as = "stateful operator, one kernel per key bucket"
    keeps = "rows of both sides until the watermark reaches the end of their windows"
    return Description("CoGroup", tuple(details), runs_as, keeps)


def _equalities(node: IntervalJoin | RegularJoin | WindowJoin) -> str:
    """The keys of both sides, pair by pair."""
    left, right = node.left.edge.names, node.right.edge.names
    return ", ".join(
        f"{left[mine]} {'IS NOT DISTINCT FROM' if nulls else '='} {right[theirs]}"
        for mine, theirs, nulls in zip(
            node.left_keys, node.right_keys, node.nulls_equal, strict=True
        )
    )


def _signed(milliseconds: int) -> str:
    """How far a time is moved, as ` + 5 s`; nothing if it is not."""
    if not milliseconds:
        return ""
    return f" {'+' if milliseconds > 0 else '-'} {abs(milliseconds) / 1000:,.10g} s"


def _late_rows(node: LateRows) -> Description:
    details = (f"operator=[{node.operator}]", f"time=[{node.input.edge.names[node.time]}]")
    runs_as = "stateful operator, one kernel per key bucket"
    keeps = "nothing" if not isinstance(node.assigner, Session) else "the sessions of each key"
    return Description("LateRows", details, runs_as, keeps)


def _sink(node: Sink) -> Description:
    connector = node.table.option("connector") or "unknown"
    details = [f"table=[{node.table.identifier}]", f"columns=[{', '.join(node.edge.names)}]"]
    if node.overwrite:
        details.append("overwrite")
    return Description("Sink", tuple(details), f"{connector} sink")


_DESCRIBERS: dict[type[Any], Callable[[Any], Description]] = {
    Scan: _scan,
    AssignWatermark: _watermark,
    Project: _project,
    Filter: _filter,
    UnionAll: _union,
    Values: _values,
    Unnest: _unnest,
    KeepLast: _keep_last,
    TemporalJoin: _temporal_join,
    IntervalJoin: _interval_join,
    RegularJoin: _regular_join,
    WindowJoin: _window_join,
    CoGroup: _co_group,
    AssignWindows: _assign_windows,
    WindowAggregate: _window_aggregate,
    WindowRank: _window_rank,
    GroupAggregate: _group_aggregate,
    LateRows: _late_rows,
    Sink: _sink,
}


def traits(edge: Edge) -> tuple[str, ...]:
    """What is known of the rows on an edge, beyond their columns."""
    known = [edge.changelog.value]
    known += [f"{column.time} time {column.name}" for column in edge.columns if column.time]
    known += [f"unique key ({', '.join(key)})" for key in edge.keys]
    return tuple(known)


# --- expressions -------------------------------------------------------------------------------


def words(expression: Expression) -> str:
    """An expression as a reader writes it; implicit casts are left out."""
    match expression:
        case Ref(name=name):
            return name
        case Literal(value=value, type=type_):
            return _constant(value, type_)
        case Call(function=function, args=args):
            return _call(function.name, [words(arg) for arg in args])
        case UserCall(function=user, args=args):
            return _call(user.name, [words(arg) for arg in args])
        case Cast(operand=operand, implicit=True):
            return words(operand)
        case Cast(operand=operand, type=type_, safe=safe):
            return f"{'TRY_CAST' if safe else 'CAST'}({words(operand)} AS {type_.text()})"
        case Case(branches=branches, default=default):
            whens = " ".join(f"WHEN {words(c)} THEN {words(v)}" for c, v in branches)
            return f"CASE {whens} ELSE {words(default)} END"
        case FieldAccess(operand=operand, name=name):
            return f"{words(operand)}.{name}"


_POSTFIX = {"IS NULL", "IS TRUE", "IS FALSE", "IS UNKNOWN"}


def _call(name: str, args: list[str]) -> str:
    if name == "ITEM":
        return f"{args[0]}[{args[1]}]"
    if name == "REQUIRED":
        return f"REQUIRED({args[0]})"
    if name == "NEG":
        return f"-{args[0]}"
    if name == "NOT":
        return f"NOT {args[0]}"
    if name == "BETWEEN":
        return f"{args[0]} BETWEEN {args[1]} AND {args[2]}"
    if name == "IN":
        return f"{args[0]} IN ({', '.join(args[1:])})"
    if name in _POSTFIX or name.startswith("IS JSON"):
        return f"{args[0]} {name}"
    infix = not name[0].isalpha() or name in ("AND", "OR", "LIKE", "SIMILAR TO")
    if (infix or " DISTINCT FROM" in name) and len(args) == 2:
        return f"({args[0]} {name} {args[1]})"
    return f"{name}({', '.join(args)})"


def _constant(value: Any, type_: t.DataType) -> str:
    if value is None:
        return "NULL"
    match type_:
        case t.Char() | t.VarChar():
            return "'" + str(value).replace("'", "''") + "'"
        case t.Boolean():
            return str(value).upper()
        case t.Binary() | t.VarBinary():
            return f"X'{value.hex().upper()}'"
        case t.DayTimeInterval():
            return f"INTERVAL '{value / 1000:g}' SECOND"
        case t.YearMonthInterval():
            return f"INTERVAL '{value}' MONTH"
        case t.Date() | t.Time() | t.Timestamp():
            return f"{type_.text().split('(')[0]} '{value}'"
    return str(value)
