"""What sinks of files accept, and what they do between batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tidemark.catalog.tables import Changelog
from tidemark.connectors.base import Target
from tidemark.connectors.filesystem.delivery import commit_due, job_of, may_write
from tidemark.connectors.filesystem.partition_commit import PartitionCommit
from tidemark.connectors.formats.base import Format
from tidemark.connectors.options import option_error
from tidemark.dialect.statements import MetadataColumn
from tidemark.errors import PlanError
from tidemark.storage import Location

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from tidemark.spark.upkeep import Moment, Upkeep


def folder_of(target: Target, format_: Format) -> Location:
    """The folder for the files, if the rows can be written there."""
    _refuse_what_files_cannot_do(target, format_)
    folder = Location.of(target.options["path"], target.access)
    with may_write(folder):
        is_file = folder.is_file
    if is_file:
        raise option_error(
            target.table,
            "path",
            f"{folder} is a file",
            hint="the path of a sink must be a folder",
        )
    return folder


def _refuse_what_files_cannot_do(target: Target, format_: Format) -> None:
    format_.check_sink(target.table, target.options)
    if any(isinstance(c, MetadataColumn) and not c.virtual for c in target.table.columns):
        raise PlanError(
            f"cannot write the metadata columns of `{target.table.name}`",
            source=target.table.source,
            hint="declare them VIRTUAL",
        )
    refuse_changelog(target, format_)


def refuse_changelog(target: Target, format_: Format) -> None:
    """Refuse changes that records of the format cannot have."""
    if target.changelog is Changelog.APPEND:
        return
    if format_.changelog is Changelog.APPEND:
        raise PlanError(
            f"`{target.table.name}` accepts only inserts, but the query produces updates",
            source=target.table.source,
            notes={"changelog": target.changelog.value},
            hint="use a format for changes, such as debezium-json, or the connector 'print'",
        )
    if target.changelog is Changelog.UPSERT:
        raise PlanError(
            f"`{target.table.name}` needs the rows before updates, which the query does not have",
            source=target.table.source,
            notes={"why": "an update is written as a delete of the row before it, and an insert"},
            hint="declare the 'changelog-mode' of the source as 'retract', or use 'print'",
        )


def file_size(options: Mapping[str, Any]) -> int:
    """How many bytes a file is to have at most, more or less."""
    size: int = options["sink.rolling-policy.file-size"]
    return (options["compaction.file-size"] or size) if options["auto-compaction"] else size


def spread(rows: DataFrame, keys: Sequence[str], options: Mapping[str, Any]) -> DataFrame:
    """Rows over as many tasks as there are to be files. `keys` are the columns of partitions."""
    parallelism = options["sink.parallelism"]
    if options["auto-compaction"] or (options["sink.shuffle-by-partition.enable"] and keys):
        width = () if parallelism is None else (parallelism,)
        return rows.repartition(*width, *keys) if keys else rows.coalesce(1)
    return rows if parallelism is None else rows.coalesce(parallelism)


# --- partitions that wait to be committed ------------------------------------------------------


def follows_watermark(options: Mapping[str, Any]) -> bool:
    """Whether partitions are committed by it."""
    commit = PartitionCommit.of(options)
    return commit is not None and commit.by_watermark


def upkeep(target: Target) -> Upkeep | None:
    """Partitions that rows alone do not complete are committed between batches."""
    from tidemark.spark.upkeep import Upkeep

    commit = PartitionCommit.of(target.options)
    if commit is None or commit.at_once or not target.table.partitioned_by:
        return None
    folder = Location.of(target.options["path"], target.access)

    job = job_of(target)

    def run(query: str, moment: Moment) -> None:
        commit_due(folder, job or query, commit, moment)

    every = None if commit.by_watermark else min(max(commit.delay_ms / 10_000, 1.0), 60.0)
    return Upkeep(run, every)
