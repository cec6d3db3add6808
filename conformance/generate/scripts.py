"""Whole cases: tables, views, and a query of two to four operators."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from conformance.case import Case
from conformance.case_file import write_case
from conformance.generate import clauses, groups, joins, ranks, rows, sinks
from conformance.generate.clocks import changing
from conformance.generate.relation import Draw, Relation
from conformance.generate.tables import add_tables

AREA = "generated"

UNARY: list[Callable[[Draw, Relation], Relation | None]] = [
    rows.filtered,
    rows.filtered,
    rows.projected,
    rows.projected,
    rows.unnested,
    rows.distinct,
    rows.first_rows,
    groups.grouped,
    groups.grouped,
    groups.windowed,
    groups.windowed,
    groups.in_windows,
    groups.aggregated_again,
    groups.group_windows,
    groups.over_windows,
    ranks.top_n,
    ranks.deduplicated,
    ranks.matched,
    joins.with_values,
    clauses.used_twice,
    clauses.qualified,
    clauses.named_windows,
    clauses.renamed,
    clauses.grouped_by_expressions,
    clauses.having_alone,
    clauses.chosen,
    clauses.unnested_in_order,
    clauses.few_read,
]
BINARY: list[Callable[[Draw, Relation, Relation], Relation | None]] = [
    joins.joined,
    joins.joined,
    joins.interval_joined,
    joins.interval_joined,
    joins.temporal_joined,
    joins.temporal_joined,
    joins.window_joined,
    joins.window_joined,
    joins.semi_joined,
    joins.scalar_compared,
    joins.lateral,
    rows.united,
    rows.united,
    clauses.using,
    clauses.quantified,
    clauses.nested_lateral,
    clauses.existing,
]


def generate(seed: int, count: int, folder: Path) -> list[Case]:
    """Write that many cases into `folder/generated`; `record` adds Flink's answers."""
    (folder / AREA).mkdir(parents=True, exist_ok=True)
    cases = [script(seed, number, folder) for number in range(count)]
    for case in cases:
        write_case(case)
    return cases


def script(seed: int, number: int, folder: Path) -> Case:
    draw = Draw(f"{seed}/{number}")
    settings = []
    if draw.chance(0.25):
        draw.clock = changing(draw.one)
        settings = [f"SET 'table.local-time-zone' = '{draw.clock.zone}'"]
    tables = add_tables(draw)
    relation = _base(draw)
    if draw.chance(0.15):
        relation = rows.computed(draw, relation)
    else:
        for _ in range(draw.random.randint(2, 4)):
            relation = _step(draw, relation)
    query = f"SELECT * FROM {relation.sql}"
    if relation.sql.startswith("("):
        query = relation.sql[1:-1]
    filled = sinks.inserted(draw, relation) if draw.chance(0.25) else None
    inserts: list[str] = []
    if filled is not None:
        targets, inserts, query = filled
        tables += targets
        settings += sinks.SETTINGS
    setup = [*settings, *_read(draw.views, " ".join([*inserts, query])), *inserts]
    return Case(
        path=folder / AREA / f"s{seed}_{number:04d}.yaml",
        title=f"script {number} of seed {seed}",
        area=AREA,
        tables=[table for table in tables if _mentions([*setup, query], table.name)],
        setup=setup,
        query=query,
        compare="materialized",
    )


def _base(draw: Draw) -> Relation:
    """A table that is not only for temporal joins."""
    return draw.one([t for t in draw.tables if t.unique])


def _step(draw: Draw, relation: Relation) -> Relation:
    for _ in range(20):
        if draw.chance(0.4):
            operator = draw.one(BINARY)
            versioned = operator is joins.temporal_joined
            side = _versions(draw) if versioned else _side(draw)
            result = side and operator(draw, relation, side)
        else:
            result = draw.one(UNARY)(draw, relation)
        if result:
            return replace(result, unique=tuple(n for n in result.unique if n in result.names))
    return relation


def _side(draw: Draw) -> Relation:
    """The other side of a join: a table, or the result of one operator over it."""
    side = _base(draw)
    if draw.chance(0.5):
        return draw.one(UNARY)(draw, side) or side
    return side


def _versions(draw: Draw) -> Relation | None:
    """A versioned table, or a view of the last rows of keys."""
    tables = [t for t in draw.tables if t.version_key]
    if tables and draw.chance(0.7):
        return draw.one(tables)
    return ranks.deduplicated(draw, _base(draw))


def _read(views: list[str], query: str) -> list[str]:
    """The views that something reads: some were made for operators that did not fit."""
    kept: list[str] = []
    for view in reversed(views):
        name = view.split()[2]
        if _mentions([*kept, query], name):
            kept.insert(0, view)
    return kept


def _mentions(texts: list[str], name: str) -> bool:
    return any(re.search(rf"\b{name}\b", text) for text in texts)
