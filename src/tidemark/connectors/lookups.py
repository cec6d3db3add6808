"""The contract of connectors whose tables are looked up: keys in as columns, rows out as columns.

A connector that can do so has a function `lookup`, which is called on the driver and returns a
`Lookup`. That is sent to workers. Caches, retries, misses and the join itself are not its business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from tidemark.catalog.tables import Table
from tidemark.plan.expressions import Expression
from tidemark.storage import NO_ACCESS, Access
from tidemark.types import DataType

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupRequest:
    """A table that is about to be looked up.

    Its rows have the physical columns and then `metadata`, under the names `columns`. `keys` are
    the positions of those that lookups compare with `=`; there are none if the table is only
    loaded as a whole. Rows that do not meet one of the `conditions`, which refer to columns by
    position, may be left out: they are tested again.
    """

    table: Table
    options: Mapping[str, Any]  # validated values by canonical name
    columns: tuple[str, ...]
    types: tuple[DataType, ...]
    metadata: tuple[str, ...]
    keys: tuple[int, ...]
    conditions: tuple[Expression, ...]
    zone: str
    # The declared names of the columns that the query reads; the others may be NULL. None: all.
    read: frozenset[str] | None = None
    access: Access = NO_ACCESS


class Finder(Protocol):
    """Looks rows up, in one worker process. It may keep a connection."""

    def find(self, keys: pl.DataFrame) -> pl.DataFrame:
        """All rows with these keys, in any order.

        The keys are distinct and have no NULLs; their columns are named and ordered as `keys` of
        the request says. The rows have the `columns` of the request, in Polars' types for theirs
        (`columns.polars_type`). If it raises, it is closed, and another one is asked again, up to
        `lookup.max-retries` times.
        """
        ...

    def close(self) -> None:
        """Gives up connections. No `find` follows."""
        ...


@dataclass(frozen=True, slots=True)
class Lookup:
    """How workers reach the rows of a table: by key, or as a whole, or both. Either is pickled."""

    open: Callable[[], Finder] | None = None  # called once per worker process
    load: Callable[[], Iterator[pl.DataFrame]] | None = None  # all rows, block by block
    modules: tuple[str, ...] = ()  # the user's modules that workers need
