"""The columns of the late rows that operators hand out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.operators.outlets import columns_beside
from tidemark.spark.frame import KIND

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from tidemark.physical import Input
    from tidemark.spark.stateful.operator import LateRowsOut


def late_rows_of(input_: Input, data: DataFrame) -> LateRowsOut | None:
    """The late rows of an input that are handed out; None if they are not."""
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    from tidemark.kernels.late_rows import LATE_KIND, LATE_TIME, LATE_WATERMARK
    from tidemark.spark.stateful.operator import LateRowsOut

    if input_.outlet is None:
        return None
    rows = data.schema
    own = [StructField(name, rows[name].dataType) for name in columns_beside(input_)]
    late_fields = [StructField(name, LongType()) for name in (LATE_TIME, LATE_WATERMARK)]
    kinds = [StructField(LATE_KIND, StringType())] * (KIND in rows.names)
    return LateRowsOut(input_.outlet.number, StructType([*own, *late_fields, *kinds]))
