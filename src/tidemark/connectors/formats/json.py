"""The json format: one object per line; a line with an array of objects becomes one row for each.

Spark reads every leaf as the exact text in the file, which is then converted as in Flink. Strings
and numbers cannot be distinguished any more by then, so a quoted "1.5" is the INT 1 too. Only
workers can tell whether fields are missing, so they read the files if that is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tidemark.catalog.tables import Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.formats.base import (
    ABOUT_FILES,
    Decode,
    Encode,
    Format,
    FormatField,
    raw_name,
)
from tidemark.connectors.formats.json_documents import with_documents, writing_options
from tidemark.connectors.formats.json_values import (
    CORRUPT,
    PARSER,
    Reading,
    check_fields,
    malformed,
    reading_options,
    shape,
    value,
)
from tidemark.connectors.options import option_error

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

IGNORE = "json.ignore-parse-errors"
FAIL_ON_MISSING = "json.fail-on-missing-field"

OPTIONS = (
    *reading_options("json"),
    OptionSpec(FAIL_ON_MISSING, "boolean", False, summary="fail if a field is missing"),
    *writing_options("json"),
    OptionSpec(
        "json.decode.json-parser.enabled", "boolean", True, summary="accepted without effect"
    ),
)

# A name that no document is likely to use for a field.
_ABSENT = "_tm_absent"


def check(table: Table, fields: tuple[FormatField, ...], options: Mapping[str, Any]) -> None:
    if options[IGNORE] and options[FAIL_ON_MISSING]:
        raise option_error(
            table, FAIL_ON_MISSING, f"'{FAIL_ON_MISSING}' and '{IGNORE}' cannot be combined"
        )
    check_fields(table, fields)


# --- reading -----------------------------------------------------------------------------------


def read(decode: Decode) -> DataFrame:
    if decode.options[FAIL_ON_MISSING]:
        from tidemark.connectors.filesystem.decoded_files import decoded

        return decoded(decode, "json", skips=False)
    reading = Reading("json", decode.options)
    frame = _lines(decode, reading)
    columns = [
        f"{value(raw_name(i), field, reading)} AS {field.sql}"
        for i, field in enumerate(decode.fields)
    ]
    return frame.selectExpr(*columns, *ABOUT_FILES)


def _lines(decode: Decode, reading: Reading) -> DataFrame:
    frame = decode.open("json", _schema(decode.fields), PARSER)
    absent, corrupt = (raw_name(len(decode.fields) + i) for i in range(2))
    # Spark refuses to read the corrupt records alone, hence the reference to a field that never
    # exists.
    good = f"{corrupt} IS NULL AND {absent} IS NULL"
    if reading.ignores_errors:
        # An object with a value of the wrong shape is kept: that field is NULL.
        parsed = f"from_json({corrupt}, 'map<string, string>', {_strictly()})"
        usable = f"({good}) OR (is_valid_utf8({corrupt}) AND {parsed} IS NOT NULL)"
        return decode.count_skipped(frame, f"NOT ({usable})").where(usable)
    return frame.where(f"CASE WHEN {good} THEN TRUE ELSE {malformed(corrupt, reading)} END")


def _strictly() -> str:
    pairs = (f"'{k}', '{v}'" for k, v in PARSER.items() if k.startswith(("allow", "max")))
    return f"map({', '.join(pairs)})"


def _schema(fields: tuple[FormatField, ...]) -> StructType:
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType(
        [
            *(StructField(field.name, shape(field.type)) for field in fields),
            StructField(_ABSENT, StringType()),
            StructField(CORRUPT, StringType()),
        ]
    )


def write(encode: Encode) -> DataFrame:
    return with_documents(encode, "json")


JSON = Format("json", OPTIONS, check, read, write)
