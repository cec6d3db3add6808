"""Files as a sink, written by Spark."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.connectors.base import WriteRequest
from tidemark.connectors.filesystem.delivery import Delivery, job_of
from tidemark.connectors.filesystem.places import (
    TO_MICROSECONDS,
    TO_MILLISECONDS,
    as_hadoop_glob,
    is_hidden,
    partition_folder,
)
from tidemark.connectors.filesystem.sinks import file_size, folder_of, spread
from tidemark.connectors.formats.base import Encode, Format, FormatField
from tidemark.connectors.formats.conversions import to_string
from tidemark.kernels.columns import KIND
from tidemark.storage import Found, Location

if TYPE_CHECKING:
    pass

_LINES = {"lineSep": "\n"}
_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


def write(request: WriteRequest, format_: Format, fields: tuple[FormatField, ...]) -> None:
    """Append the rows, or replace what they overwrite."""
    folder = folder_of(request, format_)
    delivery = Delivery(request, folder, _job_of(request), request.batch_id)
    staging = folder / f".staging-{delivery.name}"
    staging.remove_all()
    delivery.run(staging, _BySpark(request, format_, fields, staging))


def _job_of(request: WriteRequest) -> str | None:
    """The streaming job's identity; Spark stores one in each checkpoint."""
    if request.batch_id is None or request.job is not None:
        return job_of(request)
    from pyspark.errors import PySparkException

    try:
        context = request.frame.sparkSession.sparkContext
    except (PySparkException, AttributeError):  # not available over Spark Connect
        return None
    query: str | None = context.getLocalProperty("sql.streaming.queryId")
    return query


@dataclass(frozen=True, slots=True)
class _BySpark:
    request: WriteRequest
    format: Format
    fields: tuple[FormatField, ...]
    staging: Location

    def __call__(self) -> Iterator[tuple[Location, str]]:
        self._write()
        for found in self.staging.files():
            folder, name = posixpath.split(found.name)
            if not is_hidden(name) and self._has_rows(found):
                for file in self._in_pieces(found):
                    yield file, self._partition(folder)

    def _write(self) -> None:
        from pyspark.sql import functions as f

        partitioned = self.request.table.partitioned_by
        inside = tuple(x for x in self.fields if x.name not in partitioned)
        by_name = {x.name: x for x in self.fields}
        keys = tuple(f"_tm_key_{i}" for i in range(len(partitioned)))
        changes = self.request.changelog is not Changelog.APPEND
        frame = self.request.frame.select(
            *(f.col(x.sql) for x in inside),
            *[f.col(KIND)] * changes,
            *(
                f.expr(_key_string(by_name[name])).alias(key)
                for name, key in zip(partitioned, keys, strict=True)
            ),
        )
        assert self.format.write is not None  # otherwise the planner has rejected the sink
        encoded = self.format.write(Encode(frame, inside, self.request.options, keys))
        encoded = spread(encoded, keys, self.request.options)
        writer = encoded.write.format(self.format.spark_source).options(**self._spark_options())
        (writer.partitionBy(*keys) if keys else writer).save(self.staging.for_spark)

    def _in_pieces(self, found: Found) -> Iterator[Location]:
        """The file, or several with its rows if it is larger than files should be. Spark can only
        limit the rows of a file, and their size is not known until the file is written.
        """
        enough = file_size(self.request.options)
        if found.size <= enough:
            yield self.staging / found.name
            return
        rows = self._rows(found) * enough // found.size
        pieces = self.staging / f"_pieces-{found.name.replace('/', '-')}"
        source, spark = self.format.spark_source, self.request.frame.sparkSession
        reader = spark.read.format(source).options(recursiveFileLookup="true", **_LINES)
        whole = reader.load(as_hadoop_glob((self.staging / found.name).for_spark)).coalesce(1)
        settings = {**self._spark_options(), "maxRecordsPerFile": str(max(rows, 1))}
        whole.write.format(source).options(**settings).save(pieces.for_spark)
        for piece in pieces.files():
            if not is_hidden(piece.name):
                yield pieces / piece.name

    def _spark_options(self) -> dict[str, str]:
        options = self.request.options
        for key in ("parquet.compression", "orc.compress"):
            if options.get(key) is not None:
                return {"compression": options[key].lower()}
        return _LINES

    @property
    def _in_lines(self) -> bool:
        return self.format.name not in ("parquet", "orc")

    def _has_rows(self, found: Found) -> bool:
        return found.size > 0 if self._in_lines else self._rows(found) > 0

    def _rows(self, found: Found) -> int:
        """How many rows a file has; of a file of lines, more or less."""
        from pyarrow import orc, parquet

        if self._in_lines:
            return self._lines(found)
        with (self.staging / found.name).input() as file:
            if self.format.name == "parquet":
                return int(parquet.read_metadata(file).num_rows)
            return int(orc.ORCFile(file).nrows)

    def _lines(self, found: Found) -> int:
        """Guessed from the first of them, of a file with any."""
        with (self.staging / found.name).input() as file:
            start = file.read(1 << 20)
        return max(1, int(start.count(b"\n")) * found.size // len(start))

    def _partition(self, staged: str) -> str:
        """The folder of the rows in one that Spark has named, both below the table's."""
        if not staged:
            return ""
        values = [unquote(part.split("=", 1)[1]) for part in staged.split("/")]
        named = {
            name: None if value == _HIVE_NULL else value
            for name, value in zip(self.request.table.partitioned_by, values, strict=True)
        }
        return partition_folder(named, self.request.options["partition.default-name"])


def _key_string(field: FormatField) -> str:
    text = to_string(field.sql, field.type, iso_times=isinstance(field.type, t.Timestamp))
    if isinstance(field.type, t.Timestamp):
        # As Java writes it: without seconds if they are zero, else with three or six digits.
        length = f"IF(length({text}) > {TO_MILLISECONDS}, {TO_MICROSECONDS}, {TO_MILLISECONDS})"
        whole = f"regexp_replace({text}, ':00$', '')"
        text = f"IF(instr({text}, '.') = 0, {whole}, rpad({text}, {length}, '0'))"
    return f"nullif({text}, '')"
