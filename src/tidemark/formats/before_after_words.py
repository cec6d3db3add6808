"""Events with the rows `before` and `after` a change: how Debezium's and Ogg's differ, and what is
said about those that have no rows.
"""

from __future__ import annotations

from dataclasses import dataclass

BEFORE_IS_NEEDED = "the row before the change is needed to retract it"
AFTER_IS_NEEDED = "the row after the change is needed"
REPLICA_IDENTITY = "with PostgreSQL as the source, set the table's REPLICA IDENTITY to FULL"


@dataclass(frozen=True, slots=True)
class BeforeAfterEvents:
    """One kind of events: its format, its name, and the field that says what was done, and how."""

    format: str
    name: str
    field: str
    inserts: tuple[str, ...]
    update: str
    delete: str
    known: str
    before_hint: str  # how to have events with the row before the change

    def no_before(self, op: str) -> str:
        return f"missing `before` in an event with `{self.field}` = {op}"

    def no_after(self, op: str) -> str:
        return f"missing `after` in an event with `{self.field}` = {op}"

    def unknown(self, op: str) -> str:
        return f"unknown `{self.field}` in {self.name} event: {op}"


# Debezium events may be wrapped.
SCHEMA_INCLUDED = "debezium-json.schema-include"

DEBEZIUM = BeforeAfterEvents(
    "debezium-json",
    "a Debezium",
    "op",
    ("c", "r"),
    "u",
    "d",
    "`op` must be c, r, u or d. If events are wrapped in an envelope with their "
    f"schema, '{SCHEMA_INCLUDED}' = 'true' opens it",
    REPLICA_IDENTITY,
)
OGG = BeforeAfterEvents(
    "ogg-json",
    "an Ogg",
    "op_type",
    ("I",),
    "U",
    "D",
    "`op_type` must be I, U or D",
    "let GoldenGate log all columns of the rows before a change",
)
