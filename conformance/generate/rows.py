"""Operators of single rows and of sets of rows: filters, projections, UNNEST, unions, LIMIT."""

from __future__ import annotations

from dataclasses import replace

from conformance.generate.expressions import over
from conformance.generate.relation import PLAIN, Column, Draw, Relation, aliased


def filtered(draw: Draw, source: Relation) -> Relation:
    condition = over(draw, source).condition()
    return draw.named(source, f"SELECT * FROM {aliased(source, 'f')} WHERE {condition}")


def projected(draw: Draw, source: Relation) -> Relation:
    """Computed columns, with what identifies a row and mostly with its time."""
    kept = [c for c in source.columns if c.name in source.unique]
    time = source.time if draw.chance(0.8) else None
    kept += [c for c in source.columns if c.name == time and c not in kept]
    others = [c for c in source.columns if c not in kept and c.name != source.time]
    kept += draw.some(others, 0, 3)
    expressions = over(draw, source)
    items = [c.name for c in kept]
    columns = list(kept)
    for _ in range(draw.random.randint(1, 3)):
        text, kind = expressions.any()
        name = draw.name("c")
        items.append(f"{text} AS {name}")
        columns.append(Column(name, kind))
    condition = f" WHERE {expressions.condition()}" if draw.chance(0.3) else ""
    bounds = {"window_start", "window_end"} <= {c.name for c in kept}
    result = replace(
        source,
        columns=tuple(columns),
        time=time,
        version_key=None,
        window=source.window if bounds else None,
    )
    query = f"SELECT {', '.join(items)} FROM {aliased(source, 'p')}{condition}"
    return draw.named(result, query, views=0.3)


def computed(draw: Draw, source: Relation) -> Relation:
    """Many expressions over the rows of a table."""
    expressions = over(draw, source)
    columns = [c for c in source.columns if c.name in source.unique]
    items = [c.name for c in columns]
    for _ in range(draw.random.randint(10, 16)):
        text, kind = expressions.any()
        columns.append(Column(draw.name("c"), kind))
        items.append(f"{text} AS {columns[-1].name}")
    result = replace(source, columns=tuple(columns), time=None, version_key=None)
    return draw.named(result, f"SELECT {', '.join(items)} FROM {aliased(source, 'p')}")


def unnested(draw: Draw, source: Relation) -> Relation | None:
    arrays = source.of("array")
    if not arrays:
        return None
    array, element = draw.one(arrays), draw.name("e")
    kept = source.without([array.name])
    join = draw.one([" CROSS JOIN UNNEST({})", ", UNNEST({})", " LEFT JOIN UNNEST({})"])
    on = " ON TRUE" if "LEFT" in join else ""
    items = ", ".join([f"u.{c.name}" for c in kept.columns] + [f"x.{element}"])
    from_ = f"{aliased(source, 'u')}{join.format(f'u.{array.name}')} AS x ({element}){on}"
    result = replace(
        kept,
        columns=(*kept.columns, Column(element, "int")),
        unique=(*source.unique, element) if source.unique else (),
        version_key=None,
    )
    return draw.named(result, f"SELECT {items} FROM {from_}")


def distinct(draw: Draw, source: Relation) -> Relation | None:
    columns = draw.some(source.of(*PLAIN), 1, 3)
    names = tuple(c.name for c in columns)
    result = Relation("", tuple(columns), appends=source.appends, unique=names)
    return draw.named(result, f"SELECT DISTINCT {', '.join(names)} FROM {aliased(source, 'd')}")


def united(draw: Draw, left: Relation, right: Relation) -> Relation | None:
    """A set operation over columns of the same kinds."""
    pairs = _pairs(draw, left, right)
    operator = draw.one(["UNION ALL"] * 3 + ["UNION", "INTERSECT", "EXCEPT", "UNION"])
    if operator != "UNION ALL":
        pairs = [(a, b) for a, b in pairs if a.kind in PLAIN]
    if len(pairs) < 2:
        return None
    names = [draw.name("u") for _ in pairs]
    first = ", ".join(f"{a.name} AS {name}" for (a, _), name in zip(pairs, names, strict=True))
    second = ", ".join(b.name for _, b in pairs)
    time = None
    if operator == "UNION ALL":
        times = [n for (a, b), n in zip(pairs, names, strict=True) if _are_times(left, a, right, b)]
        time = times[0] if times else None
    result = Relation(
        "",
        tuple(Column(name, a.kind) for (a, _), name in zip(pairs, names, strict=True)),
        time=time,
        appends=left.appends and right.appends and operator == "UNION ALL",
        unique=() if operator == "UNION ALL" else tuple(names),
    )
    query = (
        f"SELECT {first} FROM {aliased(left, 's1')} "
        f"{operator} SELECT {second} FROM {aliased(right, 's2')}"
    )
    return draw.named(result, query)


def first_rows(draw: Draw, source: Relation) -> Relation | None:
    """ORDER BY ... LIMIT, with ties broken."""
    if not source.unique:
        return None
    column = draw.one([c.name for c in source.of(*PLAIN)])
    order = [f"{column} {draw.one(['ASC', 'DESC', ''])}".strip()]
    order += [name for name in source.unique if name != column]
    count = draw.random.randint(1, 5)
    query = f"SELECT * FROM {aliased(source, 'o')} ORDER BY {', '.join(order)} LIMIT {count}"
    result = replace(source, time=None, appends=False, in_order=False, window=None)
    return draw.named(result, query)


def _pairs(draw: Draw, left: Relation, right: Relation) -> list[tuple[Column, Column]]:
    """Columns of both sides that a set operation may put into one."""
    free, pairs = list(right.columns), []
    for column in left.columns:
        if column.name == left.time and right.time and draw.chance(0.9):
            match = next((c for c in free if c.name == right.time), None)
        else:
            match = next((c for c in free if c.kind == column.kind and c.name != right.time), None)
        if match is not None:
            free.remove(match)
            pairs.append((column, match))
    return pairs[:5]


def _are_times(left: Relation, a: Column, right: Relation, b: Column) -> bool:
    return a.name == left.time and b.name == right.time
