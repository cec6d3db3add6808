"""What is said about Debezium events that have no rows."""

from __future__ import annotations

NAME = "debezium-json"
SCHEMA_INCLUDED = f"{NAME}.schema-include"

BEFORE_IS_NEEDED = "the row before the change is needed to retract it"
AFTER_IS_NEEDED = "the row after the change is needed"
REPLICA_IDENTITY = "with PostgreSQL as the source, set the table's REPLICA IDENTITY to FULL"
KNOWN = (
    "`op` must be c, r, u or d. If events are wrapped in an envelope with their "
    f"schema, '{SCHEMA_INCLUDED}' = 'true' opens it"
)


def no_before(op: str) -> str:
    return f"missing `before` in an event with `op` = {op}"


def no_after(op: str) -> str:
    return f"missing `after` in an event with `op` = {op}"


def unknown(op: str) -> str:
    return f"unknown `op` in a Debezium event: {op}"
