"""What a database system is to the connector: one `Dialect` each, whose `Transaction`s do the
work.

How tables are described, which SQL reads and writes values of which types, how rows wait until all
have come, and how they are brought into the table is the dialect's business. Ranges, lookups,
tasks, retries and options are not.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tidemark.connectors.jdbc.staging import Staging
from tidemark.errors import DataError, JobError, did_you_mean
from tidemark.types import DataType

if TYPE_CHECKING:
    import polars as pl

_Result = TypeVar("_Result")


class NotUnderstood(ValueError):
    """A URL, or a setting in it, that has no meaning here."""


class Transient(JobError):
    """A failure that may not come again."""


# --- tables of the database --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StoredColumn:
    name: str
    # The name of its type in the database's catalog, in PostgreSQL `int4` or `_int4`.
    type: str
    # The same as people write it, with lengths.
    written: str
    # Of a number: its digits and those after the point; None if there is no limit.
    digits: tuple[int, int] | None
    required: bool = False
    # Of a time: digits of seconds.
    precision: int | None = None

    @property
    def length(self) -> int | None:
        """Of a string, as in `varchar(5)`."""
        found = re.search(r"\((\d+)\)", self.written)
        return int(found[1]) if found else None


@dataclass(frozen=True, slots=True)
class Described:
    """A table in the database."""

    schema: str
    name: str
    columns: Mapping[str, StoredColumn]
    # Its name in SQL.
    sql: str
    # Whether the database finds columns whatever the case of their names.
    folds: bool = False

    def column(self, wanted: str, table: str) -> StoredColumn:
        """The column of this name; if there is none, of the name that the database makes of it
        without quotes.
        """
        found = self.columns.get(wanted) or self.columns.get(wanted.lower()) or self._any(wanted)
        if found is None:
            raise DataError(
                f"column `{wanted}` of `{table}` does not exist in the database",
                notes={"table": f"{self.schema}.{self.name}"},
                hint=did_you_mean(wanted, self.columns)
                or f"its columns are {', '.join(self.columns)}",
            )
        return found

    def _any(self, wanted: str) -> StoredColumn | None:
        if not self.folds:
            return None
        found = {column.name.lower(): column for column in self.columns.values()}
        return found.get(wanted.lower())


# --- writing -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TableMerge:
    """What a sink does to a table with these columns, in their order."""

    table: Described
    columns: tuple[StoredColumn, ...]
    staging: Staging
    # Under which name micro-batches are noted that would be added twice if they came again.
    noted_by: str | None = None

    @property
    def keys(self) -> tuple[StoredColumn, ...]:
        return tuple(self.columns[place] for place in self.staging.keys)

    @property
    def others(self) -> tuple[StoredColumn, ...]:
        keys = self.staging.keys
        return tuple(column for n, column in enumerate(self.columns) if n not in keys)


@dataclass(frozen=True, slots=True)
class SentRows:
    """What tasks have sent: their attempts, the number of pieces, and for which micro-batch."""

    attempts: tuple[int, ...]
    pieces: int
    batch_id: int | None


# Which micro-batch each job has added last to the tables of a schema.
BATCHES = "tidemark_batches"


# --- the contract ------------------------------------------------------------------------------


class Transaction(Protocol):
    """A transaction; what is not committed is undone."""

    def described(self, table: str) -> Described:
        """What the database knows of a table, by its name as `table-name` has it."""
        ...

    def frames(self, query: str, types: Mapping[str, DataType]) -> Iterator[pl.DataFrame]:
        """The rows of a query whose columns were `asked` for as these types."""
        ...

    def found(
        self,
        query: str,
        keys: pl.DataFrame,
        columns: Sequence[StoredColumn],
        key_types: Sequence[DataType],
        types: Mapping[str, DataType],
    ) -> Iterator[pl.DataFrame]:
        """The rows of a query over a table `own` that have one of the keys in these columns."""
        ...

    def prepare(self, merge: TableMerge) -> None:
        """Make room for rows on their way, and remove what was left there; committed."""
        ...

    def send(self, merge: TableMerge, rows: pl.DataFrame, attempt: int, number: int) -> None:
        """Send a piece of an attempt's rows: of a key the last one. `commit` follows."""
        ...

    def merge(self, merge: TableMerge, sent: SentRows, *, is_first: bool) -> None:
        """Bring what was sent into the table, all or nothing, and note the micro-batch. If it is
        not the first try, it may have been done, and only the answer was lost; committed.
        """
        ...

    def discard(self, merge: TableMerge) -> None:
        """Remove the room for rows, if it is there; committed."""
        ...

    def commit(self) -> None: ...

    def may_write(self, table: Described, *, by_key: bool) -> str:
        """Which rights to write the user has. Raises SetupError if one is missing."""
        ...


class Dialect(Protocol):
    """A database system. It is sent to workers."""

    @property
    def system(self) -> str:
        """Its name, as in `PostgreSQL`."""
        ...

    @property
    def form(self) -> str:
        """The form of its URLs."""
        ...

    @property
    def instants(self) -> str | None:
        """The type of its columns whose values are instants, if it has one."""
        ...

    def database(self, url: str, login: Mapping[str, str | None], wait_s: int) -> Any:
        """The database of a URL, with what options say about who logs in, which comes first. It is
        sent to workers, and shown without secrets. Raises NotUnderstood.
        """
        ...

    def is_known(self, type_: DataType) -> bool:
        """Whether it has such values."""
        ...

    def type_of(self, column: StoredColumn) -> DataType | None:
        """The type that Flink's catalog gives a column, if there is such a catalog."""
        ...

    def finds_by(self, type_: DataType) -> bool:
        """Whether rows can be looked up by such values."""
        ...

    def quoted(self, name: str) -> str:
        """A name in SQL."""
        ...

    def asked(self, column: StoredColumn, wanted: DataType, table: str) -> str | None:
        """The SQL that reads a column as the type of a table's; None if its values are others."""
        ...

    def number(self, column: StoredColumn) -> str:
        """The SQL of a column by whose ranges a table is read."""
        ...

    def connected(self, database: Any, what: str) -> AbstractContextManager[Transaction]:
        """A transaction. Failures say `what` was to be done."""
        ...


def again(work: Callable[[], _Result], retries: int) -> _Result:
    """The result of work that is tried again if what kept it from being done may be over."""
    for number in range(retries + 1):
        try:
            return work()
        except Transient as problem:
            if number == retries:
                raise JobError(problem.message, notes=problem.notes, hint=problem.hint) from None
            time.sleep(number + 1)
    raise AssertionError(retries)
