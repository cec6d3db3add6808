"""What the catalog knows of a table, a view or a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from tidemark.dialect.statements import Column, Option, PrimaryKey, Watermark
from tidemark.errors import Source
from tidemark.types import DataType


@dataclass(frozen=True, slots=True)
class Identifier:
    """Where an object lives: catalog, database, name."""

    catalog: str
    database: str
    name: str

    def __str__(self) -> str:
        return f"{self.catalog}.{self.database}.{self.name}"


@dataclass(frozen=True, slots=True)
class Table:
    """A table as declared. `source` is the text its spans point into."""

    identifier: Identifier
    columns: tuple[Column, ...]
    watermark: Watermark | None = None
    primary_key: PrimaryKey | None = None
    options: tuple[Option, ...] = ()
    partitioned_by: tuple[str, ...] = ()
    comment: str | None = None
    temporary: bool = False
    source: Source | None = field(default=None, compare=False)
    # A DataFrame registered by the user; only the Spark layer looks inside.
    dataframe: Any = field(default=None, compare=False)

    @property
    def name(self) -> str:
        return self.identifier.name

    def option(self, key: str) -> str | None:
        """An option's value; option names are compared without regard to case."""
        for option in self.options:
            if option.key.lower() == key:
                return option.value
        return None


@dataclass(frozen=True, slots=True)
class View:
    identifier: Identifier
    query: exp.Expression
    columns: tuple[str, ...] = ()
    comment: str | None = None
    temporary: bool = False
    source: Source | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        return self.identifier.name


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A Python function of the user's. `implementation` is the callable, or `identifier` names
    one as `module.function`; it is imported when first needed. A vectorised one takes and
    returns Arrow arrays."""

    name: str
    parameters: tuple[DataType, ...] | None = None
    returns: DataType | None = None
    identifier: str | None = None
    implementation: Callable[..., Any] | None = field(default=None, compare=False)
    vectorized: bool = False
    deterministic: bool = True
    temporary: bool = False
