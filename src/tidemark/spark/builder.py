"""What lowering a physical plan needs, such as the session, and what it collects on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidemark.errors import NotSupported
from tidemark.physical.stages import ColumnStage, tables_below
from tidemark.plan.expressions import Expression
from tidemark.plan.nodes import Scan
from tidemark.spark.expressions import PythonFunction, Writer
from tidemark.spark.first_start import FirstStart
from tidemark.spark.frame import Frame
from tidemark.spark.positions import Lagging
from tidemark.spark.skipped import SKIPPED, counting
from tidemark.spark.source_watermarks import FollowedSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession
    from pyspark.sql.types import StructType

    from tidemark.kernels.protocol import Kernel
    from tidemark.physical import Compute, Operator, PhysicalPlan, Stage
    from tidemark.physical.stages import PartitionMarks
    from tidemark.spark.stateful.operator import StatefulInput
    from tidemark.spark.stateful.packed_rows import PackedRows
    from tidemark.spark.stateful.shared_reading import Pieces, SharedReading
    from tidemark.storage import Location


@dataclass(frozen=True, slots=True)
class StateSettings:
    """How the stateful operators of a plan run."""

    buckets: int = 8
    ttl_ms: int = 0
    # Where the ends of bounded sources are announced; a stream needs it.
    folder: str | None = None
    # Where workers exchange rows; None if not all of them see the same folders.
    payloads: str | None = None
    # Whether all workers see `folder`.
    shared: bool = True
    # Where the operators of a stream keep large parts of their state, each in its own folder; in
    # Spark's store if there is no folder that lasts as long as that.
    segments: Location | None = None


@dataclass(frozen=True, slots=True)
class Builder:
    """Builds the DataFrame of a plan, on one Spark session, for a stream or for a batch."""

    spark: SparkSession
    streaming: bool
    zone: str
    read: Callable[[Scan, Builder], DataFrame]
    read_columns: Callable[[ColumnStage, Builder], Frame]
    look_up: Callable[[Compute, Builder], Frame]
    lower: Callable[[Builder, Stage], Frame]
    # Turns a batch frame into a stream that delivers it once; for constants in a stream.
    once: Callable[[DataFrame], DataFrame]
    state: StateSettings
    start: FirstStart = field(default_factory=FirstStart)
    registered: dict[str, PythonFunction] = field(default_factory=dict)
    ends: dict[int, str] = field(default_factory=dict)
    # Whether the query goes on after its first micro-batch, with which tables are announced to have
    # ended.
    outlasts_tables: bool = False
    # Of the sources whose partitions have watermarks of their own.
    marked: tuple[PartitionMarks, ...] = ()
    # Metrics that report the watermarks of sources to a sink if no operator follows them.
    watermarks: list[str] | None = None
    # The sources whose watermarks Spark follows.
    sources: list[FollowedSource] = field(default_factory=list)
    # The sources that know how far a stream is behind.
    lagging: list[Lagging] = field(default_factory=list)
    # The stateful operators by id, with the observation of their metrics in a batch.
    operators: dict[str, Observation | None] = field(default_factory=dict)
    # The operators that hand out late rows or pass them on, with all of their output; and the
    # unions of what they emit. The last one has all late rows of the plan.
    handing_out: list[tuple[Stage, PackedRows | Frame]] = field(default_factory=list)
    # Of each operator, the ends of which it learns in the micro-batch that reads of them.
    heard: list[frozenset[str] | None] = field(default_factory=list)
    # Those of tables that are read once, by number.
    readings: dict[int, SharedReading] = field(default_factory=dict)
    # Observations that count the records that sources skip, in a batch.
    skipped: dict[str, Observation] = field(default_factory=dict)

    def build(self, stage: Stage) -> Frame:
        """The rows of a stage. They may have faults, which the consumer must check."""
        return self.lower(self, stage)

    def write(self, expression: Expression, frame: Frame) -> str:
        """The expression as Spark SQL over `frame`; functions it calls are registered."""
        writer = Writer(frame.columns, self.zone)
        text = writer.write(expression)
        for name, function in writer.python.items():
            if name not in self.registered:
                self.registered[name] = function
                register(self.spark, function)
        return text

    def count_skipped(self, data: DataFrame, condition: str) -> DataFrame:
        """The same rows; those that meet a condition, in Spark SQL, are counted as skipped."""
        observation = None if self.streaming else _observation()
        if observation is not None:
            self.skipped[f"{SKIPPED}{len(self.skipped)}"] = observation
        return counting(data, condition, observation)

    def end_folder(self, number: int) -> str:
        """Where the end of a bounded source will be announced."""
        from tidemark.spark.stateful.end_of_input import end_folder_ready

        if number not in self.ends:
            self.ends[number] = f"{self.state.folder}/end-{number}"
            end_folder_ready(self.spark, self.ends[number])
        return self.ends[number]

    @property
    def ends_at_once(self) -> bool:
        """Whether the micro-batch that reads of all ends emits the last rows: each operator learns
        of the ends below it there, and waits neither for the clock nor for Spark's watermark."""
        heard = [ends for ends in self.heard if ends is not None]
        all_learn = bool(heard) and len(heard) == len(self.heard)
        return all_learn and frozenset().union(*heard) == {*self.ends.values()}

    def reading(self, number: int | None, pieces: Pieces) -> SharedReading | None:
        """What the inputs with the same number share."""
        from tidemark.spark.stateful.shared_reading import SharedReading

        return None if number is None else self.readings.setdefault(number, SharedReading(pieces))

    def check_readings(self, plan: PhysicalPlan) -> None:
        """Check that all inputs of a reading share it: what a stream reads must be as planned."""
        inputs = [self.readings[number].inputs for number in range(len(plan.readings))]
        if inputs != [*map(len, plan.readings)]:
            raise AssertionError(f"inputs that read together: {inputs}, planned: {plan.readings}")

    def followed(self, stage: Stage, marks: PartitionMarks | None = None) -> FollowedSource | None:
        """The source below a stage of a stream, from where on Spark follows its watermark."""
        if not self.streaming:
            return None
        number = stage.reading if isinstance(stage, ColumnStage) else None
        if number is None:
            return self._followed(stage, marks)
        # All who share a reading follow it together.
        reading = self.readings[number]
        reading.followed = reading.followed or self._followed(stage, marks)
        return reading.followed

    def _followed(self, stage: Stage, marks: PartitionMarks | None) -> FollowedSource:
        notes = None if marks is None else self.source_folder(marks.number)
        name = ", ".join(dict.fromkeys(tables_below(stage))) or "constants"
        source = FollowedSource(name, notes, 0 if marks is None else marks.idle_ms)
        self.sources.append(source)
        return source

    def partition_watermarks(self, marks: PartitionMarks) -> DataFrame:
        """The watermark of a source whose partitions have their own, whenever it advances."""
        from tidemark.spark.partition_watermarks import watermarks

        numbers = (each.number for each in self.marked)
        others = [self.source_folder(n) for n in numbers if n != marks.number]
        own = self.source_folder(marks.number)
        return watermarks(self.spark, own, others, marks.idle_ms)

    def source_folder(self, number: int) -> Location:
        """Where a source that keeps account of its stream itself has its notes."""
        from tidemark.spark.file_systems import access_of
        from tidemark.storage import Location

        assert self.state.folder is not None  # that of a stream
        return Location.of(f"{self.state.folder}/source-{number}", access_of(self.spark))

    def current_watermark_folder(self, number: int) -> Location:
        """Where a source that rows ask for their watermark keeps it between micro-batches."""
        from tidemark.spark.file_systems import access_of
        from tidemark.storage import Location

        if not self.state.shared:
            raise NotSupported(
                "CURRENT_WATERMARK in a stream on a cluster without a checkpoint is not supported",
                notes={"why": "workers keep the watermark in its folder between micro-batches"},
                hint="give the job a checkpoint in a folder or bucket that all workers reach",
            )
        return Location.of(f"{self.state.folder}/current-{number}", access_of(self.spark))

    def run_kernel(
        self, operator: Operator, kernel: Kernel, inputs: list[StatefulInput], schema: StructType
    ) -> PackedRows:
        """A kernel as an operator of the plan."""
        from tidemark.spark.stateful.exchange import Exchange
        from tidemark.spark.stateful.operator import StatefulOptions, run_stateful

        def observation() -> Observation:
            # The last one counts: rows that are packed where they are emitted come from elsewhere.
            self.operators[operator.id] = made = _observation()
            return made

        self.operators[operator.id] = None
        payloads, segments = Exchange(self.state.payloads), self.state.segments
        options = StatefulOptions(
            operator.id,
            self.state.buckets,
            operator.tick_ms,
            None if self.streaming else observation,
            payloads,
            operator.follows,
            segments and segments / operator.id,
        )
        packed = run_stateful(self.spark, kernel, inputs, schema, options)
        self.heard.append(None if packed.groups is None else packed.groups.ends)
        if packed.late:
            self.handing_out.append((operator, packed))
        return packed


def _observation() -> Observation:
    from pyspark.sql import Observation

    return Observation()


def register(spark: SparkSession, function: PythonFunction) -> None:
    """Make a Python function callable by name in Spark SQL."""
    from pyspark.sql.functions import arrow_udf, udf

    from tidemark.spark.types import to_spark

    returns = to_spark(function.returns)
    implementation = function.implementation

    def call(*args: Any) -> Any:
        # A plain wrapper: annotations would make Spark guess another kind of function.
        return implementation(*args)

    call.__annotations__ = {}
    made = (arrow_udf if function.vectorized else udf)(call, returns)
    spark.udf.register(function.name, made if function.deterministic else made.asNondeterministic())
