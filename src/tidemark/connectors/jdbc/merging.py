"""The SQL that makes of staged rows what a table is to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.connectors.jdbc.postgres import Described, StoredColumn, listed, name, string
from tidemark.connectors.jdbc.staging import ATTEMPT, PIECE, Staging
from tidemark.connectors.jdbc.types import stored
from tidemark.connectors.last_changes import GONE
from tidemark.errors import DataError

# Which micro-batch each job has added last to the tables of a schema.
BATCHES = "tidemark_batches"


@dataclass(frozen=True, slots=True)
class TableMerge:
    """Brings the rows of a staging table into a table with these columns, in their order."""

    table: Described
    columns: tuple[StoredColumn, ...]
    staging: Staging

    def sql(self, attempts: Sequence[int], pieces: int) -> str:
        """For the rows that attempts of tasks have sent, in so many pieces."""
        rows = (
            f"SELECT * FROM {self.staging.beside(self.table)} "
            f"WHERE {ATTEMPT} IN ({', '.join(map(str, attempts))})"
        )
        names = listed([column.name for column in self.columns])
        insert = f"INSERT INTO {self.table.sql} ({names}) SELECT {', '.join(self._values)}"
        if not self.staging.keys:
            return f"{insert} FROM ({rows}) AS latest"
        return (
            f"WITH latest AS MATERIALIZED ({self._latest(rows) if pieces > 1 else rows}), "
            f"deleted AS ({self._delete}) "
            f"{insert} FROM latest WHERE NOT {GONE} {self._on_conflict}"
        )

    def _latest(self, rows: str) -> str:
        """The last row of each key: that of a task, and of several tasks one that stays, because a
        row that has moved between them is gone in one.
        """
        keys = ", ".join(self.staging.columns[place] for place in self.staging.keys)
        of_tasks = (
            f"SELECT DISTINCT ON ({ATTEMPT}, {keys}) * FROM ({rows}) AS sent "
            f"ORDER BY {ATTEMPT}, {keys}, {PIECE} DESC"
        )
        return (
            f"SELECT DISTINCT ON ({keys}) * FROM ({of_tasks}) AS of_tasks ORDER BY {keys}, {GONE}"
        )

    @property
    def _values(self) -> list[str]:
        """The staged columns as values of the table's."""
        found = []
        each = zip(self.staging.columns, self.staging.types, self.columns, strict=True)
        for sent, type_, column in each:
            value = stored(f"latest.{sent}", type_, column)
            if value is None:
                raise DataError(
                    f"column `{column.name}` of {self.table.name} is {column.written}, in which "
                    f"{type_.text()} cannot be written",
                    notes={"why": "the time would depend on the zone of the connection"},
                    hint="declare it as TIMESTAMP_LTZ"
                    if column.type == "timestamptz"
                    else "declare it as TIMESTAMP",
                )
            found.append(value)
        return found

    @property
    def _delete(self) -> str:
        values = self._values
        same = " AND ".join(
            f"own.{name(self.columns[place].name)} = {values[place]}" for place in self.staging.keys
        )
        return f"DELETE FROM {self.table.sql} AS own USING latest WHERE latest.{GONE} AND {same}"

    @property
    def _on_conflict(self) -> str:
        keys = listed([self.columns[place].name for place in self.staging.keys])
        others = [
            name(column.name)
            for place, column in enumerate(self.columns)
            if place not in self.staging.keys
        ]
        if not others:
            return f"ON CONFLICT ({keys}) DO NOTHING"
        changed = ", ".join(f"{column} = EXCLUDED.{column}" for column in others)
        return f"ON CONFLICT ({keys}) DO UPDATE SET {changed}"


# --- batches that come again -------------------------------------------------------------------


def batches_table(table: Described) -> str:
    """Makes the table of what jobs have added, if there is none."""
    return (
        f"CREATE TABLE IF NOT EXISTS {_batches(table)} "
        "(job text, added_to text, batch bigint NOT NULL, PRIMARY KEY (job, added_to))"
    )


def note_batch(table: Described, job: str, batch: int) -> str:
    """Notes a micro-batch. It has a row if the micro-batch has not been added before."""
    values = f"{string(job)}, {string(table.name)}, {batch}"
    return (
        f"INSERT INTO {_batches(table)} AS known VALUES ({values}) "
        "ON CONFLICT (job, added_to) DO UPDATE SET batch = EXCLUDED.batch "
        "WHERE known.batch < EXCLUDED.batch RETURNING batch"
    )


def _batches(table: Described) -> str:
    return f"{name(table.schema)}.{BATCHES}"
