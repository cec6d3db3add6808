"""The columns of the late rows that operators hand out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.operators.outlets import columns_of
from tidemark.spark.frame import KIND

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from tidemark.physical import Input


def late_schemas(input_: Input, rows: StructType) -> dict[int, StructType]:
    """The columns of the late rows that are handed out of an input with these columns, by the
    number of their outlet.
    """
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    from tidemark.kernels.late_rows import LATE_KIND, LATE_TIME, LATE_WATERMARK

    if not input_.outlets:
        return {}
    late_fields = [StructField(name, LongType()) for name in (LATE_TIME, LATE_WATERMARK)]
    kinds = [StructField(LATE_KIND, StringType())] * (KIND in rows.names)
    return {
        outlet.number: StructType(
            [
                *(StructField(name, rows[name].dataType) for name in columns_of(outlet)),
                *late_fields,
                *kinds,
            ]
        )
        for outlet in input_.outlets
    }
