"""What cannot be declared yet."""

from __future__ import annotations

from typing import Final

from tidemark.unsupported import NEVER, Unsupported

CATALOG_TYPE: Final = "generic_in_memory"  # the type of those that a session forgets

_TABLES = "Tables and functions"

MODULE: Final = Unsupported(
    "Statements",
    "LOAD MODULE {}",
    why="a module is Java code",
    hint="declare its functions with CREATE FUNCTION ... LANGUAGE PYTHON",
    each={"hive": None},
    title="LOAD MODULE",
    says=NEVER,
)
UNLOAD_CORE: Final = Unsupported(
    "Statements",
    "UNLOAD MODULE core",
    why="queries would have no functions",
    hint="leave it out",
    says=NEVER,
)
LANGUAGE: Final = Unsupported(
    _TABLES,
    "LANGUAGE {}",
    why="JVM classes are not loaded",
    hint="name a Python function for the class: "
    "SET 'tidemark.function.stand-in.com.example.F' = 'module.function'",
    each={"JAVA": None, "SCALA": None},
    says=NEVER,
)
CATALOG: Final = Unsupported(
    _TABLES,
    "catalog type '{}'",
    hint=f"use 'type' = 'iceberg', 'jdbc', or '{CATALOG_TYPE}' for tables that are declared here",
    each={
        "hive": None,
        **dict.fromkeys(
            ("paimon", "hudi", "fluss"),
            "use Iceberg or Delta, or read files with 'connector' = 'filesystem'",
        ),
    },
    says=NEVER,
)
