"""Top-N, deduplication and patterns."""

from __future__ import annotations

from dataclasses import replace

from conformance.generate.relation import PLAIN, Column, Draw, Relation, aliased


def top_n(draw: Draw, source: Relation) -> Relation | None:
    if not source.unique:
        return None
    sortable = source.of(*PLAIN)
    by = draw.one(sortable)
    order = [f"{by.name} {draw.one(['ASC', 'DESC'])}"]
    order += [f"{name} {draw.one(['ASC', 'DESC'])}" for name in source.unique if name != by.name]
    partition = draw.some([c.name for c in source.of("string", "bool", "int")], 0, 1)
    if source.window and draw.chance(0.7):
        partition = ["window_start", "window_end", *partition]
    # Flink plans the first row of appended ones as if it was never replaced: `+U` without `-U`.
    least = 2 if source.appends and "window_start" not in partition else 1
    return _ranked(draw, source, partition, order, draw.random.randint(least, 3))


def deduplicated(draw: Draw, source: Relation) -> Relation | None:
    """The first or last row of a key by event time."""
    if source.time is None or not source.in_order:
        return None
    partition = draw.some([c.name for c in source.of("string", "bool", "int")], 1, 2)
    if not partition:
        return None
    direction = draw.one(["ASC", "DESC"])
    result = _ranked(draw, source, partition, [f"{source.time} {direction}"], 1)
    key = partition[0] if len(partition) == 1 and direction == "DESC" else None
    first = direction == "ASC"
    return replace(
        result,
        time=source.time,
        appends=first,
        version_key=key,
        in_order=False,
        unique=tuple(partition),
    )


def _ranked(
    draw: Draw, source: Relation, partition: list[str], order: list[str], count: int
) -> Relation:
    rank = draw.name("rn")
    by = f"PARTITION BY {', '.join(partition)} " if partition else ""
    call = f"ROW_NUMBER() OVER ({by}ORDER BY {', '.join(order)}) AS {rank}"
    condition = f"{rank} = 1" if count == 1 else f"{rank} <= {count}"
    with_rank = draw.chance(0.3)
    columns = (*source.columns, *([Column(rank, "int")] if with_rank else []))
    query = (
        f"SELECT {', '.join(c.name for c in columns)} "
        f"FROM (SELECT *, {call} FROM {aliased(source, 'r')}) WHERE {condition}"
    )
    in_windows = partition[:2] == ["window_start", "window_end"]
    result = replace(
        source,
        columns=columns,
        time=None,
        appends=in_windows,
        in_order=False,
        version_key=None,
        window=source.window if in_windows else None,
    )
    return draw.named(result, query)


def matched(draw: Draw, source: Relation) -> Relation | None:
    """A simple pattern over the rows of one file in the order of their times."""
    if source.time is None or not source.in_order or not source.appends or not source.unique:
        return None
    values = [c.name for c in source.of("int")]
    keys = source.of("string")
    if not values or not keys:
        return None
    key, value, identity = draw.one(keys).name, draw.one(values), source.unique[0]
    pattern = draw.one(["A B", "A B+ C", "A B* C", "A B? C", "A{2} B"])
    conditions = [f"B AS B.{value} {draw.one(['>', '<=', '<>'])} LAST(A.{value})"]
    if pattern != "A B+ C" or draw.chance(0.5):
        conditions.append(f"A AS A.{value} IS NOT NULL")
    if "C" in pattern:
        conditions.append(f"C AS C.{value} {draw.one(['>', '<='])} A.{value}")
    skip = draw.one(["PAST LAST ROW", "TO NEXT ROW"])
    first, count, time = draw.name("m"), draw.name("m"), draw.name("mt")
    query = (
        f"SELECT {key}, {first}, {count}, {time} FROM {source.sql} MATCH_RECOGNIZE ("
        f"PARTITION BY {key} ORDER BY {source.time} "
        f"MEASURES A.{identity} AS {first}, SUM(B.{value}) AS {count}, "
        f"MATCH_ROWTIME() AS {time} "
        f"ONE ROW PER MATCH AFTER MATCH SKIP {skip} "
        f"PATTERN ({pattern}) DEFINE {', '.join(conditions)})"
    )
    columns = (
        Column(key, "string"),
        Column(first, "int"),
        Column(count, "int"),
        Column(time, "time"),
    )
    return draw.named(Relation("", columns, time=time), query)
