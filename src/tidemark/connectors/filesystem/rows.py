"""Files as rows of Spark."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.connectors import records
from tidemark.connectors.base import ReadRequest
from tidemark.connectors.filesystem.file_blocks import UNKNOWN_TO_SPARK, unreadable
from tidemark.connectors.filesystem.places import (
    Place,
    as_glob_of_file,
    as_hadoop_glob,
    escaped,
    existing,
    wanted_files,
)
from tidemark.connectors.filesystem.table_fields import all_fields, fields_in_files, format_of
from tidemark.connectors.formats.base import (
    FILE,
    MODIFIED,
    SIZE,
    Decode,
    FormatField,
    metadata_name,
    names_read,
    raw_name,
)
from tidemark.connectors.formats.conversions import Notation, from_string
from tidemark.errors import DataError
from tidemark.functions import spark_text
from tidemark.functions.spark_text import string
from tidemark.spark.file_systems import access_of
from tidemark.spark.frame import KIND, PLACE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


_METADATA_SQL = {
    "file.path": FILE,
    "file.name": f"substring_index({FILE}, '/', -1)",
    "file.size": SIZE,
    "file.modification-time": MODIFIED,
}

# Each file of a small bounded table is read separately: only then are files read in order of name.
_FILES_IN_ORDER = 100
_SMALL = 4 << 20
# By default, Spark's streams leave out files whose modification time is a week before that of the
# newest one they have seen: copies of old files keep theirs.
_ANY_AGE = {"maxFileAge": "36500d"}
# The size in bytes of even an empty file.
_NEVER_EMPTY = ("parquet",)
# Of these, Spark decompresses files by the endings of their names. What is in one whose ending it
# does not know it would take for records.
_DECOMPRESSED = ("json", "text")
_UNKNOWN = "Spark, which reads the table, does not know its compression"
_KNOWN = "compress files with gzip (.gz), bzip2 or zstd"


def read(request: ReadRequest) -> DataFrame:
    format_ = format_of(request.table, request.options)
    fields = fields_in_files(request.table, request.columns, request.types)
    # Which fields of an update have changed depends on all of them.
    narrows = format_.changelog is Changelog.APPEND
    read = names_read(fields, request.read if narrows else None)
    decode = Decode(
        open=_opener(request),
        fields=tuple(field for field in fields if field.name in read),
        in_file=fields,
        options=request.options,
        access=access_of(request.spark),
        count_skipped=request.count_skipped,
    )
    kinds = () if format_.changelog is Changelog.APPEND else (KIND,)
    places = () if request.table.watermark is None else (f"{FILE} AS {PLACE}",)
    return format_.read(decode).selectExpr(
        *_physical(request, read), *_metadata(request), *kinds, *places
    )


def _physical(request: ReadRequest, read: frozenset[str]) -> list[str]:
    result = []
    for field in all_fields(request.table, request.columns, request.types):
        if field.name in request.table.partitioned_by:
            value = _partition_value(field, request)
        elif field.name in read:
            value = field.sql
        else:
            value = f"CAST(NULL AS {spark_text.spark_type(field.type)})"
        result.append(f"{value} AS {field.sql}")
    return result


def _metadata(request: ReadRequest) -> list[str]:
    names = request.columns[len(request.columns) - len(request.metadata) :]
    return [
        f"{_metadata_value(key)} AS {spark_text.name(name)}"
        for key, name in zip(request.metadata, names, strict=True)
    ]


def _metadata_value(key: str) -> str:
    return _METADATA_SQL.get(key) or spark_text.name(metadata_name(key))


def _partition_value(field: FormatField, request: ReadRequest) -> str:
    pattern = rf".*/{re.escape(escaped(field.name))}=([^/]*)/"
    text = f"nullif(regexp_extract({FILE}, {string(pattern)}, 1), '')"
    default = string(request.options["partition.default-name"])
    plain = f"url_decode(replace(nullif({text}, {default}), '+', '%2B'))"

    if isinstance(field.type, t.Timestamp):
        # As Java writes it, with a T and without seconds if they are zero; or as SQL does.
        spaced = f"replace({plain}, 'T', ' ')"
        plain = f"regexp_replace({spaced}, '^([^:]*:[^:]*)$', '$1:00')"

    def on_invalid(value: str, type_: t.DataType) -> str:
        return records.raising(
            file=FILE,
            value=value,
            problem=string(f"cannot read the partition value `{field.name}` as {type_.text()}"),
            reason=string("the folder name does not match the column type"),
        )

    return from_string(plain, field.type, Notation(loose_dates=True, on_invalid=on_invalid))


# --- opening files -----------------------------------------------------------------------------


def _opener(request: ReadRequest) -> Any:
    place = existing(request.table, request.options)
    if request.streaming:
        return FilesOfStream(request, place)
    return _FilesOfBatch(request, place)


@dataclass(frozen=True, slots=True)
class FilesOfStream:
    """Opens files as a stream: existing and new ones."""

    request: ReadRequest
    place: Place

    def __call__(self, source: str, schema: StructType, options: Mapping[str, str]) -> DataFrame:
        reader = self.request.spark.readStream.schema(schema).options(**options, **_ANY_AGE)
        most = self.request.options["source.max-files-per-batch"]
        if most is not None and not self.request.whole:
            reader = reader.option("maxFilesPerTrigger", most)
        path = self.place.path
        if self.place.local and os.path.isfile(path):
            # Spark watches folders, or what matches a pattern. Of a folder, it would take the
            # partitions of other tables for those of this one.
            path = as_glob_of_file(path)
        elif self.place.local and not self.place.is_glob:
            path = as_hadoop_glob(path)
        reader = reader.option("recursiveFileLookup", "true")
        frame = _with_raw_names(reader.format(source).load(path), schema, source)
        return _matching(frame, self.request)


@dataclass(frozen=True, slots=True)
class _FilesOfBatch:
    """Opens the existing files, in order of name if there are few."""

    request: ReadRequest
    place: Place

    def __call__(self, source: str, schema: StructType, options: Mapping[str, str]) -> DataFrame:
        def load(*paths: str) -> DataFrame:
            reader = self.request.spark.read.schema(schema).options(**options)
            reader = reader.option("recursiveFileLookup", "true")
            return _with_raw_names(reader.format(source).load(list(paths)), schema, source)

        if not self.place.local:
            return _matching(load(self.place.path), self.request)
        files = wanted_files(self.place, self.request.options)
        if not files:
            return self._nothing(schema)
        if source in _NEVER_EMPTY:
            _none_is_empty(files, source)
        if source in _DECOMPRESSED:
            _check_decompresses(files)
        paths = [as_hadoop_glob(file) for file in files]
        if len(paths) > _FILES_IN_ORDER:
            return load(*paths)
        frame = reduce(lambda one, two: one.unionAll(two), [load(path) for path in paths])
        # Rows in one partition have an order for everything that follows.
        return frame.coalesce(1) if sum(map(os.path.getsize, files)) <= _SMALL else frame

    def _nothing(self, schema: StructType) -> DataFrame:
        empty = self.request.spark.createDataFrame([], schema)
        about = [
            f"CAST(NULL AS STRING) AS {FILE}",
            f"CAST(NULL AS BIGINT) AS {SIZE}",
            f"CAST(NULL AS TIMESTAMP) AS {MODIFIED}",
        ]
        renamed = empty.toDF(*(raw_name(i) for i in range(len(schema.fields))))
        return renamed.selectExpr("*", *about)


def _check_decompresses(files: Sequence[str]) -> None:
    for file in files:
        if file.endswith(UNKNOWN_TO_SPARK):
            raise unreadable(file, _UNKNOWN, _KNOWN)


def _none_is_empty(files: Sequence[str], source: str) -> None:
    """Spark skips empty files, even in formats in which they are not valid."""
    for file in files:
        if os.path.getsize(file) == 0:
            raise DataError(
                f"{file}  cannot read the file",
                notes={"why": f"it is empty; even without rows a {source} file has a footer"},
            )


_METADATA = "_tm_metadata"
# Spark escapes paths, but a plus in one is a plus, not a blank.
_PATH = f"regexp_replace(url_decode(replace({_METADATA}.file_path, '+', '%2B')), '^file:/+', '/')"
_ABOUT_FILE = (
    f"{_PATH} AS {FILE}",
    f"{_METADATA}.file_size AS {SIZE}",
    f"{_METADATA}.file_modification_time AS {MODIFIED}",
)
_REFUSED = records.raising(
    file=_PATH,
    problem=string("cannot read the file"),
    reason=string(_UNKNOWN),
    hint=string(_KNOWN),
)
_ENDS = " OR ".join(f"endswith({_METADATA}.file_name, {string(e)})" for e in UNKNOWN_TO_SPARK)
_DECOMPRESSES = f"CASE WHEN {_ENDS} THEN {_REFUSED} ELSE TRUE END"


def _with_raw_names(frame: DataFrame, schema: StructType, source: str) -> DataFrame:
    """The columns renamed by position, because a file may call them anything. Rows of a file that
    Spark cannot decompress are an error.

    It takes few calls of Spark: a dozen for each column took longer than reading a small file.
    """
    columns = [raw_name(i) for i in range(len(schema.fields))]
    described = frame.select("*", frame.metadataColumn("_metadata"))
    renamed = described.toDF(*columns, _METADATA)
    if source in _DECOMPRESSED:
        renamed = renamed.where(_DECOMPRESSES)
    return renamed.selectExpr(f"* EXCEPT ({_METADATA})", *_ABOUT_FILE)


def _matching(frame: DataFrame, request: ReadRequest) -> DataFrame:
    pattern = request.options["source.path.regex-pattern"]
    if pattern is None:
        return frame
    return frame.where(f"{FILE} RLIKE {string(f'^(?:{pattern})$')}")
