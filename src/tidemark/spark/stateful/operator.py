"""Running a kernel as part of a Spark query, over a stream or over a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from tidemark.errors import PlanError
from tidemark.kernels.columns import HASH
from tidemark.kernels.hashing import can_hash
from tidemark.kernels.protocol import Kernel
from tidemark.runtime.bucket import Bucket, InputShape
from tidemark.runtime.combining import Combine
from tidemark.spark.moments import WATERMARK
from tidemark.spark.stateful.added import Added
from tidemark.spark.stateful.buckets import labels
from tidemark.spark.stateful.deferred import Deferred, Rows, made
from tidemark.spark.stateful.exchange import IN_ROWS, Exchange
from tidemark.spark.stateful.key_groups import KeyGroups
from tidemark.spark.stateful.late_columns import LATE, OUTLET
from tidemark.spark.stateful.packed_rows import PackedRows, arrow_schema
from tidemark.spark.stateful.packing import PACKED_DDL, TICK, Pack, Repack
from tidemark.spark.stateful.reports import Receiver, SourceWatermark, reports, with_watermark_of
from tidemark.spark.stateful.shared_reading import SharedInput, UseOfReading

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession
    from pyspark.sql.types import StructType

    from tidemark.storage import Location


@dataclass(frozen=True, slots=True)
class StatefulInput:
    """One input of a stateful operator.

    The frame has these columns, with Spark-safe names, which differ between inputs except for
    `_tm_kind`, the row kinds. `time_column` is the event time, a TIMESTAMP or TIMESTAMP_NTZ. A
    streaming frame over sources has its watermark declared (`end_of_input.with_watermark`), or
    leaves that to the operator; the output of another stateful operator is `chained`.

    If the `watermark` of all inputs is known, a micro-batch ends at the watermark of its own rows,
    while with Spark's they would wait for the next one. `combine` reduces the rows before the
    exchange.
    """

    frame: Rows
    schema: StructType
    keys: tuple[str, ...]
    time_column: str | None
    watermark: SourceWatermark | None = None
    combine: Combine | None = None
    chained: bool = False
    shows_time: bool = True
    # The same rows as packed columns, if workers make them; the exchange needs no rows.
    packed: PackedRows | None = None
    # Columns of the frame that are not among the packed ones.
    added: tuple[Added, ...] = ()
    # The columns of its late rows, by the number of the outlet where the kernel hands them out.
    late: Mapping[int, StructType] = field(default_factory=dict)
    # The same of late rows that operators below have handed out. They go along with the rows, and
    # the operator passes them on.
    passed: Mapping[int, StructType] = field(default_factory=dict)
    # What the query calls the columns, for messages.
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StatefulOptions:
    """How an operator runs. `buckets` is the number of key groups, which is fixed as long as a
    checkpoint exists; if it is a multiple of Spark's shuffle partitions, each gets an equal share.
    With `ticker_ms`, every key group is called at least that often, for kernels in processing time.
    `observation` makes what collects the metrics of a batch; `payloads` decides how rows are
    exchanged.
    """

    name: str = "operator"
    buckets: int = 8
    ticker_ms: int | None = None
    observation: Callable[[], Observation] | None = None
    payloads: Exchange = IN_ROWS
    # The input whose watermark is that of the operator, if it is not the smallest one of all.
    follows: int | None = None
    # Where a stream keeps large parts of its state; in Spark's store if there is no such folder.
    segments: Location | None = None


def run_stateful(
    spark: SparkSession,
    kernel: Kernel,
    inputs: Sequence[StatefulInput],
    output_schema: StructType,
    options: StatefulOptions,
) -> PackedRows:
    """The operator's output, with the kernel's columns in these types. It is a stream if an input
    is one.
    """
    _check_keys(inputs)
    numbers = labels(options.buckets)
    shapes, columns = tuple(_shape(i) for i in inputs), tuple(output_schema.names)
    own = {n: schema for i in inputs for n, schema in i.late.items()}
    names = {n: tuple(schema.names) for n, schema in own.items()}
    bucket = Bucket(kernel, shapes, columns, options.payloads, names, options.follows)
    packs = [_pack(n, i, bucket, numbers, options.payloads) for n, i in enumerate(inputs)]
    given = list(zip(inputs, packs, strict=True))
    uses, others = _uses(given)

    def all_packed() -> DataFrame:
        packed = _union([*(u.packed for u in uses), *(_packed(i, pack) for i, pack in others)])
        if packed.isStreaming and options.ticker_ms is not None:
            return packed.unionByName(_ticks(spark, options.ticker_ms, numbers))
        return packed

    # The frame of a reading is made when all operators are known that use it, so nothing below
    # another operator may be made earlier, even if that does not use a reading itself.
    packed = Deferred(all_packed)
    in_files = options.payloads.folder is not None
    late = own | {n: schema for i in inputs for n, schema in i.passed.items()}
    ends = None if options.ticker_ms is not None else _ends(inputs, shapes)
    groups = KeyGroups(
        packed, bucket, options.name, options.observation, ends=ends, segments=options.segments
    )
    emitted = Deferred(groups.emitted)
    rows = PackedRows(emitted, output_schema, in_files, late, groups=groups)
    return rows.called(columns)


def _pack(
    number: int,
    input_: StatefulInput,
    bucket: Bucket,
    numbers: tuple[int, ...],
    payloads: Exchange,
) -> Pack:
    watermark = input_.watermark
    beside = watermark is not None and watermark.of_partitions is not None
    return Pack(
        number,
        numbers,
        bucket.shapes[number].schema,
        input_.time_column,
        behind_ms=None if watermark is None or beside else watermark.behind_ms,
        combine=input_.combine,
        watermark_column=watermark.column if watermark else None,
        payloads=payloads,
        passes=bool(input_.passed),
        names=input_.names,
    )


def _packed(input_: StatefulInput, pack: Pack) -> DataFrame:
    watermark = input_.watermark
    packed = _from_columns(input_, pack) or _from_rows(input_, pack)
    if watermark is None or watermark.declared:
        return packed
    return with_watermark_of(packed, watermark, [Receiver(pack.input, pack.labels)])


def _ends(inputs: Sequence[StatefulInput], shapes: Sequence[InputShape]) -> frozenset[str] | None:
    """Where the ends of the sources below are announced, if each input reports them."""
    found = [_ends_below(i, shape.schema) for i, shape in zip(inputs, shapes, strict=True)]
    reported = [ends for ends in found if ends is not None]
    return frozenset().union(*reported) if len(reported) == len(found) else None


def _ends_below(input_: StatefulInput, schema: pa.Schema) -> frozenset[str] | None:
    if input_.chained:
        columns = _columns(input_, schema)
        return None if columns is None or columns.emitter is None else columns.emitter.ends
    known = input_.watermark
    if known is None or known.declared or known.end_folder is None:
        return None
    return frozenset([known.end_folder])


def _from_rows(input_: StatefulInput, pack: Pack) -> DataFrame:
    from pyspark.sql import functions as f

    hashed = made(input_.frame).withColumn(HASH, f.xxhash64(*input_.keys))
    return hashed.mapInArrow(pack, PACKED_DDL)


def _from_columns(input_: StatefulInput, pack: Pack) -> DataFrame | None:
    """The columns of a table or of an operator, packed for this one by the workers that make them;
    None if there are none, or if only Spark can hash the keys.
    """
    if (columns := _columns(input_, pack.schema)) is None:
        return None
    return columns.repacked(Repack(input_.keys, input_.added, pack))


def _uses(
    given: Sequence[tuple[StatefulInput, Pack]],
) -> tuple[list[UseOfReading], list[tuple[StatefulInput, Pack]]]:
    """The uses of tables that are read once, and the other inputs."""
    shared: dict[int, list[tuple[PackedRows, SharedInput]]] = {}
    others = []
    for input_, pack in given:
        columns = _columns(input_, pack.schema)
        if columns is None or columns.reading is None:
            others.append((input_, pack))
        else:
            assert columns.made_once is not None
            read = columns.made_once(arrow_schema(columns.schema))
            repack = Repack(input_.keys, input_.added, pack)
            of_input = SharedInput(read, repack, input_.watermark)
            shared.setdefault(id(columns.reading), []).append((columns, of_input))
    return [*map(_use, shared.values())], others


def _use(inputs: Sequence[tuple[PackedRows, SharedInput]]) -> UseOfReading:
    first, _ = inputs[0]
    assert first.reading is not None
    return first.reading.add(first.data, [of_input for _, of_input in inputs])


def _columns(input_: StatefulInput, schema: pa.Schema) -> PackedRows | None:
    hashed = all(can_hash(schema.field(key).type) for key in input_.keys)
    return input_.packed if hashed else None


def _union(frames: Sequence[DataFrame]) -> DataFrame:
    first, *others = frames
    for other in others:
        first = first.unionByName(other)
    return first


def _ticks(spark: SparkSession, every_ms: int, numbers: tuple[int, ...]) -> DataFrame:
    """An empty row for each key group from time to time."""
    from pyspark.sql import functions as f

    per_second = max(1, 1000 // every_ms)
    source = spark.readStream.format("rate").option("rowsPerSecond", per_second)
    ticks = source.option("numPartitions", 1).load()
    ticks = ticks.where(f.col("value") % max(1, every_ms * per_second // 1000) == 0)
    return reports(ticks, 0, [Receiver(TICK, numbers)])


def _shape(input_: StatefulInput) -> InputShape:
    hidden = {WATERMARK, None if input_.shows_time else input_.time_column, LATE, OUTLET}
    schema = pa.schema(f for f in arrow_schema(input_.schema) if f.name not in hidden)
    combine = input_.combine
    made_new = None if combine is None or combine.filters else combine
    return InputShape.of(schema, input_.chained, made_new)


def _check_keys(inputs: Sequence[StatefulInput]) -> None:
    """Equal keys must have equal hashes, which depend on the type too."""
    types = [[i.schema[key].dataType for key in i.keys] for i in inputs]
    if any(these != types[0] for these in types):
        raise PlanError(
            "the keys of a stateful operator must have the same types on all inputs",
            notes={"inputs": "; ".join(str(these) for these in types)},
            hint="cast them to a common type",
        )
