"""What a connector is: its options, what it can report before running, how it reads and writes.

A connector module imports pyspark inside the functions that use it, so that `check` and `explain`
can read options and properties without loading Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol

from tidemark.catalog.tables import Changelog, Table, TableTraits, Use
from tidemark.physical.writing import Writes
from tidemark.plan.expressions import Expression
from tidemark.storage import NO_ACCESS, Access, Location
from tidemark.types import DataType, Row

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from tidemark.connectors.lookups import Lookup, LookupRequest
    from tidemark.spark.first_start import FirstStart
    from tidemark.spark.positions import Lagging
    from tidemark.spark.stateful.packed_rows import Take
    from tidemark.spark.upkeep import Upkeep

OptionType = Literal[
    "string", "int", "long", "double", "boolean", "duration", "memory", "enum", "list"
]


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """One option by name. `#` in a name stands for any column: `fields.#.kind`."""

    name: str
    type: OptionType = "string"
    default: Any = None
    required: bool = False
    choices: tuple[str, ...] = ()
    summary: str = ""
    secret: bool | None = None  # whether its value is never shown; None: if its name suggests so
    aliases: tuple[str, ...] = ()  # older spellings


class CountSkipped(Protocol):
    """Counts the rows of a frame that a source skips because they cannot be read."""

    def __call__(self, data: DataFrame, condition: str) -> DataFrame: ...


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """A scan about to run. The connector returns a DataFrame whose columns are, in order, the
    physical columns and then `metadata`, named `columns`; a changelog has a last column
    `_tm_kind` with `+I`, `-U`, `+U` or `-D`. A table with a watermark may also have a column
    `_tm_place`: where its rows are from.
    """

    spark: SparkSession
    table: Table
    options: Mapping[str, Any]  # validated values by canonical name
    columns: tuple[str, ...]  # Spark names
    types: tuple[DataType, ...]
    metadata: tuple[str, ...]  # keys; their columns are the last len(metadata) of `columns`
    streaming: bool  # whether a streaming DataFrame is wanted
    zone: str
    start: FirstStart
    count_skipped: CountSkipped
    # Turns bounded rows into a stream that delivers them once, also to a job that resumes.
    once: Callable[[DataFrame], DataFrame]
    # The columns that the query reads; the others may be NULL. None: all of them.
    read: frozenset[str] | None = None
    # Where a connector that keeps account of a stream itself may keep notes; and the watermarks of
    # its partitions, if something follows them.
    folder: Location | None = None
    marks: WatermarkNotes | None = None
    # Whether the first micro-batch must read all of it: its end is announced after that one, if
    # other tables of the query do not end.
    whole: bool = False
    # As in a ColumnsRequest.
    conditions: tuple[Expression, ...] = ()
    # Where a connector enters that its partitions know how much they have left.
    lagging: list[Lagging] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ColumnsRequest:
    """A bounded scan about to run in this process, without Spark. The connector returns what makes
    Polars frames of its rows, in order, whose columns are like those of a `ReadRequest`; or raises
    NotSupported if only Spark can read the table.

    If they are to be `placed`, rows have a last column, PLACE, with the file that they are from.
    """

    table: Table
    options: Mapping[str, Any]
    columns: tuple[str, ...]
    types: tuple[DataType, ...]
    metadata: tuple[str, ...]
    zone: str
    now: datetime
    placed: bool = False
    # Called after each block with the number of its rows, and of bad records that were left out.
    count: Callable[[int, int], None] | None = None
    # The parts of the table to read; None for all of it.
    parts: Iterable[Part] | None = None
    # What random values of the job derive from.
    seed: str = ""
    # As in a ReadRequest.
    read: frozenset[str] | None = None
    # Columns with rows of which only these fields are read; the others may be NULL.
    rows_read: tuple[tuple[str, Row], ...] = ()
    marks: WatermarkNotes | None = None
    # Called with the name of a partition of such a table, and the watermark of what was read of it.
    mark: Callable[[str, int], None] | None = None
    # How files are reached that are not on this machine.
    access: Access = NO_ACCESS
    # Rows that do not meet one of these may be left out: they are tested again. They refer to
    # physical columns by position.
    conditions: tuple[Expression, ...] = ()
    # How many threads may decode. Workers of Spark have one: there are as many of them as cores.
    threads: int = 1


@dataclass(frozen=True, slots=True)
class WatermarkNotes:
    """The watermark of a table whose partitions have watermarks of their own: an expression over
    the columns of a request, and the folder in which workers leave its values for the driver.

    With `idle_ms`, partitions without rows for so long do not count. The `others` are the folders
    of such tables of the same query.
    """

    expression: Expression
    folder: Location
    idle_ms: int = 0
    others: tuple[Location, ...] = ()
    bounded: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """The lines or row groups of a file that begin in a range of its bytes. Without an end it is
    all of the file from there. Without a file, it is the rows with a range of numbers, which a
    connector makes.
    """

    file: str = ""
    start: int = 0
    end: int | None = None
    made_ms: int = 0  # when the first row is made
    # How a file is reached that is not on this machine, or what is in it if only Spark can open it.
    access: Access = NO_ACCESS
    content: bytes | None = None
    # The file's size and the time of its last change when it was divided.
    version: tuple[int, int] | None = None
    # If other parts have the rest of its row groups: the first of their rows, and that after the
    # last.
    rows: tuple[int, int] | None = None
    topic: str = ""
    partition: int = 0
    # What else its connector has to know about it.
    details: str = ""

    @property
    def is_counted(self) -> bool:
        """Whether Spark counts it as a row of a stream: it counts files, not their parts."""
        return not self.file or self.start == 0


ReadColumns = Callable[[ColumnsRequest], "Callable[[], Iterator[pl.DataFrame]]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where all changes of a job go, and their form."""

    table: Table
    options: Mapping[str, Any]
    columns: tuple[str, ...]
    types: tuple[DataType, ...]
    changelog: Changelog
    overwrite: bool  # INSERT OVERWRITE
    zone: str
    # The job's identity, the same after a restart from its checkpoint: it identifies a repeated
    # batch. Without it, batches are assumed not to be repeated.
    job: str | None = None
    # Differs if the job begins anew in the place of an old checkpoint.
    started: str = ""
    # How file systems are reached.
    access: Access = NO_ACCESS


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRequest(Target):
    """A batch of changes for a sink: called once in batch mode, once per micro-batch in a stream
    (then `batch_id` counts them and a batch may be repeated after a restart).
    """

    frame: DataFrame  # columns named `columns`, and `_tm_kind` if the changelog is not APPEND
    batch_id: int | None


@dataclass(frozen=True, slots=True)
class WorkerSink:
    """Writes changes as Arrow batches in the workers that produce them, if nothing is left to be
    computed; their columns are those of a `WriteRequest`'s frame.

    `write` is called with all batches of a task, possibly again for a task that is retried.
    `commit` is called once per batch, like a connector's `write`, with a function that runs all
    tasks and returns their notes: of each task those of one attempt only.
    """

    write: Take
    commit: Callable[[Callable[[], Sequence[str]], int | None], None]
    # How many tasks are to write; None for as many as there are.
    tasks: int | None = None
    # Whether what tasks have written is invisible until `commit` has their notes.
    stages: bool = False


@dataclass(frozen=True, slots=True)
class OneWriterSink:
    """Encodes changes in the workers that produce them, and has one task write all of a batch: for
    systems in which only what one client writes becomes visible as a whole.

    `encode` makes bytes of the rows, each with how many they are of. `write` gets all bytes, maybe
    again for a task that is retried, and in a stream the query's id, which a new checkpoint
    changes, and the number of the micro-batch.
    """

    encode: Callable[[Iterator[pa.RecordBatch]], Iterator[tuple[int, bytes]]]
    write: Callable[[tuple[str, int] | None, Iterator[bytes]], None]


@dataclass(frozen=True, slots=True)
class TableUse:
    """How a script uses a table."""

    table: Table
    options: Mapping[str, Any]
    reading: ColumnsRequest | None  # what is read; None if nothing is
    writes: bool
    made: bool = False  # whether it is not there before the script, which makes it


@dataclass(frozen=True, slots=True)
class Doubt:
    """What was found works, but is probably not what is wanted."""

    detail: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Probe:
    """`run` returns what was found. It raises TidemarkError if the script would fail; then the
    probes after it are not run."""

    name: str
    run: Callable[[], str | Doubt]


@dataclass(frozen=True, slots=True)
class Connector:
    name: str
    options: tuple[OptionSpec, ...]
    summary: str
    traits: Callable[[Table, Mapping[str, Any]], TableTraits]
    read: Callable[[ReadRequest], DataFrame] | None = None
    write: Callable[[WriteRequest], None] | None = None
    # How several workers can share the work of `read_columns`: the parts of each; None if that is
    # not worth it, or not possible.
    parts: Callable[[ColumnsRequest], Sequence[tuple[Part, ...]] | None] | None = None
    # About how many bytes of memory the rows take, if that can be known without reading them.
    size: Callable[[ColumnsRequest], int | None] | None = None
    # Whether a worker should read each of those parts, or of a stream's if it is one, once for
    # several inputs: decoding it takes longer than all else, and its rows fit into memory.
    reads_once: Callable[[ColumnsRequest, bool], bool] | None = None
    # How workers read a stream with `read_columns`: whether they should, and a streaming frame with
    # a part in each row: some of its fields, by their names.
    can_stream_columns: Callable[[ColumnsRequest], bool] | None = None
    arriving: Callable[[ReadRequest], DataFrame] | None = None
    # Whether workers read it in columns whenever they can, however small it is.
    always_in_columns: bool = False
    # A faster way for some targets, or None.
    worker_sink: Callable[[Target], WorkerSink | OneWriterSink | None] | None = None
    # Who writes rows with these types, if there are several ways, for EXPLAIN.
    writes: Callable[[Table, Mapping[str, Any], tuple[DataType, ...]], Writes] | None = None
    # How it reads without Spark, if it can.
    read_columns: ReadColumns | None = None
    # How rows are looked up by workers, for tables whose traits say that they can be.
    lookup: Callable[[LookupRequest], Lookup] | None = None
    # Whether rows that are read so come from files that errors should name.
    reads_files: bool = False
    # How it writes without Spark if that is not by a worker's sink, or None for some targets.
    local_sink: Callable[[Target], WorkerSink | None] | None = None
    # What it does between the batches of a stream, if anything.
    upkeep: Callable[[Target], Upkeep | None] | None = None
    # Whether that waits for the watermark.
    follows_watermark: Callable[[Mapping[str, Any]], bool] | None = None
    # Whether it writes where the client is (a terminal), not where the data is.
    on_client: bool = False
    # What `tidemark doctor script.sql` asks the system of a table.
    probes: Callable[[TableUse], Iterable[Probe]] | None = None
    # The formats whose options (`json.*`) are accepted too.
    formats: tuple[str, ...] = ()
    # The options with what older ones mean that newer ones say otherwise.
    modern: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    # Finds combinations of valid options that are not valid. Raises OptionError.
    check: Callable[[Table, Mapping[str, Any]], None] | None = None
    # The same of options that only matter to those who read or write, as in Flink: a table may be
    # declared for both, and used for one.
    checks_of_use: Mapping[Use, Callable[[Table, Mapping[str, Any]], None]] = field(
        default_factory=dict
    )
