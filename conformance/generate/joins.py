"""Joins of all kinds, and subqueries that are joins."""

from __future__ import annotations

from dataclasses import replace

from conformance.generate.expressions import Expressions, over
from conformance.generate.groups import windows_of
from conformance.generate.relation import Column, Draw, Kind, Relation, aliased


def joined(draw: Draw, left: Relation, right: Relation) -> Relation | None:
    """A regular join on equal columns, with more conditions at times."""
    on = _equality(draw, left, right)
    if on is None:
        return None
    how = draw.one(["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
    if draw.chance(0.3):
        on += f" AND {_both(draw, left, right).condition()}"
    columns, items = _output(draw, left, right)
    query = f"SELECT {items} FROM {aliased(left, 'l')} {how} {aliased(right, 'r')} ON {on}"
    result = Relation(
        "",
        columns,
        appends=how == "JOIN" and left.appends and right.appends,
        unique=_unique(left, right, columns),
    )
    return draw.named(result, query)


def interval_joined(draw: Draw, left: Relation, right: Relation) -> Relation | None:
    on = _equality(draw, left, right)
    if left.time is None or right.time is None or on is None:
        return None
    if not left.appends or not right.appends:
        return None
    lower, upper = draw.one([0, 2, 5]), draw.one([0, 1, 4])
    on += (
        f" AND r.{right.time} BETWEEN l.{left.time} - {draw.clock.interval(lower)}"
        f" AND l.{left.time} + {draw.clock.interval(upper)}"
    )
    if draw.chance(0.25):
        on += f" AND {_both(draw, left, right).condition()}"
    how = draw.one(["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
    columns, items = _output(draw, left, right)
    query = f"SELECT {items} FROM {aliased(left, 'l')} {how} {aliased(right, 'r')} ON {on}"
    position = left.names.index(left.time)
    result = Relation(
        "",
        columns,
        time=columns[position].name if how in ("JOIN", "LEFT JOIN") else None,
        unique=_unique(left, right, columns),
    )
    return draw.named(result, query)


def temporal_joined(draw: Draw, left: Relation, right: Relation) -> Relation | None:
    if left.time is None or right.time is None or right.version_key is None:
        return None
    key = next(c for c in right.columns if c.name == right.version_key)
    matches = [c for c in left.of(key.kind) if c.name != left.time]
    if not matches:
        return None
    on = f"l.{draw.one(matches).name} = r.{key.name}"
    if draw.chance(0.2):
        on += f" AND {over(draw, right, 'r').condition()}"
    how = draw.one(["JOIN", "LEFT JOIN"])
    versions = draw.table_name(right)
    columns, items = _output(draw, left, right)
    query = (
        f"SELECT {items} FROM {aliased(left, 'l')} "
        f"{how} {versions} FOR SYSTEM_TIME AS OF l.{left.time} AS r ON {on}"
    )
    result = Relation(
        "",
        columns,
        time=columns[left.names.index(left.time)].name,
        appends=left.appends,
        unique=_unique(left, replace(right, unique=(key.name,)), columns),
    )
    return draw.named(result, query)


def window_joined(draw: Draw, left: Relation, right: Relation) -> Relation | None:
    """A join of rows in the same windows; the right side gets the windows of the left one."""
    if left.window is None or right.time is None or "PARTITION" in left.window:
        return None
    if "window_start" in right.names or not (left.appends and right.appends):
        return None
    right = windows_of(draw, right, left.window)
    columns, items = _output(draw, left, right)
    same = "l.window_start = r.window_start AND l.window_end = r.window_end"
    on = _equality(draw, _unbounded(left), _unbounded(right))
    how = draw.one(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
    query = (
        f"SELECT {items} FROM {aliased(left, 'l')} {how} {aliased(right, 'r')} "
        f"ON {f'{on} AND ' if on else ''}{same}"
    )
    result = Relation("", columns, unique=_unique(left, right, columns))
    return draw.named(result, query)


def semi_joined(draw: Draw, left: Relation, right: Relation) -> Relation | None:
    """EXISTS and IN, and what is not in."""
    pair = _pair(draw, left, right)
    if pair is None:
        return None
    a, b = pair
    inner = over(draw, right, "r").condition()
    condition = draw.one(
        [
            f"l.{a} IN (SELECT r.{b} FROM {aliased(right, 'r')} WHERE {inner})",
            f"l.{a} NOT IN (SELECT r.{b} FROM {aliased(right, 'r')} WHERE r.{b} IS NOT NULL)",
            f"EXISTS (SELECT 1 FROM {aliased(right, 'r')} WHERE r.{b} = l.{a} AND {inner})",
            f"NOT EXISTS (SELECT 1 FROM {aliased(right, 'r')} WHERE r.{b} = l.{a} AND {inner})",
        ]
    )
    result = replace(
        left,
        appends=left.appends and right.appends and "NOT" not in condition,
        time=None,
        in_order=False,
        window=None,
        version_key=None,
    )
    return draw.named(result, f"SELECT * FROM {aliased(left, 'l')} WHERE {condition}")


def scalar_compared(draw: Draw, left: Relation, right: Relation) -> Relation | None:
    """A scalar subquery in WHERE or SELECT, correlated or not."""
    numbers = right.of("int", "decimal")
    mine = left.of("int", "decimal")
    if not numbers or not mine:
        return None
    call = f"{draw.one(['MAX', 'SUM', 'COUNT', 'AVG'])}(r.{draw.one(numbers).name})"
    correlated = draw.chance(0.5) and not left.sql.startswith("(")
    pair = _pair(draw, left, right) if correlated else None
    where = f" WHERE r.{pair[1]} = l.{pair[0]}" if pair else ""
    subquery = f"(SELECT {call} FROM {aliased(right, 'r')}{where})"
    result = replace(left, appends=False, time=None, in_order=False, window=None, version_key=None)
    if draw.chance(0.5):
        condition = f"l.{draw.one(mine).name} {draw.one(['<', '>=', '='])} {subquery}"
        return draw.named(result, f"SELECT * FROM {aliased(left, 'l')} WHERE {condition}")
    name = draw.name("q")
    items = ", ".join(f"l.{c.name}" for c in left.columns)
    result = replace(result, columns=(*left.columns, Column(name, "int")))
    return draw.named(result, f"SELECT {items}, {subquery} AS {name} FROM {aliased(left, 'l')}")


def lateral(draw: Draw, left: Relation, right: Relation) -> Relation | None:
    """A derived table that refers to the rows of the table before it."""
    pair = _pair(draw, left, right)
    # Flink finds its way out of few nestings of what is correlated.
    if pair is None or not right.unique or left.sql.startswith("("):
        return None
    value = draw.one([c for c in right.columns if c.kind not in ("array", "row", "bool")])
    name = draw.name("lv")
    column, kind = draw.one(
        [
            (f"COUNT(r.{value.name})", "int"),
            (f"MAX(r.{value.name})", value.kind),
            (f"MIN(r.{value.name})", value.kind),
        ]
    )
    inner = f"SELECT {column} AS {name} FROM {aliased(right, 'r')}"
    inner += f" WHERE r.{pair[1]} = l.{pair[0]}"
    how = draw.one([", LATERAL ({})", " CROSS JOIN LATERAL ({})", " LEFT JOIN LATERAL ({})"])
    on = " ON TRUE" if "LEFT" in how else ""
    items = ", ".join([f"l.{c.name}" for c in left.columns] + [f"x.{name}"])
    query = f"SELECT {items} FROM {aliased(left, 'l')}{how.format(inner)} AS x{on}"
    result = replace(
        left,
        columns=(*left.columns, Column(name, kind)),
        appends=False,
        time=None,
        in_order=False,
        window=None,
        version_key=None,
    )
    return draw.named(result, query)


def with_values(draw: Draw, left: Relation) -> Relation | None:
    """A join with VALUES."""
    keys = left.of("string")
    if not keys:
        return None
    key, label, rank = draw.one(keys).name, draw.name("label"), draw.name("i")
    how = draw.one(["JOIN", "LEFT JOIN"])
    items = ", ".join([*(f"l.{c.name}" for c in left.columns), f"x.{label}", f"x.{rank}"])
    query = (
        f"SELECT {items} FROM {aliased(left, 'l')} {how} "
        f"(VALUES ('a', 'first', 1), ('b', CAST(NULL AS STRING), 2)) AS x (key_, {label}, {rank}) "
        f"ON l.{key} = x.key_"
    )
    result = replace(
        left,
        columns=(*left.columns, Column(label, "string"), Column(rank, "int")),
        appends=left.appends and how == "JOIN",
        time=None,
        in_order=False,
        window=None,
        version_key=None,
    )
    return draw.named(result, query)


def _pair(draw: Draw, left: Relation, right: Relation) -> tuple[str, str] | None:
    """Columns of both sides that can be compared."""
    kinds: tuple[Kind, ...] = ("string", "int")
    for kind in draw.random.sample(kinds, len(kinds)):
        mine, others = left.of(kind), right.of(kind)
        if mine and others:
            return draw.one(mine).name, draw.one(others).name
    return None


def _equality(draw: Draw, left: Relation, right: Relation) -> str | None:
    pair = _pair(draw, left, right)
    return f"l.{pair[0]} = r.{pair[1]}" if pair else None


def _both(draw: Draw, left: Relation, right: Relation) -> Expressions:
    columns = [replace(c, name=f"l.{c.name}") for c in left.columns]
    columns += [replace(c, name=f"r.{c.name}") for c in right.columns]
    return Expressions(draw, columns)


def _unbounded(side: Relation) -> Relation:
    return side.without(["window_start", "window_end"])


def _output(draw: Draw, left: Relation, right: Relation) -> tuple[tuple[Column, ...], str]:
    """All columns of both sides by new names."""
    columns, items = [], []
    for alias, side in (("l", left), ("r", right)):
        for column in side.columns:
            name = draw.name(column.name.rstrip("0123456789").removesuffix("_") or "c")
            columns.append(Column(name, column.kind))
            items.append(f"{alias}.{column.name} AS {name}")
    return tuple(columns), ", ".join(items)


def _unique(left: Relation, right: Relation, columns: tuple[Column, ...]) -> tuple[str, ...]:
    if not left.unique or not right.unique:
        return ()
    names = [*left.names, *right.names]
    width = len(left.columns)
    mine = [columns[i].name for i, n in enumerate(names[:width]) if n in left.unique]
    others = [columns[width + i].name for i, n in enumerate(right.names) if n in right.unique]
    return (*mine, *others)
