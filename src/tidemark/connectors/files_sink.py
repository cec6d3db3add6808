"""Files as a sink: written beside the data under a hidden name, then moved into place.

A file is seen whole or not at all. A micro-batch that comes again after a restart replaces what
its first attempt left: the files of the last batch of each job are listed in a hidden note.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from tidemark.catalog.tables import Changelog
from tidemark.connectors.base import WriteRequest
from tidemark.connectors.formats.base import Encode, Field, Format
from tidemark.connectors.formats.conversions import to_text
from tidemark.connectors.options import option_error
from tidemark.connectors.places import Place, partition_folder
from tidemark.dialect.statements import MetadataColumn
from tidemark.errors import NotSupported, PlanError

_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


def write(request: WriteRequest, format_: Format, fields: tuple[Field, ...]) -> None:
    """Append the rows, or replace what they overwrite."""
    _refuse_what_files_cannot_do(request)
    place = Place.of(request.options["path"])
    if not place.local:
        raise NotSupported(
            f"cannot write to {place.path}: only local and mounted folders are there yet",
            source=request.table.source,
        )
    if os.path.isfile(place.path):
        raise option_error(
            request.table, "path", f"{place.path} is a file", hint="a sink's path is a folder"
        )
    job = _job_of(request)
    _Delivery(request, format_, fields, place.path, job, _name_of(request, job)).run()


def _refuse_what_files_cannot_do(request: WriteRequest) -> None:
    if any(isinstance(c, MetadataColumn) and not c.virtual for c in request.table.columns):
        raise PlanError(
            f"the metadata columns of `{request.table.name}` cannot be written",
            source=request.table.source,
            hint="declare them VIRTUAL",
        )
    if request.changelog is not Changelog.APPEND:
        raise PlanError(
            f"`{request.table.name}` takes inserts only, and the query updates its results",
            source=request.table.source,
            notes={"changelog": request.changelog.value},
            hint="write windowed or other append-only results to files, or use 'print'",
        )


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


def _name_of(request: WriteRequest, job: str | None) -> str:
    """Names this write: the same for a micro-batch that comes again, else never twice.

    The names of files grow as they are written, because a reader takes them in that order.
    """
    if job is None or request.batch_id is None:
        return f"{time.time_ns():020d}-{uuid.uuid4().hex[:8]}"
    return f"{job}-{request.batch_id:010d}"


@dataclass(frozen=True, slots=True)
class _Delivery:
    request: WriteRequest
    format: Format
    fields: tuple[Field, ...]
    folder: str
    job: str | None  # None: no batch comes again
    name: str

    def run(self) -> None:
        os.makedirs(self.folder, exist_ok=True)
        self._forget_first_attempt()
        staging = os.path.join(self.folder, f".staging-{self.name}")
        shutil.rmtree(staging, ignore_errors=True)
        try:
            self._stage(staging)
            moves = list(self._moves(staging))
            self._note([target for _, target in moves])
            if self.request.overwrite:
                self._clear(moves)
            for origin, target in moves:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                os.replace(origin, target)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
        self._mark_partitions({os.path.dirname(target) for _, target in moves})

    # --- rows to files ---------------------------------------------------------------------

    def _stage(self, staging: str) -> None:
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
        (writer.partitionBy(*keys) if keys else writer).save(f"file://{staging}")

    def _spark_options(self) -> dict[str, str]:
        options = self.request.options
        for key in ("parquet.compression", "orc.compress"):
            if options.get(key) is not None:
                return {"compression": options[key].lower()}
        return {"lineSep": "\n"}

    # --- files into place ------------------------------------------------------------------

    def _moves(self, staging: str) -> Iterator[tuple[str, str]]:
        """The files with rows, and where each belongs."""
        count = 0
        for folder, _, names in sorted(os.walk(staging)):
            for name in sorted(names):
                origin = os.path.join(folder, name)
                if name.startswith(("_", ".")) or not self._has_rows(origin):
                    continue
                target = os.path.join(self._target(staging, folder), self._file_name(count))
                yield origin, target
                count += 1

    def _has_rows(self, file: str) -> bool:
        if self.format.name == "parquet":
            from pyarrow import parquet

            return bool(parquet.read_metadata(file).num_rows)
        if self.format.name == "orc":
            from pyarrow import orc

            return bool(orc.ORCFile(file).nrows)
        return os.path.getsize(file) > 0

    def _target(self, staging: str, folder: str) -> str:
        relative = os.path.relpath(folder, staging)
        if relative == ".":
            return self.folder
        values = [unquote(part.split("=", 1)[1]) for part in relative.split(os.sep)]
        named = {
            name: None if value == _HIVE_NULL else value
            for name, value in zip(self.request.table.partitioned_by, values, strict=True)
        }
        default = self.request.options["partition.default-name"]
        return os.path.join(self.folder, partition_folder(named, default))

    def _file_name(self, number: int) -> str:
        return f"part-{self.name}-{number:05d}"

    # --- batches that come again, and overwriting --------------------------------------------

    def _note_file(self) -> str:
        return os.path.join(self.folder, f".tidemark-{self.job}")

    def _forget_first_attempt(self) -> None:
        if self.job is None or self.request.batch_id is None:
            return
        try:
            with open(self._note_file(), encoding="utf-8") as note:
                last = json.load(note)
        except FileNotFoundError:
            return
        if last["batch"] == self.request.batch_id:
            for name in last["files"]:
                _remove(os.path.join(self.folder, name))

    def _note(self, files: list[str]) -> None:
        if self.job is None or self.request.batch_id is None:
            return
        names = [os.path.relpath(file, self.folder) for file in files]
        fresh = self._note_file() + ".new"
        with open(fresh, "w", encoding="utf-8") as note:
            json.dump({"batch": self.request.batch_id, "files": names}, note)
        os.replace(fresh, self._note_file())

    def _clear(self, moves: list[tuple[str, str]]) -> None:
        """INSERT OVERWRITE replaces the table, or of a partitioned one the partitions it writes."""
        if self.request.table.partitioned_by:
            folders = {os.path.dirname(target) for _, target in moves}
        else:
            folders = {self.folder}
        for folder in folders:
            if os.path.isdir(folder):
                for entry in os.scandir(folder):
                    if entry.is_file() and not entry.name.startswith("."):
                        os.remove(entry.path)

    def _mark_partitions(self, folders: set[str]) -> None:
        if "success-file" in (self.request.options["sink.partition-commit.policy.kind"] or ()):
            name = self.request.options["sink.partition-commit.success-file.name"]
            for folder in folders:
                with open(os.path.join(folder, name), "w", encoding="utf-8"):
                    pass


def _key_text(field: Field) -> str:
    return f"nullif({to_text(field.sql, field.type)}, '')"


def _remove(file: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.remove(file)
