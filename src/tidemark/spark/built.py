"""What a plan becomes on Spark: a DataFrame, and what is known of it before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tidemark.physical import PhysicalPlan, Readings
from tidemark.spark.builder import Builder
from tidemark.spark.frame import Frame
from tidemark.spark.job_folders import JobFolders
from tidemark.spark.late_outputs import Above
from tidemark.spark.positions import Lagging
from tidemark.spark.source_watermarks import FollowedSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession


@dataclass(frozen=True, slots=True)
class Built:
    """A plan's DataFrame, where the ends of its bounded sources are announced, and what observes
    a batch: its `operators`, and the records that its sources skip. These are known when a consumer
    has said how it takes the rows, because frames are made when something needs them."""

    frame: Frame
    ends: tuple[str, ...]
    # Of these, the ones of sources whose partitions say when they end.
    known_ends: tuple[str, ...]
    # The metrics with the watermarks of sources that no operator follows.
    watermarks: tuple[str, ...]
    operators: Mapping[str, Observation | None]
    skipped: Mapping[str, Observation]
    # Where late rows are read that the plan's last operator hands out.
    above: Above | None = None
    # The sources of a stream whose watermarks operators wait for.
    followed: tuple[FollowedSource, ...] = ()
    # Those that know how much they have left.
    lagging: tuple[Lagging, ...] = ()
    # Whether the ends of all sources emit the last rows in the micro-batch that reads them.
    ends_at_once: bool = False
    # Whether nothing waits for the ends.
    ends_unneeded: bool = False
    # Whether the partitions of each bounded source say when they end.
    ends_by_partitions: bool = False
    # Whether the first micro-batch of a bounded stream reads all rows there are, and whether there
    # may be others when it starts again.
    reads_at_once: bool = False
    grows: bool = False
    # How long the stream may wait until it looks again for what is new, if that is known.
    looks_every_ms: int | None = None
    # Whether Spark sees no rows, but only packed columns.
    in_columns: bool = False
    # Which scans are one source of Spark.
    readings: Readings = ()

    @classmethod
    def of(cls, builder: Builder, physical: PhysicalPlan, seed: str, sink_follows: bool) -> Built:
        """Build what the builder is for; `sink_follows` if the sink waits for the watermark."""
        frame = replace(builder.build(physical.root).alone().checked(), seed=seed)
        if builder.streaming:
            builder.check_readings(physical)
        above = Above.of(builder, physical.root)
        by_partitions = physical.known_by_partitions
        return cls(
            frame,
            tuple(builder.ends.values()),
            tuple(folder for number, folder in builder.ends.items() if by_partitions.get(number)),
            tuple(builder.watermarks or ()),
            builder.operators,
            builder.skipped,
            above,
            tuple(builder.sources),
            tuple(builder.lagging),
            ends_at_once=builder.ends_at_once and above is None and not sink_follows,
            ends_unneeded=bool(physical.operators) and not (physical.waits or sink_follows),
            ends_by_partitions=bool(by_partitions)
            and all(by_partitions.values())
            and not sink_follows,
            reads_at_once=physical.reads_at_once and not sink_follows,
            grows=physical.grows,
            looks_every_ms=physical.looks_every_ms,
            in_columns=physical.in_columns,
            readings=physical.readings,
        )

    @property
    def hears_of_ends(self) -> bool:
        """Whether all operators learn that partitions have ended in the micro-batch that reads to
        their ends."""
        return self.ends_at_once and self.ends_by_partitions

    @property
    def observations(self) -> dict[str, Observation]:
        operators = {name: o for name, o in self.operators.items() if o is not None}
        return operators | dict(self.skipped)


class Constants:
    """Batch frames inside a stream, each delivered one time, by way of a file.

    The files are the job's: a job that resumes finds the ones it has read already.
    """

    def __init__(self, spark: SparkSession, folders: JobFolders) -> None:
        self._spark = spark
        self._folders = folders
        self._count = 0

    def once(self, data: DataFrame) -> DataFrame:
        place = (self._folders.own / f"constants-{self._count}").for_spark
        self._count += 1
        data.write.mode("ignore").parquet(place)
        return self._spark.readStream.schema(data.schema).parquet(place)
