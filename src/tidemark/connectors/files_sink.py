"""Files as a sink: Spark writes them, or the workers that have the rows as Arrow batches."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from tidemark.catalog.tables import Changelog
from tidemark.connectors.base import Taker, Target, WriteRequest
from tidemark.connectors.files_delivery import Delivery
from tidemark.connectors.formats.base import Encode, Field, Format, WriteFile
from tidemark.connectors.formats.conversions import to_text
from tidemark.connectors.options import option_error
from tidemark.connectors.places import Place, partition_folder
from tidemark.dialect.statements import MetadataColumn
from tidemark.errors import NotSupported, PlanError

if TYPE_CHECKING:
    import pyarrow as pa

_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


def _folder_of(target: Target) -> str:
    """Where the files go, if the rows can be written there."""
    _refuse_what_files_cannot_do(target)
    place = Place.of(target.options["path"])
    if not place.local:
        raise NotSupported(
            f"cannot write to {place.path}: only local and mounted folders are supported yet",
            source=target.table.source,
        )
    if os.path.isfile(place.path):
        raise option_error(
            target.table,
            "path",
            f"{place.path} is a file",
            hint="the path of a sink must be a folder",
        )
    return place.path


def _refuse_what_files_cannot_do(target: Target) -> None:
    if any(isinstance(c, MetadataColumn) and not c.virtual for c in target.table.columns):
        raise PlanError(
            f"cannot write the metadata columns of `{target.table.name}`",
            source=target.table.source,
            hint="declare them VIRTUAL",
        )
    if target.changelog is not Changelog.APPEND:
        raise PlanError(
            f"`{target.table.name}` accepts only inserts, but the query produces updates",
            source=target.table.source,
            notes={"changelog": target.changelog.value},
            hint="write windowed or other append-only results to files, or use 'print'",
        )


# --- by the workers ----------------------------------------------------------------------------


def taker(target: Target, format_: Format, fields: tuple[Field, ...]) -> Taker | None:
    """For rows that go as they are into one folder, in a format that Arrow writes as Spark does."""
    folder = _folder_of(target)
    spread = target.table.partitioned_by or target.options["sink.parallelism"] is not None
    if spread or format_.by_arrow is None:
        return None
    write_file = format_.by_arrow(fields, target.options)
    if write_file is None:
        return None
    staging = os.path.join(folder, f".staging-{target.job or uuid.uuid4().hex}")

    def finish(notes: Callable[[], Sequence[str]], batch_id: int | None) -> None:
        # What an attempt that was interrupted has left.
        shutil.rmtree(staging, ignore_errors=True)
        delivery = Delivery(target, folder, target.job, batch_id)
        delivery.run(staging, lambda: [(os.path.join(staging, n), folder) for n in notes()])

    return Taker(_OneFile(staging, write_file), finish)


@dataclass(frozen=True, slots=True)
class _OneFile:
    """Writes the rows of a task, if there are any, to a file whose name is the note."""

    folder: str
    write: WriteFile

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, str]]:
        filled = (batch for batch in batches if batch.num_rows)
        first = next(filled, None)
        if first is not None:
            os.makedirs(self.folder, exist_ok=True)
            name = uuid.uuid4().hex
            yield self.write(os.path.join(self.folder, name), first, filled), name


# --- by Spark ----------------------------------------------------------------------------------


def write(request: WriteRequest, format_: Format, fields: tuple[Field, ...]) -> None:
    """Append the rows, or replace what they overwrite."""
    folder = _folder_of(request)
    delivery = Delivery(request, folder, _job_of(request), request.batch_id)
    staging = os.path.join(folder, f".staging-{delivery.name}")
    shutil.rmtree(staging, ignore_errors=True)
    delivery.run(staging, _BySpark(request, format_, fields, folder, staging))


def _job_of(request: WriteRequest) -> str | None:
    """The streaming job's name for itself; Spark keeps one in each checkpoint."""
    if request.batch_id is None or request.job is not None:
        return request.job
    from pyspark.errors import PySparkException

    try:
        context = request.frame.sparkSession.sparkContext
    except (PySparkException, AttributeError):  # Spark Connect does not tell
        return None
    query: str | None = context.getLocalProperty("sql.streaming.queryId")
    return query


@dataclass(frozen=True, slots=True)
class _BySpark:
    request: WriteRequest
    format: Format
    fields: tuple[Field, ...]
    folder: str
    staging: str

    def __call__(self) -> Iterator[tuple[str, str]]:
        self._write()
        for folder, _, names in sorted(os.walk(self.staging)):
            for name in sorted(names):
                origin = os.path.join(folder, name)
                if not name.startswith(("_", ".")) and self._has_rows(origin):
                    yield origin, self._target(folder)

    def _write(self) -> None:
        from pyspark.sql import functions as f

        partitioned = self.request.table.partitioned_by
        inside = tuple(x for x in self.fields if x.name not in partitioned)
        by_name = {x.name: x for x in self.fields}
        keys = tuple(f"_tm_key_{i}" for i in range(len(partitioned)))
        frame = self.request.frame.select(
            *(f.col(x.sql) for x in inside),
            *(
                f.expr(_key_text(by_name[name])).alias(key)
                for name, key in zip(partitioned, keys, strict=True)
            ),
        )
        assert self.format.write is not None  # else the planner has refused the sink
        encoded = self.format.write(Encode(frame, inside, self.request.options, keys))
        parallelism = self.request.options["sink.parallelism"]
        if parallelism is not None:
            encoded = encoded.coalesce(parallelism)
        writer = encoded.write.format(self.format.spark_source).options(**self._spark_options())
        (writer.partitionBy(*keys) if keys else writer).save(f"file://{self.staging}")

    def _spark_options(self) -> dict[str, str]:
        options = self.request.options
        for key in ("parquet.compression", "orc.compress"):
            if options.get(key) is not None:
                return {"compression": options[key].lower()}
        return {"lineSep": "\n"}

    def _has_rows(self, file: str) -> bool:
        if self.format.name == "parquet":
            from pyarrow import parquet

            return bool(parquet.read_metadata(file).num_rows)
        if self.format.name == "orc":
            from pyarrow import orc

            return bool(orc.ORCFile(file).nrows)
        return os.path.getsize(file) > 0

    def _target(self, staged: str) -> str:
        relative = os.path.relpath(staged, self.staging)
        if relative == ".":
            return self.folder
        values = [unquote(part.split("=", 1)[1]) for part in relative.split(os.sep)]
        named = {
            name: None if value == _HIVE_NULL else value
            for name, value in zip(self.request.table.partitioned_by, values, strict=True)
        }
        default = self.request.options["partition.default-name"]
        return os.path.join(self.folder, partition_folder(named, default))


def _key_text(field: Field) -> str:
    return f"nullif({to_text(field.sql, field.type)}, '')"
