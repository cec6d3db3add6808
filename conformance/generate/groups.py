"""Aggregates: in groups, grouping sets, windows of both kinds, and OVER."""

from __future__ import annotations

from dataclasses import replace

from conformance.generate.expressions import Expressions, over
from conformance.generate.relation import Column, Draw, Kind, Relation, aliased


def grouped(draw: Draw, source: Relation) -> Relation | None:
    keys = _keys(draw, source, 0, 2)
    calls = calls_of(draw, over(draw, source), draw.random.randint(1, 3), source.in_order)
    if not keys and draw.chance(0.7):
        return None
    by = _grouping(draw, keys)
    query = f"SELECT {_items(keys, calls)} FROM {aliased(source, 'g')}{by}{_having(draw, calls)}"
    sets = "SETS" in by or "ROLLUP" in by or "CUBE" in by
    result = Relation(
        "",
        _columns(keys, calls),
        appends=False,
        # Of grouping sets, a NULL of the key and one of the set are two groups.
        unique=() if sets else tuple(c.name for c in keys),
    )
    return draw.named(result, query)


def windowed(draw: Draw, source: Relation) -> Relation | None:
    """A window table function below GROUP BY window_start, window_end."""
    if source.time is None or source.window or "window_start" in source.names:
        return None
    keys = [c for c in _keys(draw, source, 0, 2) if c.name != source.time]
    function = _function(draw, tuple(c.name for c in keys))
    if "SESSION" in function:
        keys = keys[:1]
    return _window_aggregate(draw, source, in_function(draw, source, function), function, keys)


def aggregated_again(draw: Draw, source: Relation) -> Relation | None:
    """Rows that are in windows already, grouped by their windows."""
    if source.window is None or "window_time" in source.names:
        return None
    names = ("window_start", "window_end")
    keys = [c for c in _keys(draw, source, 0, 1) if c.name not in names]
    return _window_aggregate(draw, source, source.sql, source.window, keys, with_time=False)


def _window_aggregate(
    draw: Draw,
    source: Relation,
    from_: str,
    function: str,
    keys: list[Column],
    with_time: bool = True,
) -> Relation:
    calls = calls_of(draw, over(draw, source, "w"), draw.random.randint(1, 3))
    by = ["window_start", "window_end"]
    bounds = [Column(name, "time") for name in by]
    selected = list(by)
    if with_time and draw.chance(0.6):
        # By other names, so that rows can be in windows again.
        by.append("window_time")
        bounds = [Column(draw.name(prefix), "time") for prefix in ("ws", "we", "wt")]
        selected = [f"{name} AS {c.name}" for name, c in zip(by, bounds, strict=True)]
    if keys and draw.chance(0.15) and "SESSION" not in function:
        by.append(f"ROLLUP ({', '.join(c.name for c in keys)})")
    else:
        by += [c.name for c in keys]
    query = (
        f"SELECT {', '.join(selected)}, {_items(keys, calls)} FROM {from_} AS w "
        f"GROUP BY {', '.join(by)}{_having(draw, calls)}"
    )
    result = Relation(
        "",
        _columns([*bounds, *keys], calls),
        time=bounds[2].name if len(bounds) == 3 else None,
        appends=True,
        unique=() if "ROLLUP" in query else tuple(c.name for c in [*bounds[:2], *keys]),
        window=function if len(bounds) == 2 else None,
    )
    return draw.named(result, query)


def in_windows(draw: Draw, source: Relation) -> Relation | None:
    """Rows with the bounds of their windows."""
    if source.time is None or source.window or "window_start" in source.names:
        return None
    if not source.appends:
        return None
    return windows_of(draw, source, _function(draw, ()))


def windows_of(draw: Draw, source: Relation, function: str) -> Relation:
    bounds = (Column("window_start", "time"), Column("window_end", "time"))
    kept = [c for c in source.columns if c.name != source.time or draw.chance(0.5)]
    items = ", ".join([c.name for c in kept] + [c.name for c in bounds])
    result = replace(
        source,
        columns=(*kept, *bounds),
        # Its time is still there as a column, but windows are what is interesting now.
        time=None,
        unique=(*source.unique, "window_start", "window_end") if source.unique else (),
        window=function,
        version_key=None,
    )
    result = replace(result, unique=tuple(n for n in result.unique if n in result.names))
    return draw.named(result, f"SELECT {items} FROM {in_function(draw, source, function)} AS w")


def in_function(draw: Draw, source: Relation, function: str) -> str:
    """A window function over a relation, which must have a name there."""
    return f"TABLE({function.format(table=draw.table_name(source), time=source.time)})"


def _function(draw: Draw, keys: tuple[str, ...]) -> str:
    """The call of a window table function, but for its table and time."""
    by_time = "TABLE {table}, DESCRIPTOR({time})"
    if draw.chance(0.2):
        partition = f" PARTITION BY {keys[0]}" if keys else ""
        gap = draw.one([1, 3, 5])
        return (
            f"SESSION(TABLE {{table}}{partition}, DESCRIPTOR({{time}}), {draw.clock.interval(gap)})"
        )
    every = draw.clock.interval
    return draw.one(
        [
            f"TUMBLE({by_time}, {every(draw.one([3, 5, 10]))})",
            f"TUMBLE({by_time}, {every(10)}, {every(2)})",
            f"HOP({by_time}, {every(draw.one([2, 5]))}, {every(10)})",
            *_daily(draw, by_time),
            f"CUMULATE({by_time}, {every(draw.one([2, 5]))}, {every(10)})",
        ]
    )


def _daily(draw: Draw, by_time: str) -> list[str]:
    """Windows of days, which are longer and shorter where clocks change."""
    if draw.clock.unit != "HOUR":
        return []
    offset = draw.one([-8, 2, 3])
    return [
        f"TUMBLE({by_time}, INTERVAL '1' DAY)",
        f"TUMBLE({by_time}, INTERVAL '1' DAY, INTERVAL '{offset}' HOUR)",
        f"HOP({by_time}, INTERVAL '6' HOUR, INTERVAL '1' DAY, INTERVAL '{offset}' HOUR)",
        f"CUMULATE({by_time}, INTERVAL '8' HOUR, INTERVAL '1' DAY)",
    ]


def group_windows(draw: Draw, source: Relation) -> Relation | None:
    """GROUP BY TUMBLE(...), HOP(...) or SESSION(...), as before table functions."""
    if source.time is None:
        return None
    name, window = draw.one(
        [
            ("TUMBLE", f"({source.time}, {draw.clock.interval(draw.one([3, 5, 10]))})"),
            ("HOP", f"({source.time}, {draw.clock.interval(3)}, {draw.clock.interval(7)})"),
            ("SESSION", f"({source.time}, {draw.clock.interval(draw.one([1, 3]))})"),
        ]
    )
    keys = [c for c in _keys(draw, source, 0, 2) if c.name != source.time]
    calls = calls_of(draw, over(draw, source), draw.random.randint(1, 3))
    start, time = Column(draw.name("ws"), "time"), Column(draw.name("wt"), "time")
    calls.append((f"{name}_START{window}", start))
    if draw.chance(0.7):
        calls.append((f"{name}_ROWTIME{window}", time))
    by = ", ".join([*(c.name for c in keys), f"{name}{window}"])
    query = (
        f"SELECT {_items(keys, calls)} FROM {aliased(source, 'w')} "
        f"GROUP BY {by}{_having(draw, calls[:1])}"
    )
    result = Relation(
        "",
        _columns(keys, calls),
        time=time.name if calls[-1][1] is time else None,
        unique=tuple(c.name for c in [start, *keys]),
    )
    return draw.named(result, query)


def over_windows(draw: Draw, source: Relation) -> Relation | None:
    """An aggregate for each row, of the rows before it."""
    if source.time is None or not source.appends:
        return None
    keys = _keys(draw, source, 0, 1)
    partition = f"PARTITION BY {keys[0].name} " if keys else ""
    frames = ["", f"RANGE BETWEEN {draw.clock.interval(5)} PRECEDING AND CURRENT ROW"]
    if source.in_order:
        frames += ["ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"]
        frames += ["ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"]
    window = f"({partition}ORDER BY {source.time} {draw.one(frames)})".replace(" )", ")")
    expressions = over(draw, source)
    calls: list[tuple[str, Column]] = []
    for _ in range(draw.random.randint(1, 2)):
        call, kind = _simple_call(draw, expressions)
        calls.append((f"{call} OVER {window}", Column(draw.name("x"), kind)))
    kept = source.columns
    query = f"SELECT {_items(list(kept), calls)} FROM {aliased(source, 'v')}"
    result = replace(source, columns=_columns(list(kept), calls), version_key=None, in_order=False)
    return draw.named(result, query)


def _keys(draw: Draw, source: Relation, least: int, most: int) -> list[Column]:
    few = [
        c for c in source.of("string", "bool", "int", "time", "instant", "date") if c.name != "id"
    ]
    return draw.some(few, least, most)


def calls_of(
    draw: Draw, expressions: Expressions, count: int, ordered: bool = False
) -> list[tuple[str, Column]]:
    calls = []
    for _ in range(count):
        call, kind = _call(draw, expressions, ordered)
        calls.append((call, Column(draw.name("a"), kind)))
    return calls


def _call(draw: Draw, expressions: Expressions, ordered: bool) -> tuple[str, Kind]:
    if draw.chance(0.3):
        kind: Kind = draw.one(["int", "string", "decimal"])
        name = draw.one(["COUNT", "SUM", "COUNT", "MAX"])
        if name == "SUM" and kind == "string":
            name = "COUNT"
        result: Kind = "int" if name == "COUNT" else kind
        return f"{name}(DISTINCT {expressions.of(kind, 1)})", result
    call, kind = _simple_call(draw, expressions, ordered)
    if draw.chance(0.25):
        call += f" FILTER (WHERE {expressions.condition()})"
    return call, kind


def _simple_call(draw: Draw, expressions: Expressions, ordered: bool = False) -> tuple[str, Kind]:
    kind: Kind = draw.one(["int", "decimal", "double"])
    any_kind: Kind = draw.one(["int", "decimal", "string", "time", "date", "double", "bool"])
    sortable: Kind = draw.one(["int", "decimal", "string", "time", "date", "double"])
    several: list[tuple[str, Kind]] = []
    if ordered:
        # What depends on the order of rows, if that is known.
        text = expressions.of("string", 1)
        several = [
            (f"LISTAGG({text})", "string"),
            (f"FIRST_VALUE({expressions.of(sortable, 1)})", sortable),
            (f"LAST_VALUE({expressions.of(sortable, 1)})", sortable),
            (f"ARRAY_AGG({expressions.of('int', 1)})", "array"),
        ]
    choices: list[tuple[str, Kind]] = [
        *several,
        (f"COLLECT({expressions.of('string', 1)})", "multiset"),
        (f"STDDEV_POP({expressions.of('double', 1)})", "double"),
        (f"VAR_POP({expressions.of('decimal', 1)})", "decimal"),
        ("COUNT(*)", "int"),
        (f"COUNT({expressions.of(any_kind, 1)})", "int"),
        (f"SUM({expressions.of(kind, 1)})", kind),
        (f"AVG({expressions.of(kind, 1)})", kind),
        (f"MIN({expressions.of(sortable, 1)})", sortable),
        (f"MAX({expressions.of(sortable, 1)})", sortable),
    ]
    return draw.one(choices)


def _grouping(draw: Draw, keys: list[Column]) -> str:
    names = ", ".join(c.name for c in keys)
    if not keys:
        return ""
    if draw.chance(0.2):
        sets = f"GROUPING SETS (({names}), ())"
        return " GROUP BY " + draw.one([f"ROLLUP ({names})", f"CUBE ({names})", sets])
    return f" GROUP BY {names}"


def _having(draw: Draw, calls: list[tuple[str, Column]]) -> str:
    if not draw.chance(0.25):
        return ""
    call, column = calls[0]
    if column.kind == "int":
        return f" HAVING {call} {draw.one(['>', '<', '<>'])} {draw.one([0, 1, 3])}"
    return f" HAVING {call} IS NOT NULL"


def _items(kept: list[Column], calls: list[tuple[str, Column]]) -> str:
    return ", ".join([c.name for c in kept] + [f"{text} AS {c.name}" for text, c in calls])


def _columns(kept: list[Column], calls: list[tuple[str, Column]]) -> tuple[Column, ...]:
    return (*kept, *(column for _, column in calls))
