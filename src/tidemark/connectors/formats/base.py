"""What a format is: how the bytes of files become typed columns and vice versa."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from tidemark.catalog.tables import Changelog, Table
from tidemark.connectors.base import CountSkipped, OptionSpec
from tidemark.functions import spark_text
from tidemark.storage import Access
from tidemark.types import DataType

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

# Columns that every frame of opened files has besides the format's own.
FILE = "_tm_file"
SIZE = "_tm_size"
MODIFIED = "_tm_modified"
ABOUT_FILES = (FILE, SIZE, MODIFIED)


@dataclass(frozen=True, slots=True)
class FormatField:
    """A column that a format reads or writes: its own name, and its name in Spark."""

    name: str
    spark_name: str
    type: DataType

    @property
    def sql(self) -> str:
        return spark_text.name(self.spark_name)


def names_read(fields: Sequence[FormatField], wanted: frozenset[str] | None) -> frozenset[str]:
    """The fields that are converted if a query wants these columns; None are all of them.

    As in Flink, a bad value is an error only if its field is read, and a query that reads none of
    the columns reads the first.
    """
    names = [field.name for field in fields]
    found = frozenset(names if wanted is None else wanted.intersection(names))
    return found or frozenset(names[:1])


class Open(Protocol):
    """Opens a table's files with one of Spark's file sources, as a stream or as a batch.

    The columns are in the schema's order, named `raw_name(0)`, `raw_name(1)`, ..., followed by
    those of `ABOUT_FILES`.
    """

    def __call__(
        self, source: str, schema: StructType, options: Mapping[str, str]
    ) -> DataFrame: ...


@dataclass(frozen=True, slots=True)
class Decode:
    """Files about to be read: the result has the fields by Spark name, then `ABOUT_FILES`.

    For a changelog format, the result also has a column `_tm_kind`, and `metadata_name(key)` for
    each metadata key.
    """

    open: Open
    fields: tuple[FormatField, ...]  # those that are read
    in_file: tuple[FormatField, ...]  # all that records have
    options: Mapping[str, Any]
    access: Access  # how workers reach files that are not local
    count_skipped: CountSkipped

    @property
    def read(self) -> frozenset[str]:
        return frozenset(field.name for field in self.fields)


@dataclass(frozen=True, slots=True)
class Encode:
    """Rows about to be written: the result keeps `keep` and has the rows in one column `value`
    (text formats), or under the fields' own names (columnar formats). The rows of a changelog that
    are not all inserts have a column `_tm_kind`.
    """

    frame: DataFrame
    fields: tuple[FormatField, ...]
    options: Mapping[str, Any]
    keep: tuple[str, ...]


class OpenFile(Protocol):
    """A file that rows are added to."""

    def add(self, rows: pa.Table) -> None: ...

    def finish(self) -> None:
        """Write what comes after all rows."""
        ...


class FileWriter(Protocol):
    """Writes files on the workers, from columns."""

    def encoded(self, rows: pa.Table) -> pa.Table:
        """What is added to files for these rows: a row for each."""
        ...

    def start(self, file: pa.NativeFile) -> OpenFile: ...


Check = Callable[[Table, tuple[FormatField, ...], Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Format:
    name: str
    options: tuple[OptionSpec, ...]
    # Finds what a format cannot represent: a type, two columns, two conflicting options.
    check: Check
    read: Callable[[Decode], DataFrame]
    # None: it can only be read, or only workers write it.
    write: Callable[[Encode], DataFrame] | None = None
    # Writes files like Spark's, of rows with these fields, on the workers; None if it cannot.
    by_arrow: Callable[[tuple[FormatField, ...], Mapping[str, Any]], FileWriter | None] | None = (
        None
    )
    # Whether rows with these fields are never left to Spark to write.
    only_by_arrow: Callable[[tuple[FormatField, ...]], bool] = lambda fields: False
    # Finds options of a table that is written with which it could only be read.
    check_sink: Callable[[Table, Mapping[str, Any]], None] = lambda table, options: None
    spark_source: str = "text"  # the file source that writes what `write` returns
    changelog: Changelog = Changelog.APPEND
    # Whether it is of messages, and files cannot have it.
    only_messages: bool = False
    # The check of messages, if they may have types that files may not have.
    messages_differ: Check | None = None
    # Metadata of records: the keys of metadata columns.
    metadata: Mapping[str, DataType] = field(default_factory=dict)

    @property
    def check_messages(self) -> Check:
        return self.messages_differ or self.check


def raw_name(position: int) -> str:
    return f"_tm_raw_{position}"


def metadata_name(key: str) -> str:
    return "_tm_" + key.replace(".", "_").replace("-", "_")
