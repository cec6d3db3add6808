"""The table that a job has begun with, which may have been renamed, dropped or made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.connectors.jdbc.postgres.connections import name, rows
from tidemark.connectors.postgres_cdc.captured import Captured, Known
from tidemark.errors import DataError

if TYPE_CHECKING:
    from adbc_driver_manager.dbapi import Cursor


def known_again(cursor: Cursor, captured: Captured, oid: int) -> Known:
    """What the database knows of it. Raises DataError if the name is that of another table."""
    try:
        known = Known.of(cursor, captured)
    except DataError:
        now = _name_of(cursor, oid)
        if now == str(captured):
            raise
        raise _another(captured, now, "was dropped") from None
    if known.oid != oid:
        made_anew = "was dropped and made anew: its changes are not those of the old one"
        raise _another(captured, _name_of(cursor, oid), made_anew)
    return known


def _name_of(cursor: Cursor, oid: int) -> str | None:
    found = rows(cursor, _NAME.format(oid=oid))
    return str(found[0][0]) if found else None


def _another(captured: Captured, now: str | None, gone: str) -> DataError:
    notes = {"database": str(captured.database)}
    if now is not None:
        hint = "rename it back; or start the job without its checkpoint, with the new name"
        return DataError(f"{captured} was renamed: it is {now} now", notes=notes, hint=hint)
    return DataError(
        f"{captured} {gone}",
        notes=notes,
        hint=f"start the job without its checkpoint, and DROP PUBLICATION "
        f"{name(captured.publication)} before",
    )


_NAME = """
SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = {oid}
"""
