"""The json format: one object per line; a line with an array of objects gives one row for each.

Spark reads every leaf as the text that stands in the file, exactly, and that text is then
converted as Flink converts it. Text and number are told apart no more by then, so a quoted
"1.5" is the INT 1 too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.catalog.tables import Table
from tidemark.connectors import records
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.formats.base import (
    ABOUT_FILES,
    FILE,
    Decode,
    Encode,
    Field,
    Format,
    raw_name,
)
from tidemark.connectors.formats.conversions import Spelling, from_text, to_text
from tidemark.connectors.options import option_error
from tidemark.errors import PlanError
from tidemark.functions import spark_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType as SparkType
    from pyspark.sql.types import StructType

IGNORE = "json.ignore-parse-errors"
FAIL_ON_MISSING = "json.fail-on-missing-field"
TIMES = "json.timestamp-format.standard"
PLAIN_DECIMALS = "json.encode.decimal-as-plain-number"
WITHOUT_NULLS = "json.encode.ignore-null-fields"

OPTIONS = (
    OptionSpec(IGNORE, "boolean", False, summary="skip bad records, read bad fields as NULL"),
    OptionSpec(FAIL_ON_MISSING, "boolean", False, summary="a missing field is an error"),
    OptionSpec(TIMES, "enum", "SQL", choices=("SQL", "ISO-8601"), summary="how times are written"),
    # Maps in Spark have no NULL keys: building one with such a key fails before it gets here.
    OptionSpec(
        "json.map-null-key.mode",
        "enum",
        "FAIL",
        choices=("FAIL", "DROP", "LITERAL"),
        summary="accepted; maps have no NULL keys here",
    ),
    OptionSpec("json.map-null-key.literal", "string", "null", summary="accepted"),
    OptionSpec(PLAIN_DECIMALS, "boolean", False, summary="100 instead of 1E+2"),
    OptionSpec(WITHOUT_NULLS, "boolean", False, summary="leave NULL fields out"),
    OptionSpec("json.decode.json-parser.enabled", "boolean", True, summary="changes nothing here"),
)

# Names that no field of a document is likely to have.
_CORRUPT = "_tm_corrupt"
_ABSENT = "_tm_absent"

_SPARK_OPTIONS = {
    "mode": "PERMISSIVE",
    "columnNameOfCorruptRecord": _CORRUPT,
    "allowSingleQuotes": "false",
    "allowNonNumericNumbers": "false",
    "allowUnquotedControlChars": "true",
    "lineSep": "\n",
}


def check(table: Table, fields: tuple[Field, ...], options: Mapping[str, Any]) -> None:
    if options[IGNORE] and options[FAIL_ON_MISSING]:
        raise option_error(
            table, FAIL_ON_MISSING, f"'{FAIL_ON_MISSING}' and '{IGNORE}' exclude each other"
        )
    _check_names(table, [field.name for field in fields], "the table")
    for field in fields:
        _check_type(table, field.name, field.type)


def _check_names(table: Table, names: list[str], owner: str) -> None:
    """Spark's JSON source takes names for equal that differ only by case."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise PlanError(
                f"columns `{other}` and `{name}` of {owner} differ only by case",
                source=table.source,
                notes={
                    "table": table.name,
                    "reason": "Spark's JSON reader does not tell them apart",
                },
                hint="read the lines with 'format' = 'raw' and take them apart with JSON_VALUE",
            )


def _check_type(table: Table, column: str, type_: t.DataType) -> None:
    match type_:
        case t.Map(key=key, value=value):
            if not isinstance(key, t.CHARACTERS):
                raise _unfit(table, column, type_, "a JSON object has only strings as keys")
            _check_type(table, column, value)
        case t.Multiset(element=element):
            if not isinstance(element, t.CHARACTERS):
                raise _unfit(table, column, type_, "a JSON object has only strings as keys")
        case t.Array(element=element):
            _check_type(table, column, element)
        case t.Row(fields=fields):
            _check_names(table, [field.name for field in fields], f"`{column}`")
            for field in fields:
                _check_type(table, column, field.type)
        case t.DayTimeInterval() | t.YearMonthInterval():
            raise _unfit(table, column, type_, "Flink has no JSON form of it")


def _unfit(table: Table, column: str, type_: t.DataType, reason: str) -> PlanError:
    return PlanError(
        f"column `{column}` cannot be stored as JSON: it is {type_.text()}",
        source=table.source,
        notes={"table": table.name, "reason": reason},
    )


# --- reading -----------------------------------------------------------------------------------


def read(decode: Decode) -> DataFrame:
    frame = _documents(decode) if decode.options[FAIL_ON_MISSING] else _lines(decode)
    columns = [
        f"{_value(raw_name(i), field, decode)} AS {field.sql}"
        for i, field in enumerate(decode.fields)
    ]
    return frame.selectExpr(*columns, *ABOUT_FILES)


def _lines(decode: Decode) -> DataFrame:
    frame = decode.open("json", _schema(decode.fields), _SPARK_OPTIONS)
    absent, corrupt = (raw_name(len(decode.fields) + i) for i in range(2))
    # Spark refuses to read the corrupt records alone, hence the look at a field never there.
    good = f"{corrupt} IS NULL AND {absent} IS NULL"
    if decode.options[IGNORE]:
        # An object with a value of the wrong shape is kept: that field is NULL.
        usable = f"from_json({corrupt}, 'map<string, string>', {_strictly()}) IS NOT NULL"
        return frame.where(f"({good}) OR ({usable})")
    return frame.where(f"CASE WHEN {good} THEN TRUE ELSE {_malformed(corrupt)} END")


def _strictly() -> str:
    pairs = (f"'{k}', '{v}'" for k, v in _SPARK_OPTIONS.items() if k.startswith("allow"))
    return f"map({', '.join(pairs)})"


def _documents(decode: Decode) -> DataFrame:
    """The strict reading, where each document's keys are looked at as well."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import StringType, StructField, StructType

    text = raw_name(0)
    frame = decode.open("text", StructType([StructField("value", StringType())]), {"lineSep": "\n"})
    parsed = f.from_json(f.col(text), _schema(decode.fields), _SPARK_OPTIONS)
    frame = frame.where(f"length({text}) > 0").select(text, parsed.alias("_tm_doc"), *ABOUT_FILES)
    names = ", ".join(spark_text.string(field.name) for field in decode.fields)
    missing = f"array_except(array({names}), json_object_keys({text}))"
    complain = records.raising(
        file=FILE,
        record=text,
        problem=f"concat('no field `', {missing}[0], '` in the record')",
        reason=spark_text.string(f"'{FAIL_ON_MISSING}' is set"),
    )
    checked = (
        f"CASE WHEN _tm_doc.{_CORRUPT} IS NOT NULL THEN {_malformed(text)} "
        f"WHEN size({missing}) > 0 THEN {complain} ELSE TRUE END"
    )
    struct = frame.schema["_tm_doc"].dataType
    positional = type(struct)(
        [StructField(raw_name(i), field.dataType) for i, field in enumerate(struct.fields)]
    )
    inside = f.col("_tm_doc").cast(positional)
    return (
        frame.where(checked)
        .select(inside.alias("_tm_doc"), *ABOUT_FILES)
        .select("_tm_doc.*", *ABOUT_FILES)
    )


def _malformed(record: str) -> str:
    return records.raising(
        file=FILE,
        record=record,
        problem="'cannot read the record as JSON'",
        hint=spark_text.string(f"'{IGNORE}' = 'true' skips such records"),
    )


def _schema(fields: tuple[Field, ...]) -> StructType:
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType(
        [
            *(StructField(field.name, _shape(field.type)) for field in fields),
            StructField(_ABSENT, StringType()),
            StructField(_CORRUPT, StringType()),
        ]
    )


def _shape(type_: t.DataType) -> SparkType:
    """The type with all leaves as the text they have in the file."""
    from pyspark.sql import types as s

    match type_:
        case t.Array(element=element):
            return s.ArrayType(_shape(element))
        case t.Map(value=value):
            return s.MapType(s.StringType(), _shape(value))
        case t.Multiset():
            return s.MapType(s.StringType(), s.StringType())
        case t.Row(fields=fields):
            return s.StructType([s.StructField(f.name, _shape(f.type)) for f in fields])
        case _:
            return s.StringType()


def _positional(type_: t.DataType) -> str:
    """The same shape with the fields of rows named by position, for names that SQL can say."""
    match type_:
        case t.Array(element=element):
            return f"ARRAY<{_positional(element)}>"
        case t.Map(value=value):
            return f"MAP<STRING, {_positional(value)}>"
        case t.Multiset():
            return "MAP<STRING, STRING>"
        case t.Row(fields=fields):
            inside = ", ".join(f"_{i}: {_positional(f.type)}" for i, f in enumerate(fields))
            return f"STRUCT<{inside}>"
        case _:
            return "STRING"


def _value(raw: str, field: Field, decode: Decode) -> str:
    def complain(text: str, type_: t.DataType) -> str:
        return records.raising(
            file=FILE,
            column=spark_text.string(field.name),
            value=f"substring({text}, 1, 200)",
            problem=spark_text.string(f"cannot read `{field.name}` as {type_.text()}"),
            reason=spark_text.string(f"the value is no {type_.text()}"),
            hint=spark_text.string(f"'{IGNORE}' = 'true' reads such fields as NULL"),
        )

    spelling = Spelling(
        iso_times=decode.options[TIMES] == "ISO-8601",
        integers_truncate=True,
        complain=None if decode.options[IGNORE] else complain,
    )
    nested = isinstance(field.type, t.Array | t.Map | t.Multiset | t.Row)
    sql = f"CAST({raw} AS {_positional(field.type)})" if nested else raw
    return _converted(sql, field.type, spelling, depth=0)


def _converted(sql: str, type_: t.DataType, spelling: Spelling, depth: int) -> str:
    x = f"_x{depth}"
    match type_:
        case t.Array(element=element):
            return f"transform({sql}, {x} -> {_converted(x, element, spelling, depth + 1)})"
        case t.Map(value=value):
            inside = _converted(x, value, spelling, depth + 1)
            return f"transform_values({sql}, (_k{depth}, {x}) -> {inside})"
        case t.Multiset():
            inside = _converted(x, t.Int(), spelling, depth + 1)
            return f"transform_values({sql}, (_k{depth}, {x}) -> {inside})"
        case t.Row(fields=fields):
            return _row(sql, fields, spelling, depth)
        case _:
            return from_text(sql, type_, spelling)


def _row(sql: str, fields: tuple[t.Field, ...], spelling: Spelling, depth: int) -> str:
    names = spark_text.safe_names([field.name for field in fields])
    pairs = ", ".join(
        f"'{name}', {_converted(f'{sql}._{i}', field.type, spelling, depth + 1)}"
        for i, (name, field) in enumerate(zip(names, fields, strict=True))
    )
    return f"CASE WHEN {sql} IS NOT NULL THEN named_struct({pairs}) END"


# --- writing -----------------------------------------------------------------------------------


def write(encode: Encode) -> DataFrame:
    from pyspark.sql import functions as f
    from pyspark.sql.types import StructField, StructType

    values = [f.expr(_encoded(field.sql, field.type, encode, 0)) for field in encode.fields]
    row = f.struct(*(value.alias(raw_name(i)) for i, value in enumerate(values)))
    inside = encode.frame.select(row.alias("value"), *encode.keep)
    struct = inside.schema["value"].dataType
    # The documents have the fields' own names, which SQL text could not say safely.
    named = StructType(
        [
            StructField(field.name, _own_names(part.dataType, field.type))
            for field, part in zip(encode.fields, struct.fields, strict=True)
        ]
    )
    options = {"ignoreNullFields": "true" if encode.options[WITHOUT_NULLS] else "false"}
    text = f.to_json(f.col("value").cast(named), options)
    return inside.select(text.alias("value"), *encode.keep)


def _encoded(sql: str, type_: t.DataType, encode: Encode, depth: int) -> str:
    x = f"_x{depth}"
    match type_:
        case t.Array(element=element):
            return f"transform({sql}, {x} -> {_encoded(x, element, encode, depth + 1)})"
        case t.Map() | t.Multiset():
            value = type_.value if isinstance(type_, t.Map) else t.Int()
            inside = _encoded(x, value, encode, depth + 1)
            return f"transform_values({sql}, (_k{depth}, {x}) -> {inside})"
        case t.Row(fields=fields):
            names = spark_text.safe_names([field.name for field in fields])
            pairs = ", ".join(
                f"'_{i}', {_encoded(f'{sql}.`{name}`', field.type, encode, depth + 1)}"
                for i, (name, field) in enumerate(zip(names, fields, strict=True))
            )
            return f"CASE WHEN {sql} IS NOT NULL THEN named_struct({pairs}) END"
        case t.Decimal() if not encode.options[PLAIN_DECIMALS]:
            # A variant writes a decimal without the zeros at its end, as Flink does.
            return f"CAST({sql} AS VARIANT)"
        case t.Float() | t.Double() | t.Boolean() | t.Decimal():
            return sql
        case _ if isinstance(type_, (*t.INTEGERS, *t.CHARACTERS)):
            return sql
        case _:
            return to_text(sql, type_, iso_times=encode.options[TIMES] == "ISO-8601")


def _own_names(spark: SparkType, type_: t.DataType) -> SparkType:
    from pyspark.sql import types as s

    match type_:
        case t.Array(element=element):
            assert isinstance(spark, s.ArrayType)
            return s.ArrayType(_own_names(spark.elementType, element))
        case t.Map(value=value):
            assert isinstance(spark, s.MapType)
            return s.MapType(s.StringType(), _own_names(spark.valueType, value))
        case t.Row(fields=fields):
            assert isinstance(spark, s.StructType)
            pairs = zip(spark.fields, fields, strict=True)
            return s.StructType(
                [s.StructField(f.name, _own_names(p.dataType, f.type)) for p, f in pairs]
            )
        case _:
            return spark


JSON = Format("json", OPTIONS, check, read, write)
