"""What the catalog knows about a table, a view or a function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

from sqlglot import exp

from tidemark.dialect.statements import Column, Distribution, Option, PrimaryKey, Watermark
from tidemark.errors import Source, Span
from tidemark.types import DataType


class Changelog(Enum):
    """Which row kinds a table, or an edge of a plan, carries."""

    APPEND = "append-only"  # +I
    UPSERT = "upsert"  # +I, +U and -D, by key
    RETRACT = "retract"  # +I, -U, +U, -D


@dataclass(frozen=True, slots=True)
class Identifier:
    """Where an object is: catalog, database, name."""

    catalog: str
    database: str
    name: str

    def __str__(self) -> str:
        return f"{self.catalog}.{self.database}.{self.name}"

    @property
    def path(self) -> tuple[str, str]:
        return self.catalog, self.database


Partition = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table as declared. `source` is what its spans point into, `at` where its name stands."""

    identifier: Identifier
    columns: tuple[Column, ...]
    watermark: Watermark | None = None
    primary_key: PrimaryKey | None = None
    options: tuple[Option, ...] = ()
    distribution: Distribution | None = None
    partitioned_by: tuple[str, ...] = ()
    comment: str | None = None
    temporary: bool = False
    # Those of ALTER TABLE ... ADD PARTITION: pairs of columns and values.
    partitions: tuple[Partition, ...] = ()
    source: Source | None = field(default=None, compare=False)
    at: Span | None = field(default=None, compare=False)
    # A DataFrame of Spark or an Arrow table that the user registered; only connectors look inside.
    dataframe: Any = field(default=None, compare=False)
    # A user's function that finds rows by key.
    function: Any = field(default=None, compare=False)

    @property
    def name(self) -> str:
        return self.identifier.name

    def option(self, key: str) -> str | None:
        """An option's value; option names are case-insensitive."""
        for option in self.options:
            if option.key.lower() == key:
                return option.value
        return None


@dataclass(frozen=True, slots=True)
class LookupTraits:
    """How rows of a table are looked up: those with some keys, or in the whole table, which workers
    hold in memory; and what workers keep of them, in words.
    """

    by: Literal["keys", "whole"]
    cache: str


# What a statement does with a table.
Use = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class TableTraits:
    """What the planner needs to know about a table and only its connector can answer."""

    bounded: bool = True
    changelog: Changelog = Changelog.APPEND
    # Metadata keys that the table provides: `METADATA FROM 'key'`.
    metadata: Mapping[str, DataType] = field(default_factory=dict)
    # Whether its rows come in order from a single source, such as a small file.
    ordered: bool = False
    # Whether its rows come from partitions, each with a watermark of its own.
    partitioned: bool = False
    # Whether its connector keeps account of a stream itself, as that of partitions does.
    noted: bool = False
    # Whether a bounded stream of it reads all rows in its first micro-batch.
    at_once: bool = False
    # Whether a job that starts again may find other rows, such as files that came in the meantime.
    grows: bool = False
    # After how much silence a partition holds back no watermark; 0 is never. None: as the session.
    idle_ms: int | None = None
    # How often a stream of it looks for what is new. None: as often as the engine does.
    looks_every_ms: int | None = None
    writable: bool = False
    readable: bool = False
    # Sinks: whether updates and deletes can be written.
    accepts_updates: bool = False
    # Sinks: whether a row replaces the one with the same primary key, so that of several changes of
    # a key only the last one counts. Those of one key then come in one task, in order.
    upserts: bool = False
    # Sinks: whether updates may come without the rows that they replace: by that key, if any.
    updates_alone: bool = False
    # How it is looked up for the rows of a stream, if its connector can do that.
    lookup: LookupTraits | None = None
    # The option that says as of when it is read, for tables that keep versions: a time of clocks.
    time_travel: str | None = None


@dataclass(frozen=True, slots=True)
class View:
    identifier: Identifier
    query: exp.Expression
    columns: tuple[str, ...] = ()
    comment: str | None = None
    temporary: bool = False
    source: Source | None = field(default=None, compare=False)
    # The catalog and database that were current: short names in the query refer to them.
    path: tuple[str, str] | None = None

    @property
    def name(self) -> str:
        return self.identifier.name


Relation = Table | View


@dataclass(frozen=True, slots=True)
class TemporalFunction:
    """A table as a function of time: `LATERAL TABLE(f(o.ts)) AS r`."""

    name: str
    table: str
    time_attribute: str
    primary_key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A user's Python function. `implementation` is the callable; otherwise `identifier` names
    it as `module.function` and it is imported when first needed. A vectorized function takes
    and returns Arrow arrays; an aggregate function returns one value, or is an object that
    accumulates.
    """

    name: str
    parameters: tuple[DataType, ...] | None = None
    returns: DataType | None = None
    identifier: str | None = None
    implementation: Any = field(default=None, compare=False)
    vectorized: bool = False
    deterministic: bool = True
    aggregate: bool = False
    table: bool = False  # returns rows, and `returns` is the type of a row
    temporary: bool = False
    system: bool = False  # temporary, and known everywhere by its unqualified name
