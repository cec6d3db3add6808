"""INSERTs into tables that replace rows by keys of their own, and what these contain in the end."""

from __future__ import annotations

from conformance.case import Table
from conformance.generate.expressions import over
from conformance.generate.relation import Column, Draw, Kind, Relation

# Types that a sink may have for a kind, each with that in the database, and what a key is instead
# of NULL.
_TYPES: dict[Kind, tuple[list[tuple[str, str]], str]] = {
    "int": ([("BIGINT", "BIGINT"), ("BIGINT", "BIGINT"), ("DOUBLE", "DOUBLE")], "-1"),
    "decimal": (
        [("DECIMAL(12, 3)", "DECIMAL(12, 3)"), ("DECIMAL(5, 1)", "DECIMAL(5, 1)")],
        "0",
    ),
    "double": ([("DOUBLE", "DOUBLE")], "0"),
    "string": ([(name, "VARCHAR(200)") for name in ("STRING", "STRING", "VARCHAR(2)")], "'-'"),
    "bool": ([("BOOLEAN", "BOOLEAN")], "FALSE"),
    "time": ([("TIMESTAMP(3)", "TIMESTAMP")], "TIMESTAMP '2024-01-01 00:00:00'"),
    "date": ([("DATE", "DATE")], "DATE '2024-01-01'"),
}
# Flink asks for ON CONFLICT otherwise, and would not wait for what fills the tables.
SETTINGS = [
    "SET 'table.exec.sink.require-on-conflict' = 'false'",
    "SET 'table.dml-sync' = 'true'",
]
KEYS: tuple[Kind, ...] = ("int", "string", "bool", "date")


def inserted(draw: Draw, source: Relation) -> tuple[list[Table], list[str], str] | None:
    """The sinks, the statements that fill them from one view, and a query of what they contain."""
    columns = [c for c in draw.some(source.columns, 1, 6) if c.kind in _TYPES]
    columns += [c for c in source.columns if c.name in source.unique and c not in columns]
    if any(c.kind not in _TYPES for c in columns) or not any(c.kind in KEYS for c in columns):
        return None
    declared = {c.name: draw.one(_TYPES[c.kind][0]) for c in columns}
    view = draw.table_name(source)
    tables, inserts = [], []
    for _ in range(draw.random.randint(1, 3)):
        key = _key(draw, source, columns)
        name = draw.name("s")
        tables.append(_table(name, columns, key, declared))
        inserts.append(_insert(draw, view, source, name, columns, key))
    every = ", ".join(c.name for c in columns)
    query = " UNION ALL ".join(
        f"SELECT '{table.name}' AS sink, {every} FROM {table.name}" for table in tables
    )
    statements = "; ".join(inserts)
    return tables, [f"EXECUTE STATEMENT SET BEGIN {statements}; END"], query


def _key(draw: Draw, source: Relation, columns: list[Column]) -> list[Column]:
    """The key of the query, a wider one, or another one."""
    able = [c for c in columns if c.kind in KEYS]
    own = [c for c in able if c.name in source.unique]
    if own and len(own) == len(source.unique) and (_by_hash(draw, source) or draw.chance(0.6)):
        others = [c for c in able if c not in own]
        return own + (draw.some(others, 1, 1) if draw.chance(0.4) else [])
    return draw.some(able, 1, 2)


def _by_hash(draw: Draw, source: Relation) -> bool:
    """Whether rows come in an order of Flink's own, which decides about the last one of a key."""
    text = " ".join([*draw.views, source.sql])
    return any(word in text for word in ("JOIN", "LATERAL", "(SELECT r.", "(SELECT 1", "UNNEST"))


def _table(
    name: str, columns: list[Column], key: list[Column], declared: dict[str, tuple[str, str]]
) -> Table:
    def null(column: Column) -> str:
        return " NOT NULL" if column in key else ""

    parts = [f"{c.name} {declared[c.name][0]}{null(c)}" for c in columns]
    names = ", ".join(c.name for c in key)
    stored = [f"{c.name} {declared[c.name][1]}{null(c)}" for c in columns]
    return Table(
        name,
        ", ".join([*parts, f"PRIMARY KEY ({names}) NOT ENFORCED"]),
        "json",
        [],
        filled=", ".join([*stored, f"PRIMARY KEY ({names})"]),
    )


def _insert(
    draw: Draw, view: str, source: Relation, sink: str, columns: list[Column], key: list[Column]
) -> str:
    def value(column: Column) -> str:
        if column not in key:
            return column.name
        return f"COALESCE({column.name}, {_TYPES[column.kind][1]}) AS {column.name}"

    listed = columns
    if draw.chance(0.4):
        # Some columns in another order; the others are NULL.
        rest = [c for c in columns if c not in key]
        listed = [*draw.some(rest, 0, len(rest)), *key]
    names = f" ({', '.join(c.name for c in listed)})" if listed is not columns else ""
    where = f" WHERE {over(draw, source).condition()}" if draw.chance(0.3) else ""
    items = ", ".join(value(c) for c in listed)
    return f"INSERT INTO {sink}{names} SELECT {items} FROM {view} AS i{where}"
