"""Whether the log has all changes of a table, with the rows before them if they are needed."""

from __future__ import annotations

from typing import Final

from tidemark.connectors.postgres_cdc import options as o
from tidemark.connectors.postgres_cdc.captured import Captured, Known
from tidemark.errors import SetupError

# What else can be queried like a table.
_KINDS: Final = {"v": "a view", "m": "a materialized view", "f": "a foreign table"}
_READ_ONCE: Final = f"set '{o.STARTUP}' = 'snapshot', which reads it once"


def check_changes(known: Known, captured: Captured) -> None:
    """That a job can read the table and its changes. Raises SetupError."""
    _check_kind(known, captured)
    check_no_heirs(known, captured)
    _check_identity(known, captured)
    if known.hides_rows:
        raise SetupError(
            f"user {captured.database.user} may not see all rows of {captured}",
            notes={"why": "it has row-level security, but the log has changes of all rows"},
            hint=f"ALTER ROLE {captured.database.user} BYPASSRLS; or use another user",
        )


def _check_kind(known: Known, captured: Captured) -> None:
    kind = _KINDS.get(known.kind)
    if kind is not None:
        raise SetupError(
            f"{captured} is {kind}", notes={"why": "only tables have changes"}, hint=_READ_ONCE
        )
    if not known.logged:
        raise SetupError(
            f"changes of {captured} are not in the log",
            notes={"why": "it is an unlogged or a temporary table"},
            hint=f"ALTER TABLE {known.described.sql} SET LOGGED",
        )


def check_no_heirs(known: Known, captured: Captured) -> None:
    """Rows of tables that inherit from it are read with it, but the log has them as theirs."""
    if known.heirs:
        raise SetupError(
            f"changes of {captured} lack those of tables that inherit from it",
            notes={"tables": known.heirs, "why": "the log has changes by the table of the row"},
            hint=f"read each of them, or a partitioned table; or {_READ_ONCE}",
        )


def _check_identity(known: Known, captured: Captured) -> None:
    if captured.upserts:
        own = {known.described.column(column, str(captured)).name for column in captured.key}
        if not own <= known.identity_key:
            raise SetupError(
                f"deletes in {captured} lack columns of the primary key",
                notes={
                    "primary key": ", ".join(captured.key),
                    "replica identity": ", ".join(sorted(known.identity_key)) or "nothing",
                },
                hint=f"ALTER TABLE {known.described.sql} REPLICA IDENTITY FULL",
            )
    elif known.identity != "f":
        raise no_old_rows(known, captured)
    check_partitions(known, captured)


def check_partitions(known: Known, captured: Captured) -> None:
    """That each has the replica identity of the table, which new ones do not get by themselves. The
    log would have old rows with NULLs that look like whole ones.
    """
    if known.unlike:
        identity = "FULL" if known.identity == "f" else "of the table"
        raise SetupError(
            f"changes in partitions of {captured} lack the rows before them",
            notes={
                "partitions": known.unlike,
                "why": f"their replica identity is not {identity}: each partition has its own",
            },
            hint="ALTER TABLE ... REPLICA IDENTITY FULL for each of them, and for new ones "
            "when they are created",
        )


def no_old_rows(known: Known, captured: Captured) -> SetupError:
    return SetupError(
        f"updates and deletes in {captured} lack the rows before them",
        notes={"why": "its replica identity is not FULL"},
        hint=f"ALTER TABLE {known.described.sql} REPLICA IDENTITY FULL; or set "
        f"'{o.CHANGELOG}' = 'upsert', which needs a primary key",
    )
