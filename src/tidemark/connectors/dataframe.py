"""A user's DataFrame as a table. It is in `Table.dataframe`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tidemark.catalog.tables import Changelog, Table, TableTraits
from tidemark.connectors.base import Connector, OptionSpec, ReadRequest
from tidemark.dialect.statements import PhysicalColumn
from tidemark.functions import spark_text
from tidemark.spark.own_session import moved

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

OPTIONS = (
    OptionSpec("row-kind", summary="the column with the row kinds +I, -U, +U and -D"),
    OptionSpec(
        "changelog-mode",
        "enum",
        choices=("upsert", "retract"),
        summary="whether updates come without the rows they replace",
    ),
)


def traits(table: Table, options: Mapping[str, Any]) -> TableTraits:
    return TableTraits(
        bounded=not table.dataframe.isStreaming,
        changelog=changelog_of(options),
        readable=True,
    )


def changelog_of(options: Mapping[str, Any]) -> Changelog:
    if options["row-kind"] is None:
        return Changelog.APPEND
    return Changelog.UPSERT if options["changelog-mode"] == "upsert" else Changelog.RETRACT


def read(request: ReadRequest) -> DataFrame:
    """The user's columns by name, with the names and types of the scan."""
    from pyspark.sql import functions as f

    def column(name: str) -> Any:
        return f.col("`" + name.replace("`", "``") + "`")

    physical = [c for c in request.table.columns if isinstance(c, PhysicalColumn)]
    columns = [
        column(declared.name).cast(spark_text.spark_type(type_)).alias(name)
        for declared, name, type_ in zip(physical, request.columns, request.types, strict=True)
    ]
    kind = request.options["row-kind"]
    if kind is not None:
        columns.append(column(kind).cast("string").alias("_tm_kind"))
    return moved(request.table.dataframe, request.spark).select(*columns)


DATAFRAME = Connector(
    name="dataframe",
    options=OPTIONS,
    summary="a DataFrame registered by the user",
    traits=traits,
    read=read,
)
