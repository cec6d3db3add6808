"""Small tables: appended events out of order, changes with event time, versions, and values."""

from __future__ import annotations

from typing import Any

from conformance.case import Table
from conformance.generate.relation import Column, Draw, Relation

KEYS = ["a", "b", "c", None]
ARRAYS: list[Any] = [[1, 2], [3], [], None, [2, None]]


def add_tables(draw: Draw) -> list[Table]:
    """One to three tables, of which the first one has appended events."""
    makers = [draw.one([events, events, changes])]
    makers += draw.some([events, changes, versions, items], 0, 2)
    tables = []
    for maker in makers:
        table, relation = maker(draw, draw.name("t"))
        tables.append(table)
        draw.tables.append(relation)
    return tables


def events(draw: Draw, name: str) -> tuple[Table, Relation]:
    """Rows out of order, with late ones, equal times, NULLs, and some twice."""
    declared, columns = [*_DECLARED], [*_COLUMNS]
    for name_ in draw.some([c.name for c in columns[2:]], 2, 5):
        # Fewer columns: what is written about a script should fit a screen.
        position = [c.name for c in columns].index(name_)
        del declared[position], columns[position]
    read_from = _time(draw, declared, columns)
    if "n" in [c.name for c in columns] and draw.chance(0.3):
        declared.append("twice AS n + n")
        columns.append(Column("twice", "int"))
    declared.append(f"WATERMARK FOR ts AS {_watermark(draw)}")
    relation = Relation(name, tuple(columns), time="ts", unique=("id",), in_order=True)
    rows: list[dict[str, Any]] = []
    time = 0
    for number in range(draw.random.randint(6, 14)):
        time += draw.one([0, 0, 1, 1, 2, 3, 7])
        values = _values(draw, number + 1)
        row = {key: value for key, value in values.items() if key in relation.names}
        row |= _moment(draw, read_from, max(0, time - draw.one([0, 0, 1, 4, 9])))
        rows += [row] * (2 if draw.chance(0.07) else 1)
    return Table(name, ", ".join(declared), "json", rows), relation


def changes(draw: Draw, name: str) -> tuple[Table, Relation]:
    """Debezium events over a table by `id`, each with its event time."""
    declared, columns = [*_DECLARED], [*_COLUMNS]
    read_from = _time(draw, declared, columns)
    now: dict[int, dict[str, Any]] = {}
    rows: list[dict[str, Any]] = []
    time = 0
    for _ in range(draw.random.randint(5, 12)):
        time += draw.one([0, 1, 1, 2, 5])
        key = draw.random.randint(1, 5)
        after = _values(draw, key) | _moment(draw, read_from, time)
        before = now.get(key)
        if before is not None and draw.chance(0.3):
            rows.append({"before": before, "after": None, "op": "d"})
            del now[key]
            continue
        rows.append({"before": before, "after": after, "op": "c" if before is None else "u"})
        now[key] = after
    declared.append(f"WATERMARK FOR ts AS {_watermark(draw)}")
    keyed = draw.chance(0.7)
    if keyed:
        declared[0] = "id INT NOT NULL"
        declared.append("PRIMARY KEY (id) NOT ENFORCED")
    relation = Relation(
        name,
        tuple(columns),
        time="ts",
        appends=False,
        unique=("id",),
        version_key="id" if keyed else None,
    )
    return Table(name, ", ".join(declared), "debezium-json", rows), relation


def versions(draw: Draw, name: str) -> tuple[Table, Relation]:
    """Appended versions of keys, which are for temporal joins only: keys are repeated."""
    declared, columns = ["k STRING", *_DECLARED[2:]], [*_COLUMNS[1:]]
    read_from = _time(draw, declared, columns)
    rows = []
    time = 0
    for number in range(draw.random.randint(4, 8)):
        time += draw.one([0, 1, 2, 3, 6])
        values = _values(draw, number) | {"k": draw.one("abc")} | _moment(draw, read_from, time)
        rows.append({key: value for key, value in values.items() if key != "id"})
    declared += [f"WATERMARK FOR ts AS {_watermark(draw)}", "PRIMARY KEY (k) NOT ENFORCED"]
    relation = Relation(name, tuple(columns), time="ts", version_key="k")
    return Table(name, ", ".join(declared), "json", rows), relation


def items(draw: Draw, name: str) -> tuple[Table, Relation]:
    """Rows without times, with a primary key."""
    rows = [_values(draw, key) for key in draw.some(range(1, 9), 2, 7)]
    declared = ["id INT NOT NULL", *_DECLARED[1:], "PRIMARY KEY (id) NOT ENFORCED"]
    relation = Relation(name, _COLUMNS, unique=("id",), in_order=True)
    return Table(name, ", ".join(declared), "json", rows), relation


_DECLARED = [
    "id INT",
    "k STRING",
    "n INT",
    "v DECIMAL(10, 2)",
    "d DOUBLE",
    "big BIGINT",
    "ok BOOLEAN",
    "born DATE",
    "tags ARRAY<INT>",
    "pair ROW<a INT, b STRING>",
]
_COLUMNS: tuple[Column, ...] = (
    Column("id", "int"),
    Column("k", "string"),
    Column("n", "int"),
    Column("v", "decimal"),
    Column("d", "double"),
    Column("big", "int"),
    Column("ok", "bool"),
    Column("born", "date"),
    Column("tags", "array"),
    Column("pair", "row"),
)


def _values(draw: Draw, key: int) -> dict[str, Any]:
    return {
        "id": key,
        "k": draw.one(KEYS),
        "n": draw.one([None, -3, 0, 1, 2, 5, 5, 7]),
        "v": draw.one([None, -1.5, 0.0, 1.25, 2.5, 10.0]),
        # Sums of quarters are exact in any order.
        "d": draw.one([None, -0.25, 0.5, 2.0, 3.75]),
        "big": draw.one([None, 1, 2, 3_000_000_000]),
        "ok": draw.one([None, True, False]),
        "born": draw.one([None, "2023-12-31", "2024-01-01", "2024-02-29"]),
        "tags": draw.one(ARRAYS),
        "pair": draw.one([None, {"a": 1, "b": "x"}, {"a": None, "b": "y"}, {"a": 2, "b": None}]),
    }


def _time(draw: Draw, declared: list[str], columns: list[Column]) -> str:
    """Declare the event time. Returns the column of the file that it is read or computed from."""
    if draw.clock.zone and draw.chance(0.7):
        declared += ["ms BIGINT", "ts AS TO_TIMESTAMP_LTZ(ms, 3)"]
        columns += [Column("ms", "int"), Column("ts", "instant")]
        return "ms"
    declared.append("ts TIMESTAMP(3)")
    columns.append(Column("ts", "time"))
    return "ts"


def _moment(draw: Draw, column: str, time: int) -> dict[str, Any]:
    clock = draw.clock
    return {column: clock.milliseconds(time) if column == "ms" else clock.local(time)}


def _watermark(draw: Draw) -> str:
    delay = draw.one([0, 0, 2, 5, 30])
    return f"ts - {draw.clock.interval(delay)}" if delay else "ts"
