"""The SQL of MySQL that brings rows into a staging table, and from there into a table.

Statements that make or drop tables commit. So a row in the staging table says that its rows are in
the table: it is written in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tidemark.connectors.jdbc.contract import BATCHES, Described, SentRows, TableMerge
from tidemark.connectors.jdbc.mysql.connections import name, string
from tidemark.connectors.jdbc.mysql.types import literals, sent_as
from tidemark.connectors.jdbc.staging import ATTEMPT, PIECE
from tidemark.connectors.last_changes import GONE
from tidemark.types import BigInt, Boolean

if TYPE_CHECKING:
    import polars as pl

# The attempt of the row that says that all is done.
DONE: Final = -1
# How long a statement is, about; servers take 16 MB or more.
_STATEMENT_BYTES: Final = 2 << 20


def staging_of(merge: TableMerge) -> str:
    return f"{name(merge.table.schema)}.{name(merge.staging.name)}"


def staging_table(merge: TableMerge) -> str:
    """Makes the table in which rows wait. Keys are what they are in the table, so that they are
    compared as there, with its index.
    """
    staging = merge.staging
    typed = ", ".join(
        f"{column} {sent_as(type_)}"
        for place, (column, type_) in enumerate(zip(staging.columns, staging.types, strict=True))
        if place not in staging.keys
    )
    keys = ", ".join(
        f"{name(merge.columns[place].name)} AS {staging.columns[place]}" for place in staging.keys
    )
    own = f"{ATTEMPT} BIGINT, {PIECE} BIGINT, {GONE} BOOLEAN"
    columns = f"{own}, {typed}" if typed else own
    like = f" AS SELECT {keys} FROM {merge.table.sql} WHERE FALSE" if keys else ""
    return f"CREATE TABLE {staging_of(merge)} ({columns}) ENGINE = InnoDB{like}"


def insertions(merge: TableMerge, piece: pl.DataFrame) -> Iterator[str]:
    """Statements that add the rows of a piece to those that wait."""
    import polars as pl

    staging = merge.staging
    own = [literals(pl.col(ATTEMPT), BigInt()), literals(pl.col(PIECE), BigInt())]
    own.append(literals(pl.col(GONE), Boolean()))
    each = zip(staging.columns, staging.types, strict=True)
    values = [literals(pl.col(column), type_) for column, type_ in each]
    columns = ", ".join([ATTEMPT, PIECE, GONE, *staging.columns])
    for rows in tuples(piece, [*own, *values]):
        yield f"INSERT INTO {staging_of(merge)} ({columns}) VALUES {rows}"


def tuples(frame: pl.DataFrame, values: Sequence[pl.Expr]) -> Iterator[str]:
    """Rows of literals in SQL, as many at a time as a statement takes."""
    import polars as pl

    row = pl.lit("(") + pl.concat_str(values, separator=", ") + pl.lit(")")
    rows = frame.select(row.alias("row"))["row"]
    number = (rows.str.len_bytes().cast(pl.Int64).cum_sum() - 1) // _STATEMENT_BYTES
    for (_,), some in rows.to_frame().group_by(number.alias("n"), maintain_order=True):
        yield some["row"].str.join(", ").item()


# --- into the table ----------------------------------------------------------------------------


def merging(merge: TableMerge, sent: SentRows) -> Iterator[str]:
    """Statements that bring the rows that attempts of tasks have sent into the table."""
    staging, table = merge.staging, merge.table.sql
    attempts = ", ".join(map(str, sent.attempts))
    rows = f"SELECT * FROM {staging_of(merge)} WHERE {ATTEMPT} IN ({attempts})"
    names = ", ".join(name(column.name) for column in merge.columns)
    insert = f"INSERT INTO {table} ({names}) SELECT {', '.join(staging.columns)}"
    if not staging.keys:
        yield f"{insert} FROM ({rows}) AS latest"
        return
    latest = staging.latest(rows) if sent.pieces > 1 else rows
    same = " AND ".join(
        f"own.{name(merge.columns[place].name)} = latest.{staging.columns[place]}"
        for place in staging.keys
    )
    yield f"DELETE own FROM {table} AS own JOIN ({latest}) AS latest ON {same} WHERE latest.{GONE}"
    # As Flink does; where all columns are keys, one is set to what it is.
    changed = ", ".join(
        f"{name(column.name)} = VALUES({name(column.name)})"
        for column in merge.others or merge.keys[:1]
    )
    yield f"{insert} FROM ({latest}) AS latest WHERE NOT {GONE} ON DUPLICATE KEY UPDATE {changed}"


def done(merge: TableMerge) -> str:
    # A row without values, though keys are NOT NULL.
    return f"INSERT IGNORE INTO {staging_of(merge)} ({ATTEMPT}) VALUES ({DONE})"


# --- batches that come again -------------------------------------------------------------------


def batches_table(table: Described) -> str:
    """Makes the table of what jobs have added, if there is none."""
    return (
        f"CREATE TABLE IF NOT EXISTS {_batches(table)} ("
        "job VARCHAR(500), added_to VARCHAR(64), batch BIGINT NOT NULL, "
        "PRIMARY KEY (job, added_to)) "
        "ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
    )


def note_batch(table: Described, job: str, batch: int) -> str:
    """Notes a micro-batch. It changes a row if the micro-batch has not been added before."""
    values = f"{string(job)}, {string(table.name)}, {batch}"
    return (
        f"INSERT INTO {_batches(table)} VALUES ({values}) "
        "ON DUPLICATE KEY UPDATE batch = GREATEST(batch, VALUES(batch))"
    )


def _batches(table: Described) -> str:
    return f"{name(table.schema)}.{BATCHES}"
