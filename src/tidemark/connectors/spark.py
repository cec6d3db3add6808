"""Whatever Spark itself can read and write, by the name of its data source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from tidemark.catalog.tables import Table, TableTraits
from tidemark.connectors.base import Connector, OptionSpec, ReadRequest, WriteRequest
from tidemark.connectors.options import option_error, span_of_option
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import PlanError, did_you_mean
from tidemark.functions import spark_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

_PASSED: Final = "options."
# Sources of Spark that ask for a schema, at least as a stream. Others have their own.
_WITHOUT_SCHEMA: Final = frozenset({"avro", "csv", "json", "orc", "parquet", "xml"})

OPTIONS = (
    OptionSpec("format", required=True, summary="the name of Spark's data source, such as `delta`"),
    OptionSpec(
        "path", summary="the path that Spark loads from or saves to, if the data source has paths"
    ),
    OptionSpec("options.#", summary="an option of the data source"),
    OptionSpec(
        "scan.mode",
        "enum",
        "bounded",
        choices=("bounded", "unbounded"),
        summary="whether a query ends with the existing rows, or waits for more",
    ),
)


def traits(table: Table, options: Mapping[str, Any]) -> TableTraits:
    bounded = options["scan.mode"] == "bounded"
    return TableTraits(bounded=bounded, at_once=True, readable=True, writable=True)


def read(request: ReadRequest) -> DataFrame:
    """The rows, their columns found by name and converted to the declared types."""
    unbounded = request.options["scan.mode"] == "unbounded"
    if unbounded and not request.streaming:
        raise PlanError(
            f"`{request.table.name}` is unbounded and cannot be read in batch mode",
            at=span_of_option(request.table, "scan.mode"),
            source=request.table.source,
            hint="leave 'scan.mode' out to read the rows that there are",
        )
    data, there = _loaded(request, stream=unbounded)
    # Names that users make are not for Spark's SQL.
    numbered = data.toDF(*[f"c{place}" for place in range(len(there))])
    data = numbered.selectExpr(*_columns(request, there))
    return request.once(data) if request.streaming and not unbounded else data


def _loaded(request: ReadRequest, *, stream: bool) -> tuple[DataFrame, list[str]]:
    """What Spark loads, and the names of its columns."""
    spark, options = request.spark, request.options
    reader = spark.readStream if stream else spark.read
    reader = reader.format(options["format"]).options(**_passed(options))
    if options["format"].lower() in _WITHOUT_SCHEMA:
        reader = reader.schema(_schema(request.table))
    with _naming_what_is_missing(request.table):
        data = reader.load(options["path"])
        # Over Spark Connect nothing is checked before this.
        return data, data.columns


def _passed(options: Mapping[str, Any]) -> dict[str, str]:
    return {
        name.removeprefix(_PASSED): value
        for name, value in options.items()
        if name.startswith(_PASSED)
    }


def _physical(table: Table) -> list[PhysicalColumn]:
    return [column for column in table.columns if isinstance(column, PhysicalColumn)]


def _schema(table: Table) -> StructType:
    from pyspark.sql.types import StructField, StructType

    from tidemark.spark.types import to_spark

    return StructType([StructField(c.name, to_spark(c.type)) for c in _physical(table)])


def _columns(request: ReadRequest, there: list[str]) -> list[str]:
    """Those that the scan wants, in Spark SQL over numbered columns."""
    columns = []
    declared = _physical(request.table)
    for column, name, type_ in zip(declared, request.columns, request.types, strict=True):
        if column.name not in there:
            raise PlanError(
                f"what Spark loads has no column `{column.name}`",
                source=request.table.source,
                notes={"table": request.table.name, "columns": ", ".join(there)},
                hint=did_you_mean(column.name, there),
            )
        value = f"CAST(c{there.index(column.name)} AS {spark_text.spark_type(type_)})"
        columns.append(f"{value} AS {spark_text.name(name)}")
    return columns


@contextmanager
def _naming_what_is_missing(table: Table) -> Iterator[None]:
    """An error at the option `format` if Spark has no such data source."""
    try:
        yield
    except Exception as problem:
        # It is not one of PySpark's own exceptions.
        if "DATA_SOURCE_NOT_FOUND" not in str(problem):
            raise
        raise option_error(
            table,
            "format",
            f"Spark has no data source named '{table.option('format')}'",
            hint="add its package: --set spark.jars.packages=GROUP:ARTIFACT:VERSION",
        ) from None


def write(request: WriteRequest) -> None:
    frame = request.frame.selectExpr(*map(spark_text.name, request.columns))
    writer = frame.toDF(*[column.name for column in _physical(request.table)]).write
    writer = writer.format(request.options["format"]).options(**_passed(request.options))
    if request.table.partitioned_by:
        writer = writer.partitionBy(*request.table.partitioned_by)
    with _naming_what_is_missing(request.table):
        writer.mode("overwrite" if request.overwrite else "append").save(request.options["path"])


SPARK = Connector(
    name="spark",
    options=OPTIONS,
    summary=(
        "reads and writes with Spark's own data sources. Columns are matched by name. A micro-batch"
        " that is repeated after a failure is written again"
    ),
    traits=traits,
    read=read,
    write=write,
)
