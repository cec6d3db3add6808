"""What is imported as `pyflink.table`, besides what functions need."""

from tidemark.pyflink_programs.table.compiled_plan import CompiledPlan, PlanReference
from tidemark.pyflink_programs.table.declarations import (
    FormatDescriptor,
    Schema,
    TableDescriptor,
)
from tidemark.pyflink_programs.table.environment import (
    ModuleEntry,
    StreamTableEnvironment,
    TableEnvironment,
)
from tidemark.pyflink_programs.table.results import ResultKind, TableResult
from tidemark.pyflink_programs.table.schemas import TableSchema
from tidemark.pyflink_programs.table.settings import EnvironmentSettings, SqlDialect, TableConfig
from tidemark.pyflink_programs.table.statement_set import StatementSet
from tidemark.pyflink_programs.table.table import Table

__all__ = [
    "CompiledPlan",
    "EnvironmentSettings",
    "ExplainDetail",
    "FormatDescriptor",
    "ModuleEntry",
    "PlanReference",
    "ResultKind",
    "Schema",
    "SqlDialect",
    "StatementSet",
    "StreamTableEnvironment",
    "Table",
    "TableConfig",
    "TableDescriptor",
    "TableEnvironment",
    "TableResult",
    "TableSchema",
]


class ExplainDetail:
    """What an explanation has besides plans, as EXPLAIN calls it."""

    ESTIMATED_COST = "ESTIMATED_COST"
    CHANGELOG_MODE = "CHANGELOG_MODE"
    JSON_EXECUTION_PLAN = "JSON_EXECUTION_PLAN"
    PLAN_ADVICE = "PLAN_ADVICE"
