"""Random queries: planning returns a consistent plan, or raises an error with a location."""

from __future__ import annotations

from functools import cache

from hypothesis import event, given
from hypothesis import strategies as st

from tests.plan.marked import workspace
from tests.searching import searched
from tidemark.errors import SqlError
from tidemark.physical.explain import explain
from tidemark.plan import expressions
from tidemark.plan.expressions import Expression, Ref
from tidemark.plan.nodes import (
    AssignWatermark,
    Edge,
    Filter,
    Node,
    Project,
    Sink,
    UnionAll,
    Unnest,
    Values,
    walk,
)
from tidemark.plan.planner import Plan
from tidemark.session.workspace import Workspace

COLUMNS = {
    "bo": "BOOLEAN",
    "ti": "TINYINT",
    "si": "SMALLINT",
    "i": "INT",
    "bi": "BIGINT NOT NULL",
    "f": "FLOAT",
    "d": "DOUBLE",
    "de": "DECIMAL(10, 2)",
    "c": "CHAR(3)",
    "v": "VARCHAR(5)",
    "s": "STRING",
    "b": "BINARY(2)",
    "vb": "BYTES",
    "da": "DATE",
    "tm": "TIME(3)",
    "ts": "TIMESTAMP(3)",
    "lz": "TIMESTAMP_LTZ(3)",
    "a": "ARRAY<INT>",
    "m": "MAP<STRING, DOUBLE>",
    "mu": "MULTISET<STRING>",
    "r": "ROW<x INT, y ROW<z STRING NOT NULL>>",
    "ra": "ARRAY<ROW<p INT, q STRING>>",
}


@cache
def everything() -> Workspace:
    """A table with a column of every type, and a sink for its rows."""
    columns = ", ".join(f"{name} {type_}" for name, type_ in COLUMNS.items())
    return workspace(
        f"CREATE TABLE t ({columns}, WATERMARK FOR ts AS ts) WITH ('connector' = 'fake');"
        f"CREATE TABLE sink ({columns}) WITH ('connector' = 'fake');"
        "CREATE VIEW w AS SELECT s, i, ts AS t FROM t WHERE bo"
    )


def joined(*parts: st.SearchStrategy[str] | str) -> st.SearchStrategy[str]:
    strategies = [st.just(part) if isinstance(part, str) else part for part in parts]
    return st.tuples(*strategies).map("".join)


def one_of_words(text: str) -> st.SearchStrategy[str]:
    """One of the words between the bars."""
    return st.sampled_from([word.strip() for word in text.split(" | ")])


# --- expressions that mean something -----------------------------------------------------------

SIMPLE = {
    "number": "ti | i | bi | f | d | de | r.x | a[1] | 1 | -2147483648 | 2147483648 | 1.50 | 1e3",
    "text": "c | v | s | r.y.z | t.s | 'x' | '' | CAST(NULL AS STRING)",
    "truth": "bo | TRUE | UNKNOWN | s IS NULL",
    "moment": "ts | lz | da | TIMESTAMP '2024-01-01 00:00:00.123' | CURRENT_TIMESTAMP",
}


def larger_of_a_kind(kind: str, inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    shapes = {
        "number": [
            "({} + {})",
            "({} * {})",
            "-{}",
            "ABS({})",
            "CAST({} AS DOUBLE)",
            "COALESCE({}, {})",
        ],
        "text": [
            "({} || {})",
            "UPPER({})",
            "CONCAT({}, {})",
            "COALESCE({}, {})",
            "JSON_VALUE({}, '$.x')",
        ],
        "truth": ["({} AND {})", "NOT {}", "({} OR {})", "{} IS TRUE"],
        "moment": ["({} + INTERVAL '1' DAY)", "CAST({} AS TIMESTAMP(3))"],
    }
    choice = f"CASE WHEN bo THEN {{}} WHEN i > 1 THEN {{}} ELSE {SIMPLE[kind].split(' | ')[0]} END"
    shape = st.sampled_from([*shapes[kind], choice])
    return st.tuples(shape, inner, inner).map(lambda drawn: drawn[0].format(*drawn[1:]))


def of_a_kind(kind: str) -> st.SearchStrategy[str]:
    return st.recursive(
        one_of_words(SIMPLE[kind]), lambda inner: larger_of_a_kind(kind, inner), max_leaves=5
    )


SENSIBLE = {kind: of_a_kind(kind) for kind in SIMPLE}
COMPARISONS = joined(SENSIBLE["number"], one_of_words("= | <> | < | >="), SENSIBLE["number"])
CONDITIONS = st.one_of(SENSIBLE["truth"], COMPARISONS, joined(SENSIBLE["text"], " LIKE 'x%'"))

# --- expressions of anything -------------------------------------------------------------------

WILD = one_of_words(
    " | ".join(COLUMNS)
    + " | t.i | t.r.x | nope | 1 | 9223372036854775808 | 1.50 | 'x' | NULL | X'0F' | DATE '2024-02-29'"
    " | TIME '1:2:3' | INTERVAL '1' DAY | INTERVAL '1-2' YEAR TO MONTH | ARRAY[1, 2] | ROW(1, 'a')"
)
BINARY = one_of_words("+ | - | * | / | % | || | = | < | AND | OR | LIKE | IS DISTINCT FROM")
TYPES = st.sampled_from(sorted({type_.replace(" NOT NULL", "") for type_ in COLUMNS.values()}))
CALLS = one_of_words(
    "UPPER | ABS | COALESCE | CONCAT | CARDINALITY | IF | NULLIF | COUNT | JSON_QUERY"
)


def larger_of_anything(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    listed = st.lists(inner, min_size=1, max_size=3).map(", ".join)
    return st.one_of(
        joined("(", inner, " ", BINARY, " ", inner, ")"),
        joined("NOT ", inner),
        joined("-", inner),
        joined("CAST(", inner, " AS ", TYPES, ")"),
        joined("TRY_CAST(", inner, " AS ", TYPES, ")"),
        joined("CASE ", inner, " WHEN ", inner, " THEN ", inner, " END"),
        joined(inner, " IN (", listed, ")"),
        joined(inner, " BETWEEN ", inner, " AND ", inner),
        joined("(", inner, ")[", inner, "]"),
        joined("(", inner, ").x"),
        joined("ARRAY[", listed, "]"),
        joined("MAP[", inner, ", ", inner, "]"),
        joined(CALLS, "(", listed, ")"),
        joined("EXTRACT(DAY FROM ", inner, ")"),
    )


ANYTHING = st.recursive(WILD, larger_of_anything, max_leaves=4)

# --- queries -----------------------------------------------------------------------------------

ITEMS = st.one_of(
    *SENSIBLE.values(),
    *(joined(strategy, " AS ", one_of_words("x | y | s")) for strategy in SENSIBLE.values()),
    one_of_words("* | t.* | r.*"),
    ANYTHING,
)
RELATIONS = one_of_words(
    "t | t AS t | t | (SELECT * FROM t) AS t | (SELECT * FROM t WHERE bo) AS t | t, UNNEST(a) AS e"
    " | t LEFT JOIN UNNEST(m) AS z(k, n) ON TRUE | t CROSS JOIN UNNEST(ra) WITH ORDINALITY"
    " | w | (VALUES (1, 'a'), (2, NULL)) AS v(i, s) | nope"
)
SELECTS = joined(
    "SELECT ",
    st.lists(ITEMS, min_size=1, max_size=3).map(", ".join),
    " FROM ",
    RELATIONS,
    st.one_of(st.just(""), joined(" WHERE ", CONDITIONS), joined(" WHERE ", ANYTHING)),
)
QUERIES = st.one_of(
    SELECTS,
    SELECTS,
    joined("SELECT * FROM (", SELECTS, ") AS q"),
    joined(SELECTS, " UNION ALL ", SELECTS),
    joined("WITH t AS (", SELECTS, ") SELECT * FROM t"),
    joined("SELECT x FROM (", SELECTS, ")"),
    joined("INSERT INTO sink (s) SELECT ", SENSIBLE["text"], " FROM ", RELATIONS),
)


def refusal_or_plan(sql: str) -> SqlError | Plan:
    try:
        [planned] = everything().plan_script(sql)
    except SqlError as error:
        return error
    assert planned.plan is not None
    return planned.plan


@searched(100)
@given(QUERIES)
def test_query_is_planned_or_refused_with_a_place(sql: str):
    answer = refusal_or_plan(sql)
    event(type(answer).__name__)
    if isinstance(answer, SqlError):
        assert answer.source is not None
        assert answer.at is not None, f"no place: {answer}"
        assert answer.at.end <= len(answer.source.text)
        return
    for node in walk(answer.roots[0]):
        fits(node)
    for form in ("text", "mermaid", "json"):
        assert explain(answer, form)


def fits(node: Node) -> None:
    """What flows out of a node is what its expressions make of what flows in."""
    below = node.inputs
    match node:
        case Project(expressions=values, edge=edge):
            makes(values, edge)
            reads(values, below[0].edge)
        case Filter(condition=condition, edge=edge):
            reads([condition], below[0].edge)
            assert edge.names == below[0].edge.names
        case AssignWatermark(expression=expression, edge=edge):
            reads([expression], below[0].edge)
            assert edge.types == below[0].edge.types
        case Values(rows=rows, edge=edge):
            for row in rows:
                assert [v.type.same_as(t) for v, t in zip(row, edge.types, strict=True)].count(
                    False
                ) == 0
        case Unnest(collection=collection, edge=edge):
            reads([collection], below[0].edge)
            assert edge.columns[: len(below[0].edge.columns)] == below[0].edge.columns
        case UnionAll(edge=edge):
            for side in below:
                assert all(a.same_as(b) for a, b in zip(side.edge.types, edge.types, strict=True))
        case Sink(table=table, edge=edge):
            assert edge.types == tuple(column.type for column in table.columns)
    for key in node.edge.keys:
        assert set(key) <= set(node.edge.names)
    assert node.description.name


def makes(values: tuple[Expression, ...], edge: Edge) -> None:
    assert [value.type for value in values] == list(edge.types)


def reads(values: list[Expression] | tuple[Expression, ...], below: Edge) -> None:
    for value in values:
        for part in expressions.walk(value):
            if isinstance(part, Ref):
                assert below.columns[part.index].type == part.type, f"{part} of {below.names}"
