"""Instants of a database in columns that are declared as TIMESTAMP, as all are for Flink."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

import pytest

import tidemark
from tests.connectors.jdbc_sinks import Database
from tidemark.errors import DataError

ZONE = "Europe/Berlin"
# Clocks in Berlin, and UTC's: in winter, in summer, and the second time in the hour that comes twice.
INSTANTS = {
    "2024-01-15 12:00:00.123": "2024-01-15 11:00:00.123",
    "2024-07-15 12:00:00": "2024-07-15 10:00:00",
    "2024-10-27 02:30:00": "2024-10-27 01:30:00",
}
NEVER_SHOWN = ("2024-03-31 02:30:00", "2024-03-31 01:30:00")


@dataclass(frozen=True)
class Instants:
    """A database, and the type of its columns that have instants."""

    database: Database
    type: str

    def run(self, statement: str, *tables: str) -> list[dict[str, Any]]:
        """What a statement returns, given the declarations of tables."""
        options = {"table.local-time-zone": ZONE, "execution.runtime-mode": "batch"}
        session = tidemark.connect(engine="local", options=options)
        for table in tables:
            session.sql(table)
        result = session.sql(statement)
        return result.wait() or [] if result.kind == "job" else result.rows()

    def declared(self, name: str, key: str = "ts") -> str:
        return (
            f"CREATE TABLE t (id INT, ts TIMESTAMP(3), PRIMARY KEY ({key}) NOT ENFORCED) "
            f"{self.database.options(name)}"
        )

    def stored(self, name: str) -> list[tuple[int, str | None]]:
        """The rows with UTC's times."""
        self.database.run(*self._utc)
        rows = self.database.rows(f"SELECT id, {self._read} FROM {name} ORDER BY id")
        return [(id_, None if at is None else str(at)) for id_, at in rows]

    @property
    def _utc(self) -> tuple[str, ...]:
        return ("SET time_zone = '+00:00'",) if self.type == "timestamp(3)" else ()

    @property
    def _read(self) -> str:
        if self.type == "timestamp(3)":
            return "CAST(ts AS CHAR)"
        return "to_char(ts AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS')"

    def table(self, *clocks: str | None) -> str:
        """A table with UTC's times, numbered."""
        self.database.run(*self._utc)
        zone = "+00" if self.type == "timestamptz" else ""
        rows = [
            f"({number}, {'NULL' if clock is None else repr(clock + zone)})"
            for number, clock in enumerate(clocks)
        ]
        return self.database.table(f"id int, ts {self.type} NULL", *rows)


@pytest.fixture(params=["postgres", "mysql"])
def instants(request: pytest.FixtureRequest) -> Instants:
    type_ = {"postgres": "timestamptz", "mysql": "timestamp(3)"}[request.param]
    return Instants(request.getfixturevalue(request.param), type_)


def padded(clock: str) -> str:
    return clock if "." in clock else f"{clock}.000"


def at(clock: str) -> dt.datetime:
    return dt.datetime.fromisoformat(clock)


def test_clocks_show_instants_in_the_time_zone_of_the_session(instants):
    first_time = "2024-10-27 00:30:00"
    name = instants.table(*INSTANTS.values(), first_time, None)

    rows = instants.run("SELECT ts FROM t", instants.declared(name))

    shown = [*map(at, INSTANTS), at("2024-10-27 02:30:00"), None]
    assert [row["ts"] for row in rows] == shown


def test_clock_times_are_written_as_the_instants_that_are_read_again(instants):
    name = instants.table()
    clocks = [*INSTANTS, NEVER_SHOWN[0]]
    values = ", ".join(f"({n}, TIMESTAMP '{clock}')" for n, clock in enumerate(clocks))

    instants.run(
        f"INSERT INTO t SELECT * FROM (VALUES {values}, (9, CAST(NULL AS TIMESTAMP(3)))) AS v (a, b)",
        instants.declared(name).replace(", PRIMARY KEY (ts) NOT ENFORCED", ""),
    )

    expected = [*map(padded, INSTANTS.values()), padded(NEVER_SHOWN[1])]
    assert instants.stored(name) == [*enumerate(expected), (9, None)]


def test_a_key_of_clock_times_finds_the_rows_of_its_instants(instants):
    name = instants.table(*INSTANTS.values())
    instants.database.run(f"ALTER TABLE {name} ADD UNIQUE (ts)")
    clock = next(iter(INSTANTS))

    instants.run(f"INSERT INTO t VALUES (7, TIMESTAMP '{clock}')", instants.declared(name))

    assert sorted(instants.stored(name)) == sorted(
        [(1, padded("2024-07-15 10:00:00")), (2, padded("2024-10-27 01:30:00")),
         (7, padded(INSTANTS[clock]))]
    )  # fmt: skip


def test_rows_are_looked_up_by_clock_times(instants):
    name = instants.table(*INSTANTS.values())
    values = ", ".join(f"(TIMESTAMP '{clock}')" for clock in [*INSTANTS, "2024-01-15 11:00:00.123"])

    rows = instants.run(
        "SELECT v.b, t.id, t.ts FROM (SELECT b, PROCTIME() AS p "
        f"FROM (VALUES {values}) AS v (b)) AS v "
        "LEFT JOIN t FOR SYSTEM_TIME AS OF v.p AS t ON t.ts = v.b",
        instants.declared(name),
    )

    found = {row["b"]: (row["id"], row["ts"]) for row in rows}
    expected = {at(clock): (n, at(clock)) for n, clock in enumerate(INSTANTS)}
    assert found == {**expected, at("2024-01-15 11:00:00.123"): (None, None)}


def test_instants_are_not_written_as_clock_times_of_an_unknown_zone(instants):
    type_ = "timestamp" if instants.type == "timestamptz" else "datetime"
    name = instants.database.table(f"id int, ts {type_}")
    declared = instants.declared(name, "id").replace("TIMESTAMP(3)", "TIMESTAMP_LTZ(3)")

    with pytest.raises(DataError, match="cannot be written") as caught:
        instants.run("INSERT INTO t VALUES (1, TO_TIMESTAMP_LTZ(0, 3))", declared)
    assert caught.value.hint.startswith("declare it as TIMESTAMP")
    assert "LTZ" not in caught.value.hint


def test_clock_times_in_an_array_are_not_written_as_instants(postgres):
    name = postgres.table("xs timestamptz[]")

    with pytest.raises(DataError, match="cannot be written") as caught:
        Instants(postgres, "timestamptz").run(
            "INSERT INTO t VALUES (ARRAY[TIMESTAMP '2024-01-01 00:00:00'])",
            f"CREATE TABLE t (xs ARRAY<TIMESTAMP(0)>) {postgres.options(name)}",
        )
    assert caught.value.hint == "declare it as ARRAY<TIMESTAMP_LTZ(0)>"
