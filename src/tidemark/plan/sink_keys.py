"""Sinks whose primary key is not the key of the query: Flink's SinkUpsertMaterializer."""

from __future__ import annotations

from tidemark.catalog.options import REQUIRE_ON_CONFLICT, UPSERT_MATERIALIZE
from tidemark.catalog.tables import Table
from tidemark.dialect import statements as s
from tidemark.errors import PlanError
from tidemark.plan.context import Context
from tidemark.plan.nodes import Node, SinkUpsertMaterializer
from tidemark.plan.upsert_keys import upsert_keys


def materialized(rows: Node, statement: s.Insert, table: Table, context: Context) -> Node:
    """The rows as the sink should get them: if several of them may have the same primary key, as
    upserts by that.
    """
    if not context.writes:
        return rows
    upserts = context.traits(table, "write").upserts
    if statement.on_conflict is not None:
        _check_clause(statement, table, context, upserts=upserts)
    if table.primary_key is None or not upserts or context.materializing.mode == "none":
        return rows
    keys = tuple(rows.edge.names.index(name) for name in table.primary_key.columns)
    if context.materializing.mode != "force" and not _may_conflict(rows, keys, statement):
        return rows
    if statement.on_conflict is None and context.materializing.requires_clause:
        raise _clause_required(statement, table)
    return SinkUpsertMaterializer(rows, keys, statement.on_conflict or "DEDUPLICATE")


def _may_conflict(rows: Node, keys: tuple[int, ...], statement: s.Insert) -> bool:
    """Whether several rows may have the same key, and it matters which of them comes last."""
    if any(key <= {*keys} for key in upsert_keys(rows)):
        return False
    return rows.edge.changes or statement.on_conflict in ("ERROR", "NOTHING")


def _check_clause(statement: s.Insert, table: Table, context: Context, *, upserts: bool) -> None:
    why, hint = None, None
    if table.primary_key is None:
        why, hint = "it has no primary key", "declare PRIMARY KEY (...) NOT ENFORCED"
    elif not upserts:
        why = "its rows do not replace each other by the primary key"
        hint = "leave the clause out"
    elif context.materializing.mode == "none":
        why = f"'{UPSERT_MATERIALIZE}' is NONE, so rows are passed on as they are"
        hint = f"RESET '{UPSERT_MATERIALIZE}'"
    if why is not None:
        raise PlanError(
            f"ON CONFLICT has no meaning for table `{table.name}`",
            at=statement.target.span,
            notes={"why": why},
            hint=hint,
        )


def _clause_required(statement: s.Insert, table: Table) -> PlanError:
    assert table.primary_key is not None
    key = ", ".join(table.primary_key.columns)
    return PlanError(
        f"rows of the query may have the same primary key of `{table.name}`",
        at=statement.target.span,
        notes={
            "primary key": f"({key})",
            "why": f"the query updates rows by another key, and '{REQUIRE_ON_CONFLICT}' is set",
        },
        hint="add ON CONFLICT DO DEDUPLICATE (the last row counts), DO NOTHING (the first one), or "
        "DO ERROR",
    )
