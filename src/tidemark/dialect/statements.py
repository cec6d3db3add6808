"""The statements of a script as typed values.

Queries and scalar expressions inside are sqlglot trees (see `nodes.py`). Every value that an error
may have to point at has the `Span` of its source.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sqlglot import exp

from tidemark.errors import Source, Span
from tidemark.types import DataType

NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Name:
    """A possibly qualified name: `table`, `database.table` or `catalog.database.table`."""

    parts: tuple[str, ...]
    span: Span = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class Option:
    """One `'key' = 'value'` of a WITH clause, SET or hint."""

    key: str
    value: str
    span: Span = field(default=NOWHERE, compare=False)


# --- columns and constraints -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PhysicalColumn:
    name: str
    type: DataType
    comment: str | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ComputedColumn:
    """`name AS expression`"""

    name: str
    expression: exp.Expression
    comment: str | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class MetadataColumn:
    """`name type METADATA [FROM 'key'] [VIRTUAL]`, or the older `AS SYSTEM_METADATA("key")`."""

    name: str
    type: DataType
    key: str | None = None
    virtual: bool = False
    comment: str | None = None
    span: Span = field(default=NOWHERE, compare=False)


Column = PhysicalColumn | ComputedColumn | MetadataColumn


@dataclass(frozen=True, slots=True)
class Watermark:
    """`WATERMARK FOR column AS expression`; `column` may be a path into a row."""

    column: tuple[str, ...]
    expression: exp.Expression
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class PrimaryKey:
    """Always NOT ENFORCED: the user guarantees that it is unique and not NULL."""

    columns: tuple[str, ...]
    constraint: str | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Distribution:
    """`DISTRIBUTED BY HASH(columns) INTO n BUCKETS`: how a connector divides rows into buckets.

    Each part may be missing; a connector then chooses.
    """

    columns: tuple[str, ...] = ()
    by: Literal["HASH", "RANGE"] | None = None
    buckets: int | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Like:
    """`LIKE table (INCLUDING ALL EXCLUDING OPTIONS ...)`; `choices` are (feature, choice) pairs."""

    table: Name
    choices: tuple[tuple[str, str], ...] = ()


# --- data definition ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CreateTable:
    name: Name
    columns: tuple[Column, ...] = ()
    watermark: Watermark | None = None
    primary_key: PrimaryKey | None = None
    comment: str | None = None
    distribution: Distribution | None = None
    partitioned_by: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    like: Like | None = None
    query: exp.Expression | None = None  # CREATE TABLE ... AS SELECT
    order: tuple[str, ...] = ()  # `CREATE TABLE t (b, a) AS ...`: the query's columns in this order
    temporary: bool = False
    if_not_exists: bool = False
    or_replace: bool = False
    must_exist: bool = False  # `REPLACE TABLE ... AS`
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class CreateView:
    name: Name
    query: exp.Expression
    columns: tuple[str, ...] = ()
    comment: str | None = None
    temporary: bool = False
    if_not_exists: bool = False
    or_replace: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class CreateFunction:
    """`CREATE FUNCTION name AS 'module.function' LANGUAGE PYTHON`. The `jars` of a function in Java
    are not loaded.
    """

    name: Name
    identifier: str
    language: str = "JAVA"
    temporary: bool = False
    system: bool = False
    if_not_exists: bool = False
    jars: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class CreateDatabase:
    name: Name
    comment: str | None = None
    options: tuple[Option, ...] = ()
    if_not_exists: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class CreateCatalog:
    name: Name
    comment: str | None = None
    options: tuple[Option, ...] = ()
    if_not_exists: bool = False
    span: Span = field(default=NOWHERE, compare=False)


ObjectKind = Literal["TABLE", "VIEW", "FUNCTION", "DATABASE", "CATALOG"]


@dataclass(frozen=True, slots=True)
class Drop:
    kind: ObjectKind
    name: Name
    if_exists: bool = False
    temporary: bool = False
    cascade: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class RenameTo:
    name: Name


@dataclass(frozen=True, slots=True)
class SetOptions:
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class ResetOptions:
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddColumn:
    """`after` names the column that precedes the new one; `first` puts it before all others."""

    column: Column
    first: bool = False
    after: Name | None = None


@dataclass(frozen=True, slots=True)
class ModifyColumn:
    column: Column
    first: bool = False
    after: Name | None = None


@dataclass(frozen=True, slots=True)
class RenameColumn:
    old: Name
    new: Name


@dataclass(frozen=True, slots=True)
class DropColumns:
    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class SetWatermark:
    watermark: Watermark | None  # None drops it
    add: bool = False


@dataclass(frozen=True, slots=True)
class SetPrimaryKey:
    primary_key: PrimaryKey | None  # None drops it
    add: bool = False
    constraint: str | None = None  # `DROP CONSTRAINT name`


@dataclass(frozen=True, slots=True)
class SetDistribution:
    distribution: Distribution | None  # None drops it
    add: bool = False


@dataclass(frozen=True, slots=True)
class SetQuery:
    """`ALTER VIEW v AS SELECT ...`"""

    query: exp.Expression


@dataclass(frozen=True, slots=True)
class SetComment:
    """`ALTER CATALOG c COMMENT 'text'`, and the same of tables, views and databases"""

    comment: str


@dataclass(frozen=True, slots=True)
class SetImplementation:
    """`ALTER FUNCTION f AS 'module.function' LANGUAGE PYTHON`"""

    identifier: str
    language: str


@dataclass(frozen=True, slots=True)
class AddPartitions:
    partitions: tuple[tuple[Option, ...], ...]
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropPartitions:
    partitions: tuple[tuple[Option, ...], ...]
    if_exists: bool = False


AlterAction = (
    RenameTo
    | SetOptions
    | ResetOptions
    | AddColumn
    | ModifyColumn
    | RenameColumn
    | DropColumns
    | SetWatermark
    | SetPrimaryKey
    | SetDistribution
    | SetQuery
    | SetComment
    | SetImplementation
    | AddPartitions
    | DropPartitions
)


@dataclass(frozen=True, slots=True)
class Alter:
    kind: ObjectKind
    name: Name
    actions: tuple[AlterAction, ...]
    if_exists: bool = False
    span: Span = field(default=NOWHERE, compare=False)


# --- queries and jobs --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EmitStrategy:
    """When a window emits results other than at its end. `delay` None means WITHOUT DELAY."""

    delay: exp.Expression | None
    when: Literal["BEFORE", "AFTER", "BOTH"] = "BOTH"


@dataclass(frozen=True, slots=True)
class EmitClause:
    strategies: tuple[EmitStrategy, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Query:
    """A SELECT, VALUES, UNION or WITH as a statement."""

    query: exp.Expression
    emit: EmitClause | None = None
    span: Span = field(default=NOWHERE, compare=False)


# What happens to a row whose primary key another row of the query has.
OnConflict = Literal["ERROR", "NOTHING", "DEDUPLICATE"]


@dataclass(frozen=True, slots=True)
class Insert:
    target: Name
    query: exp.Expression
    columns: tuple[str, ...] = ()
    partition: tuple[Option, ...] = ()
    options: tuple[Option, ...] = ()  # from a hint /*+ OPTIONS(...) */ after the name
    overwrite: bool = False
    emit: EmitClause | None = None
    on_conflict: OnConflict | None = None
    span: Span = field(default=NOWHERE, compare=False)
    column_spans: tuple[Span, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class StatementSet:
    inserts: tuple[Insert, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Explain:
    statement: Query | Insert | StatementSet | CreateTable
    details: tuple[str, ...] = ()  # CHANGELOG_MODE, JSON_EXECUTION_PLAN, PLAN_ADVICE, ...
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class CompilePlan:
    """`COMPILE PLAN 'path' [IF NOT EXISTS] FOR ...`, with `execute` COMPILE AND EXECUTE PLAN."""

    path: str
    statement: Insert | StatementSet
    if_not_exists: bool = False
    execute: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ExecutePlan:
    path: str
    span: Span = field(default=NOWHERE, compare=False)


# --- the session -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Set:
    """`SET 'key' = 'value'`; without a key it lists the options."""

    option: Option | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Reset:
    key: str | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Show:
    """`what` are the words after SHOW, such as TABLES, USER FUNCTIONS or CREATE TABLE."""

    what: str
    name: Name | None = None
    like: str | None = None
    negated: bool = False
    any_case: bool = False  # ILIKE
    partition: tuple[Option, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Describe:
    name: Name
    extended: bool = False
    kind: ObjectKind | Literal["JOB"] = "TABLE"  # views too; of a job, the name is its id
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Use:
    kind: Literal["CATALOG", "DATABASE"]
    name: Name
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Modules:
    """`USE MODULES a, b`, `LOAD MODULE a` or `UNLOAD MODULE a`."""

    verb: Literal["USE", "LOAD", "UNLOAD"]
    names: tuple[str, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Jar:
    """`ADD JAR 'path'` or `REMOVE JAR 'path'`, which have no effect: no classes are loaded."""

    verb: Literal["ADD", "REMOVE"]
    path: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Analyze:
    """`ANALYZE TABLE t [PARTITION (...)] COMPUTE STATISTICS [FOR COLUMNS a, b]`"""

    name: Name
    partition: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    all_columns: bool = False
    span: Span = field(default=NOWHERE, compare=False)


Statement = (
    CreateTable
    | CreateView
    | CreateFunction
    | CreateDatabase
    | CreateCatalog
    | Drop
    | Alter
    | Query
    | Insert
    | StatementSet
    | Explain
    | CompilePlan
    | ExecutePlan
    | Set
    | Reset
    | Show
    | Describe
    | Use
    | Modules
    | Jar
    | Analyze
)


@dataclass(frozen=True, slots=True)
class Script:
    source: Source
    statements: tuple[Statement, ...]
