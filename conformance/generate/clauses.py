"""Ways to write queries: WITH, QUALIFY, named windows, views by other names, computed groups."""

from __future__ import annotations

from dataclasses import replace

from conformance.generate.expressions import over
from conformance.generate.groups import calls_of
from conformance.generate.relation import PLAIN, Column, Draw, Kind, Relation, aliased


def used_twice(draw: Draw, source: Relation) -> Relation | None:
    """A common table expression, joined with an aggregate of itself or united with itself."""
    keys = source.of("string", "int", "bool")
    if not keys:
        return None
    name, key, count = draw.name("q"), draw.one(keys).name, draw.name("n")
    body = f"SELECT * FROM {aliased(source, 'w')}"
    if draw.chance(0.4):
        where = f" WHERE {over(draw, source).condition()}"
        query = (
            f"WITH {name} AS ({body}) SELECT * FROM {name} UNION ALL SELECT * FROM {name}{where}"
        )
        result = replace(_changed(source), appends=source.appends, unique=())
        return draw.named(result, query)
    items = ", ".join(f"x.{c.name}" for c in source.columns)
    groups = f"(SELECT {key}, COUNT(*) AS {count} FROM {name} GROUP BY {key})"
    second = draw.name("q")
    query = draw.one(
        [
            f"WITH {name} AS ({body}) SELECT {items}, y.{count} FROM {name} AS x "
            f"JOIN {groups} AS y ON x.{key} = y.{key}",
            f"WITH {name} AS ({body}), {second} AS {groups} SELECT {items}, y.{count} "
            f"FROM {name} AS x LEFT JOIN {second} AS y ON x.{key} = y.{key}",
        ]
    )
    result = replace(_changed(source), columns=(*source.columns, Column(count, "int")))
    return draw.named(result, query)


def qualified(draw: Draw, source: Relation) -> Relation | None:
    """Top-N by QUALIFY."""
    if not source.unique:
        return None
    by = draw.one(source.of(*PLAIN)).name
    order = [f"{by} {draw.one(['ASC', 'DESC'])}"]
    order += [name for name in source.unique if name != by]
    keys = draw.some([c.name for c in source.of("string", "bool", "int")], 0, 1)
    partition = f"PARTITION BY {keys[0]} " if keys else ""
    call = f"ROW_NUMBER() OVER ({partition}ORDER BY {', '.join(order)})"
    # Flink plans the first row of appended ones as if it was never replaced: `+U` without `-U`.
    count = draw.random.randint(2 if source.appends else 1, 3)
    rank = draw.name("rn")
    # Flink fails to plan many a call that has no name.
    named = (f"*, {call} AS {rank}", rank)
    items, condition = draw.one([("*", call), *[named] * 7])
    columns = (*source.columns, *([Column(rank, "int")] if condition == rank else []))
    query = f"SELECT {items} FROM {aliased(source, 'r')} QUALIFY {condition} <= {count}"
    return draw.named(replace(_changed(source), columns=columns), query)


def named_windows(draw: Draw, source: Relation) -> Relation | None:
    """Aggregates over a window that has a name."""
    if source.time is None or not source.appends:
        return None
    keys = draw.some([c.name for c in source.of("string", "bool", "int") if c.name != "id"], 0, 1)
    partition = f"PARTITION BY {keys[0]} " if keys else ""
    frame = f"RANGE BETWEEN {draw.clock.interval(5)} PRECEDING AND CURRENT ROW"
    window = f"({partition}ORDER BY {source.time}{draw.one(['', f' {frame}'])})"
    numbers = [c.name for c in source.of("int", "decimal")] or ["1"]
    first, second = Column(draw.name("x"), "int"), Column(draw.name("x"), "int")
    query = (
        f"SELECT {', '.join(source.names)}, COUNT(*) OVER w AS {first.name}, "
        f"{draw.one(['SUM', 'MAX', 'AVG'])}({draw.one(numbers)}) OVER w AS {second.name} "
        f"FROM {aliased(source, 'v')} WINDOW w AS {window}"
    )
    columns = (*source.columns, first, second)
    result = replace(source, columns=columns, version_key=None, in_order=False)
    return draw.named(result, query)


def renamed(draw: Draw, source: Relation) -> Relation:
    """A view by other names of its columns, sometimes above another one; its rows stay the same."""
    query = f"SELECT {', '.join(source.names)} FROM {draw.table_name(source)} AS b"
    result = source
    for _ in range(draw.random.randint(1, 2)):
        view = draw.name("view")
        names = {c.name: draw.name(f"{c.name.rstrip('0123456789')}_") for c in result.columns}
        draw.views.append(f"CREATE VIEW {view} ({', '.join(names.values())}) AS {query}")
        result = replace(
            result,
            sql=view,
            columns=tuple(replace(c, name=names[c.name]) for c in result.columns),
            time=names.get(result.time or ""),
            unique=tuple(names[n] for n in result.unique),
            # The bounds have other names now.
            window=None,
            version_key=None,
        )
        query = f"SELECT * FROM {view}"
    return result


def grouped_by_expressions(draw: Draw, source: Relation) -> Relation | None:
    """GROUP BY computed values, by their expression or, rarely, the alias."""
    expressions = over(draw, source)
    text, kind = expressions.any()
    if kind not in PLAIN:
        return None
    key = Column(draw.name("g"), kind)
    calls = calls_of(draw, expressions, draw.random.randint(1, 2))
    by = draw.one([text] * 4 + [f"({text})", f"{text}, ({text})", key.name])
    items = ", ".join([f"{text} AS {key.name}"] + [f"{call} AS {c.name}" for call, c in calls])
    having = f" HAVING {calls[0][0]} IS NOT NULL" if draw.chance(0.2) else ""
    query = f"SELECT {items} FROM {aliased(source, 'g')} GROUP BY {by}{having}"
    columns = (key, *(column for _, column in calls))
    return draw.named(Relation("", columns, appends=False, unique=(key.name,)), query)


def having_alone(draw: Draw, source: Relation) -> Relation | None:
    """HAVING without GROUP BY."""
    if draw.chance(0.5):
        return None
    calls = calls_of(draw, over(draw, source), 2)
    numbers = [call for call, column in calls if column.kind == "int"]
    condition = f"{draw.one(numbers)} > {draw.one([0, 2])}" if numbers else "COUNT(*) > 3"
    items = ", ".join(f"{call} AS {column.name}" for call, column in calls)
    query = f"SELECT {items} FROM {aliased(source, 'g')} HAVING {condition}"
    return draw.named(Relation("", tuple(c for _, c in calls), appends=False), query)


def chosen(draw: Draw, source: Relation) -> Relation:
    """CASE over NULLs: untyped branches, and a NULL that is compared."""
    expressions = over(draw, source)
    name, other = draw.name("c"), draw.name("c")
    column = draw.one(source.of(*PLAIN)).name
    first = draw.one(
        [
            f"CASE {column} WHEN NULL THEN 'null' ELSE 'other' END",
            f"CASE WHEN {column} IS NULL THEN NULL ELSE {expressions.of('string', 1)} END",
            f"CASE WHEN {expressions.condition()} THEN NULL WHEN TRUE THEN 'x' END",
            f"CASE WHEN {expressions.condition()} THEN 'long one' ELSE 'short' END",
        ]
    )
    second = draw.one(
        [
            f"CASE WHEN {expressions.condition()} THEN 1 WHEN {expressions.condition()} "
            f"THEN {expressions.of('decimal', 1)} ELSE NULL END",
            f"CASE {expressions.of('int', 1)} WHEN 1 THEN 10 WHEN NULL THEN 20 END",
            f"COALESCE(NULL, {expressions.of('int', 1)})",
            f"NULLIF({expressions.of('int', 1)}, NULL)",
        ]
    )
    items = ", ".join([*source.names, f"{first} AS {name}", f"{second} AS {other}"])
    columns = (*source.columns, Column(name, "string"), Column(other, "decimal"))
    query = f"SELECT {items} FROM {aliased(source, 'p')}"
    return draw.named(replace(source, columns=columns, version_key=None), query)


def unnested_in_order(draw: Draw, source: Relation) -> Relation | None:
    """Elements with their positions, of an array or of a map that is made here."""
    expressions = over(draw, source)
    array = draw.one([*(c.name for c in source.of("array")), expressions.of("array", 1)])
    array = f"u.{array}" if array in source.names else array
    element, position = draw.name("e"), draw.name("o")
    kept = source.without([c.name for c in source.of("array")])
    how = draw.one([" CROSS JOIN {}", ", {}", " LEFT JOIN {}"])
    on = " ON TRUE" if "LEFT" in how else ""
    unnest = f"UNNEST({array}) WITH ORDINALITY AS x ({element}, {position})"
    names = (element, position)
    if draw.chance(0.2):
        unnest = f"UNNEST(MAP['a', 1, 'b', {expressions.of('int', 1)}]) AS x ({', '.join(names)})"
    items = ", ".join([*(f"u.{c.name}" for c in kept.columns), *(f"x.{name}" for name in names)])
    key: Kind = "string" if "MAP[" in unnest else "int"
    result = replace(
        kept,
        columns=(*kept.columns, Column(element, key), Column(position, "int")),
        unique=(*source.unique, position if key == "int" else element) if source.unique else (),
        version_key=None,
    )
    return draw.named(result, f"SELECT {items} FROM {aliased(source, 'u')}{how.format(unnest)}{on}")


def few_read(draw: Draw, source: Relation) -> Relation:
    """A query that reads one column of another one, or none."""
    name = draw.name("f")
    column = draw.one(source.of(*PLAIN))
    plain = Relation("", (Column(name, "int"),), appends=False)
    items, result = draw.one(
        [
            (f"COUNT(*) AS {name}", plain),
            (f"1 AS {name}", replace(plain, appends=source.appends)),
            (f"SUM(2) AS {name}", plain),
            (f"{column.name} AS {name}", replace(plain, columns=(Column(name, column.kind),))),
        ]
    )
    return draw.named(result, f"SELECT {items} FROM {aliased(source, 'w')}")


def existing(draw: Draw, left: Relation, right: Relation) -> Relation:
    """EXISTS of a query of which no column is read, as a condition or a value."""
    test = f"{draw.one(['', 'NOT '])}EXISTS (SELECT {draw.one(['1', '*'])} FROM {right.sql})"
    if draw.chance(0.5):
        query = f"SELECT * FROM {aliased(left, 'l')} WHERE {test}"
        return draw.named(_changed(left), query)
    name = draw.name("f")
    items = f"{', '.join(left.names)}, CASE WHEN {test} THEN 1 ELSE 0 END AS {name}"
    columns = (*left.columns, Column(name, "int"))
    query = f"SELECT {items} FROM {aliased(left, 'l')}"
    return draw.named(replace(_changed(left), columns=columns), query)


def using(draw: Draw, left: Relation, right: Relation) -> Relation | None:
    """JOIN ... USING and NATURAL JOIN of columns that both sides have."""
    shared = [c for c in left.columns if c in right.columns and c.kind in ("int", "string", "bool")]
    if not shared:
        return None
    key = draw.one(shared)
    # Few columns, by names that no other has.
    mine = [c for c in left.columns if c not in shared][:4]
    others = [c for c in right.columns if c not in shared][:3]
    a, b = ([(c.name, Column(draw.name("j"), c.kind)) for c in side] for side in (mine, others))
    left_query, right_query = (
        f"(SELECT {', '.join([key.name, *(f'{n} AS {c.name}' for n, c in columns)])} "
        f"FROM {aliased(side, 's')})"
        for side, columns in ((left, a), (right, b))
    )
    how = draw.one(["", "", "", "LEFT ", "LEFT ", "RIGHT ", "FULL "])
    natural = draw.chance(0.4)
    join = f"NATURAL {how}JOIN" if natural else f"{how}JOIN"
    on = "" if natural else f" USING ({key.name})"
    named = [column for _, column in [*a, *b]]
    every = ", ".join([key.name, *(c.name for c in named)])
    # In RIGHT and FULL joins, the name of the key is ambiguous in Flink.
    items = every if how in ("", "LEFT ") else "*"
    query = f"SELECT {items} FROM {left_query} AS l {join} {right_query} AS r{on}"
    appends = left.appends and right.appends and not how
    return draw.named(Relation("", (key, *named), appends=appends), query)


def quantified(draw: Draw, left: Relation, right: Relation) -> Relation | None:
    """Comparisons with ANY, SOME and ALL."""
    mine, others = left.of("int", "decimal"), right.of("int", "decimal")
    if not mine or not others:
        return None
    a, b = draw.one(mine).name, draw.one(others).name
    where = draw.one(
        ["", f" WHERE r.{b} IS NOT NULL", f" WHERE {over(draw, right, 'r').condition()}"]
    )
    comparison = draw.one(["= ANY", "> ANY", "<= SOME", "<> ALL", ">= ALL", "< ALL", "<> SOME"])
    condition = f"l.{a} {comparison} (SELECT r.{b} FROM {aliased(right, 'r')}{where})"
    result = _changed(left)
    if draw.chance(0.6):
        return draw.named(result, f"SELECT * FROM {aliased(left, 'l')} WHERE {condition}")
    name = draw.name("q")
    query = f"SELECT l.*, {condition} AS {name} FROM {aliased(left, 'l')}"
    return draw.named(replace(result, columns=(*left.columns, Column(name, "bool"))), query)


def nested_lateral(draw: Draw, left: Relation, right: Relation) -> Relation | None:
    """A derived table of a row, and another one of both."""
    keys, others = left.of("string", "int"), right.of("string", "int")
    pairs = [(a.name, b.name) for a in keys for b in others if a.kind == b.kind]
    numbers = right.of("int", "decimal")
    # Flink finds its way out of few nestings of what is correlated.
    if not pairs or not numbers or left.sql.startswith("(") or draw.chance(0.8):
        return None
    (a, b), number = draw.one(pairs), draw.one(numbers)
    first, second = draw.name("lv"), draw.name("lv")
    call = draw.one(["MAX", "MIN", "COUNT"])
    x = f"(SELECT {call}(r.{number.name}) AS {first} FROM {aliased(right, 'r')} "
    x += f"WHERE r.{b} = l.{a})"
    y = draw.one(
        [
            f"(SELECT x.{first} + 1 AS {second})",
            f"(SELECT COUNT(*) AS {second} FROM {aliased(right, 'r2')} "
            f"WHERE r2.{number.name} = x.{first})",
        ]
    )
    items = ", ".join([*(f"l.{name}" for name in left.names), f"x.{first}", f"y.{second}"])
    query = (
        f"SELECT {items} FROM {aliased(left, 'l')} "
        f"CROSS JOIN LATERAL {x} AS x CROSS JOIN LATERAL {y} AS y"
    )
    columns = (*left.columns, Column(first, number.kind), Column(second, number.kind))
    return draw.named(replace(_changed(left), columns=columns), query)


def _changed(source: Relation) -> Relation:
    """What is known of rows that an operator may update."""
    return replace(source, appends=False, time=None, in_order=False, window=None, version_key=None)
