"""From a plan to something that runs: which way, on which frames, into which hands."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tidemark.checkpoints import contract as contracts
from tidemark.checkpoints.contract import SEGMENTS, Contract
from tidemark.checkpoints.copying import start_from
from tidemark.checkpoints.fit import check, check_readings
from tidemark.checkpoints.of_plan import contract_of
from tidemark.checkpoints.relocating import relocate
from tidemark.checkpoints.resuming import resumed
from tidemark.checkpoints.spark_log import clear_torn_start
from tidemark.checkpoints.unclaimed import without_unclaimed
from tidemark.physical import ColumnStage, Compute, Readings, Settings, physical_plan
from tidemark.plan.kept_state import LayoutOptions
from tidemark.plan.nodes import Node, Scan
from tidemark.plan.planner import Plan
from tidemark.spark.builder import Builder, StateSettings
from tidemark.spark.built import Built, Constants
from tidemark.spark.first_start import FirstStart
from tidemark.spark.frame import Frame
from tidemark.spark.handover import Consume, Handover
from tidemark.spark.job_folders import JobFolders
from tidemark.spark.jobs import AtEnd, BatchRun, Diagnose, Run
from tidemark.spark.lowering import lower
from tidemark.spark.partition_watermarks import note_whether_heard
from tidemark.spark.partitions import enough_partitions
from tidemark.spark.phases import TwoPhaseRun, after_first_batch
from tidemark.spark.progress import Reports
from tidemark.spark.size_recorder import SizeRecorder
from tidemark.spark.stateful.end_of_input import announce_end
from tidemark.spark.stream_query import StreamQuery
from tidemark.storage import Location

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


# Into how many groups keys fall by their hash when a stream starts for the first time: two for each
# shuffle partition, within these limits. Spark keeps the number of partitions, so more groups would
# not spread a job further later, and each one costs CPU time in each micro-batch.
FEWEST_KEY_GROUPS, MOST_KEY_GROUPS = 4, 16


@dataclass(frozen=True, slots=True)
class Reader:
    """A root that reads the late rows of another one, and says how its own rows are handed over."""

    root: Node
    consume: Consume


@dataclass(frozen=True, slots=True)
class Launcher:
    """Starts plan roots on one Spark session."""

    spark: SparkSession
    settings: Settings
    read: Callable[[Scan, Builder], DataFrame]
    read_columns: Callable[[ColumnStage, Builder], Frame]
    look_up: Callable[[Compute, Builder], Frame]
    diagnose: Diagnose
    checkpoint: Location | None = None
    savepoint: Location | None = None  # where jobs start from that have no checkpoint yet
    drops_unclaimed: bool = False  # state that the script has no operator for
    interval_ms: int = 0  # the shortest time between two micro-batches
    key_groups: int | None = None  # of jobs that start from the beginning
    always_stream: bool = False  # also what could run as one batch
    sink_follows: bool = False  # whether the sink waits for the watermark
    # Where the jobs do not resume.
    start_of_jobs: FirstStart = field(default_factory=FirstStart)

    @property
    def resumable(self) -> list[Location]:
        """The folders of jobs that may resume."""
        return [folder for folder in (self.checkpoint, self.savepoint) if folder is not None]

    def frame(self, root: Node, streaming: bool) -> Frame:
        """The DataFrame of a plan, not started."""
        # How often a table is read, and when for the last time, only its reader knows.
        # So does where its state is.
        folders = JobFolders(self.spark)
        # Its positions in the sources may have to last longer than this version of Tidemark.
        return self.built(
            root,
            streaming,
            folders,
            by_files=streaming,
            keeps_state=False,
            readings=(),
            retention_clock=True,
        ).frame

    def built(
        self,
        root: Node,
        streaming: bool,
        folders: JobFolders,
        *,
        by_files: bool = True,
        keeps_state: bool = True,
        key_groups: int | None = None,
        readings: Readings | None = None,
        retention_clock: bool = False,
    ) -> Built:
        """With `by_files` workers leave rows for each other in a folder of the job, if they can;
        with `keeps_state` they leave large parts of a stream's state there. `key_groups`,
        `readings` and `retention_clock` are those of the checkpoint, if there is one."""
        self.spark.conf.set("spark.sql.session.timeZone", self.settings.zone)
        follows = streaming and self.sink_follows
        settings = replace(
            self.settings,
            readings=readings if streaming else None,
            retention_clock=retention_clock,
            sink_follows=follows,
        )
        physical = physical_plan(root, settings, streaming=streaming)
        state = StateSettings(
            key_groups or self._key_groups(streaming),
            self.settings.ttl_ms,
            folders.own.for_spark if streaming and physical.keeps_notes else None,
            folders.payloads if by_files and physical.operators else None,
            folders.shared,
            folders.own / SEGMENTS if streaming and keeps_state and folders.shared else None,
        )
        start = folders.first_start(self.start_of_jobs)
        builder = Builder(
            self.spark,
            streaming,
            self.settings.zone,
            self.read,
            self.read_columns,
            self.look_up,
            lower,
            Constants(self.spark, folders).once,
            state,
            start,
            outlasts_tables=not root.edge.bounded
            and not all(physical.known_by_partitions.values()),
            marked=physical.marked,
        )
        if follows and not physical.operators:
            builder = replace(builder, watermarks=[])
        return Built.of(builder, physical, start.seed, self.sink_follows)

    def _key_groups(self, streaming: bool) -> int:
        if self.key_groups is not None:
            return self.key_groups
        partitions = self._shuffle_partitions()
        if streaming:
            return min(max(2 * partitions, FEWEST_KEY_GROUPS), MOST_KEY_GROUPS)
        # A batch keeps nothing, so its groups may suit the machine.
        return 2 * partitions

    def _shuffle_partitions(self) -> int:
        return int(self.spark.conf.get("spark.sql.shuffle.partitions") or 4)

    def contract(self, root: Node, name: str) -> Contract:
        """What a job of this name would promise if it started now from the beginning."""
        return contract_of(
            root,
            name,
            LayoutOptions(self.settings.zone, self.settings.ttl_ms),
            key_groups=self._key_groups(True),
            shuffle_partitions=self._shuffle_partitions(),
            spark=self.spark.version,
        )

    def _agreed(self, folder: Location, root: Node, plan: Plan, name: str) -> tuple[Node, Contract]:
        """What a job that starts now and its checkpoint agree on, before it is known which tables
        are read together; it has none yet if it is to start from a savepoint. Raises JobError if
        they do not agree."""
        then, now = contracts.read(folder), self.contract(root, name)
        if then is None and self.savepoint is not None:
            start_from(self.savepoint, now, folder)
            then = contracts.read(folder)
        if then is not None:
            relocate(folder)
            clear_torn_start(folder)
            root, now = resumed(root, plan, then, lambda root: self.contract(root, name))
            if self.drops_unclaimed:
                then = without_unclaimed(folder, then, now)
            check(folder, then, now)
            now = then.goes_on_as(now)
        return root, now

    def start(
        self,
        root: Node,
        plan: Plan,
        name: str,
        consume: Consume,
        *,
        on_client: bool = True,
        readers: Sequence[Reader] = (),
    ) -> Run:
        """Run one root and hand every batch of its rows over as `consume` says; and to `readers`
        the late rows that its last operator hands out.

        Over Spark Connect a stream's batches are consumed on the server, inside the query's own
        commit, unless they belong to the client.
        """
        try:
            if self.streams(root, plan):
                with enough_partitions(self.spark, root):
                    return self._start_stream(root, plan, name, consume, on_client, readers)
            return self._start_batch(root, consume, readers)
        except Exception as problem:
            raise self.diagnose(problem) from problem

    def streams(self, root: Node, plan: Plan) -> bool:
        """Whether the root runs as a streaming query.

        A bounded plan gives its rows as one batch too, by the same kernels, and starts faster:
        it needs a stream only to resume from a checkpoint.
        """
        if plan.mode == "batch":
            return False
        return not root.edge.bounded or self.checkpoint is not None or self.always_stream

    def _start_batch(self, root: Node, consume: Consume, readers: Sequence[Reader]) -> Run:
        folders = JobFolders(self.spark)
        built = self.built(root, False, folders)
        handover = self._handover(built, consume, readers)
        return BatchRun(
            self.spark,
            handover.data,
            handover.deliver,
            self.diagnose,
            built.observations,
            folders.remove,
        )

    def _start_stream(
        self,
        root: Node,
        plan: Plan,
        name: str,
        consume: Consume,
        on_client: bool,
        readers: Sequence[Reader],
    ) -> Run:
        kept = self.checkpoint and self.checkpoint / contracts.folder_name(name)
        folders = JobFolders(self.spark, kept)
        root, agreed = self._agreed(folders.own, root, plan, name)
        built = self.built(
            root,
            True,
            folders,
            key_groups=agreed.key_groups,
            readings=agreed.readings,
            retention_clock=agreed.retention_clock,
        )
        check_readings(agreed, built.readings)
        contracts.write(folders.own, replace(agreed, readings=built.readings))
        stream = StreamQuery(
            self.spark,
            self.diagnose,
            self.interval_ms,
            name,
            self._handover(built, consume, readers),
            folders.own,
            root.edge.bounded,
            on_client,
            built.watermarks,
            Reports(built.followed, built.lagging),
            looks_every_ms=built.looks_every_ms,
            in_columns=built.in_columns,
        )
        if kept is not None:
            stream.recorder = SizeRecorder(kept, stream.reports)

        def at_end() -> None:
            # The sizes are for readers; a Spark that has gone takes its reports along.
            with contextlib.suppress(Exception):
                stream.record_sizes()
            folders.remove()

        return self._run_stream(stream, built, at_end)

    def _run_stream(self, stream: StreamQuery, built: Built, at_end: AtEnd) -> Run:
        """Start it, and see to the ends of its bounded sources."""

        def announce(ends: Iterable[str]) -> None:
            # An earlier start may have read a marker and not emitted what it lets go.
            news = [announce_end(self.spark, end) for end in ends]
            stream.ends_at_once = built.ends_at_once and all(news)

        heard = stream.bounded and built.hears_of_ends
        for source in built.followed:
            if source.notes is not None:
                note_whether_heard(source.notes, heard)
        if not stream.bounded:
            run = stream.start(at_end)
            if ends := {*built.ends} - {*built.known_ends}:
                after_first_batch(run, lambda: announce(ends))
            return run
        if built.ends_unneeded:
            stream.ends_at_once = True
            return stream.start(at_end)
        at_once = built.reads_at_once and (not built.grows or stream.starts_from_the_beginning())
        if built.ends and not at_once:
            stream.phases = 2
            stream.may_end_early = built.ends_by_partitions
            stream.hears_of_ends = heard
            return TwoPhaseRun(
                stream.start,
                lambda: announce(built.ends),
                at_end,
                may_end_early=stream.may_end_early,
            )
        announce(built.ends)
        return stream.start(at_end)

    def _handover(self, built: Built, consume: Consume, readers: Sequence[Reader]) -> Handover:
        if built.above is None or not readers:
            return consume(built.frame)
        # The readings of a checkpoint are those of the plan whose late rows they get.
        settings = replace(self.settings, readings=())
        stages = [physical_plan(r.root, settings, streaming=True).root for r in readers]
        consumers = [reader.consume for reader in readers]
        return built.above.handover(consume, list(zip(stages, consumers, strict=True)))
