"""The SQL of PostgreSQL that makes of staged rows what a table is to be."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.connectors.jdbc.contract import BATCHES, Described, TableMerge
from tidemark.connectors.jdbc.postgres.connections import listed, name, string
from tidemark.connectors.jdbc.postgres.types import staged, stored
from tidemark.connectors.jdbc.staging import ATTEMPT, PIECE
from tidemark.connectors.last_changes import GONE
from tidemark.errors import DataError


def staging_of(merge: TableMerge) -> str:
    return f"{name(merge.table.schema)}.{name(merge.staging.name)}"


def staging_table(merge: TableMerge) -> str:
    """Makes the table in which rows wait."""
    staging = merge.staging
    columns = [
        f"{column} {staged(type_)}"
        for column, type_ in zip(staging.columns, staging.types, strict=True)
    ]
    own = [f"{ATTEMPT} bigint", f"{PIECE} bigint", f"{GONE} boolean"]
    return f"CREATE UNLOGGED TABLE {staging_of(merge)} ({', '.join([*own, *columns])})"


def merging(merge: TableMerge, attempts: Sequence[int], pieces: int) -> str:
    """For the rows that attempts of tasks have sent, in so many pieces."""
    rows = f"SELECT * FROM {staging_of(merge)} WHERE {ATTEMPT} IN ({', '.join(map(str, attempts))})"
    names = listed([column.name for column in merge.columns])
    insert = f"INSERT INTO {merge.table.sql} ({names}) SELECT {', '.join(_values(merge))}"
    if not merge.staging.keys:
        return f"{insert} FROM ({rows}) AS latest"
    return (
        f"WITH latest AS MATERIALIZED ({_latest(merge, rows) if pieces > 1 else rows}), "
        f"deleted AS ({_delete(merge)}) "
        f"{insert} FROM latest WHERE NOT {GONE} {_on_conflict(merge)}"
    )


def _latest(merge: TableMerge, rows: str) -> str:
    """The last row of each key: that of a task, and of several tasks one that stays, because a
    row that has moved between them is gone in one.
    """
    keys = ", ".join(merge.staging.columns[place] for place in merge.staging.keys)
    of_tasks = (
        f"SELECT DISTINCT ON ({ATTEMPT}, {keys}) * FROM ({rows}) AS sent "
        f"ORDER BY {ATTEMPT}, {keys}, {PIECE} DESC"
    )
    return f"SELECT DISTINCT ON ({keys}) * FROM ({of_tasks}) AS of_tasks ORDER BY {keys}, {GONE}"


def _values(merge: TableMerge) -> list[str]:
    """The staged columns as values of the table's."""
    found = []
    each = zip(merge.staging.columns, merge.staging.types, merge.columns, strict=True)
    for sent, type_, column in each:
        value = stored(f"latest.{sent}", type_, column)
        if value is None:
            raise DataError(
                f"column `{column.name}` of {merge.table.name} is {column.written}, in which "
                f"{type_.text()} cannot be written",
                notes={"why": "the time would depend on the zone of the connection"},
                hint=f"declare it as {_other(type_.text())}",
            )
        found.append(value)
    return found


def _other(type_: str) -> str:
    """TIMESTAMP instead of TIMESTAMP_LTZ, and the reverse, also in an array.

    >>> _other("TIMESTAMP_LTZ(3)"), _other("ARRAY<TIMESTAMP(3)>")
    ('TIMESTAMP(3)', 'ARRAY<TIMESTAMP_LTZ(3)>')
    """
    if "_LTZ" in type_:
        return type_.replace("_LTZ", "")
    return type_.replace("TIMESTAMP", "TIMESTAMP_LTZ")


def _delete(merge: TableMerge) -> str:
    values = _values(merge)
    same = " AND ".join(
        f"own.{name(merge.columns[place].name)} = {values[place]}" for place in merge.staging.keys
    )
    return f"DELETE FROM {merge.table.sql} AS own USING latest WHERE latest.{GONE} AND {same}"


def _on_conflict(merge: TableMerge) -> str:
    keys = listed([column.name for column in merge.keys])
    others = [name(column.name) for column in merge.others]
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
