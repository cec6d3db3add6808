"""What cannot be declared yet."""

from __future__ import annotations

from typing import Final

from tidemark.unsupported import NEVER, Unsupported

CATALOG_TYPE: Final = "generic_in_memory"  # the only type of catalog that there is

_TABLES = "Tables and functions"

CREATE_AS_SELECT: Final = Unsupported(
    _TABLES,
    "CREATE TABLE ... AS SELECT",
    why="one statement cannot both create a table and start a job",
    hint="use CREATE TABLE with the columns, then INSERT INTO",
)
LANGUAGE: Final = Unsupported(
    _TABLES,
    "LANGUAGE {}",
    hint="use CREATE FUNCTION f AS 'module.function' LANGUAGE PYTHON",
    each={"JAVA": None, "SCALA": None},
    says=NEVER,
)
CATALOG: Final = Unsupported(
    _TABLES,
    "catalog type '{}'",
    hint=f"use 'type' = '{CATALOG_TYPE}'",
    each={"hive": None, "jdbc": None},
    says=NEVER,
)
