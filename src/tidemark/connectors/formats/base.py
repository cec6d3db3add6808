"""What a format is: how the bytes of files become typed columns and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from tidemark.catalog.tables import Changelog, Table
from tidemark.connectors.base import CountSkipped, OptionSpec
from tidemark.functions import spark_text
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
class Field:
    """A column that a format reads or writes: its own name, and its name in Spark."""

    name: str
    spark_name: str
    type: DataType

    @property
    def sql(self) -> str:
        return spark_text.name(self.spark_name)


class Open(Protocol):
    """Opens a table's files with one of Spark's file sources, as a stream or as a batch.

    The columns come in the schema's order, named `raw_name(0)`, `raw_name(1)`, ..., then those
    of `ABOUT_FILES`.
    """

    def __call__(
        self, source: str, schema: StructType, options: Mapping[str, str]
    ) -> DataFrame: ...


@dataclass(frozen=True, slots=True)
class Decode:
    """Files about to be read: the result has the fields by Spark name, then `ABOUT_FILES`.

    That of a changelog format has a column `_tm_kind` too, and `metadata_name(key)` for each key
    of its metadata.
    """

    open: Open
    fields: tuple[Field, ...]
    options: Mapping[str, Any]
    count_skipped: CountSkipped


@dataclass(frozen=True, slots=True)
class Encode:
    """Rows about to be written: the result keeps `keep` and has the rows in one column `value`
    (a text format), or under the fields' own names (a columnar one)."""

    frame: DataFrame
    fields: tuple[Field, ...]
    options: Mapping[str, Any]
    keep: tuple[str, ...]


class WriteFile(Protocol):
    """Writes tables to an open file until it has `enough` bytes; returns how many rows it took."""

    def __call__(self, file: pa.NativeFile, tables: Iterator[pa.Table], enough: int) -> int: ...


@dataclass(frozen=True, slots=True)
class Format:
    name: str
    options: tuple[OptionSpec, ...]
    # Finds what a format cannot hold: a type, two columns, two options that exclude each other.
    check: Callable[[Table, tuple[Field, ...], Mapping[str, Any]], None]
    read: Callable[[Decode], DataFrame]
    write: Callable[[Encode], DataFrame] | None = None  # None: it can only be read
    # Writes files like Spark's, of rows with these fields, where the rows are; None if it cannot.
    by_arrow: Callable[[tuple[Field, ...], Mapping[str, Any]], WriteFile | None] | None = None
    spark_source: str = "text"  # the file source that writes what `write` returns
    changelog: Changelog = Changelog.APPEND
    # What records say of themselves: the keys of metadata columns.
    metadata: Mapping[str, DataType] = field(default_factory=dict)


def raw_name(position: int) -> str:
    return f"_tm_raw_{position}"


def metadata_name(key: str) -> str:
    return "_tm_" + key.replace(".", "_").replace("-", "_")
