"""Where operators hand out late rows: the columns that accompany their inputs, and those that the
late rows have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.spark.frame import KIND

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from tidemark.kernels.protocol import Kernel
    from tidemark.physical import Input, Operator


def late_column(place: int) -> str:
    """What a column of a table is called where it leaves an operator with late rows."""
    return f"_tm_late{place}"


def columns_beside(input_: Input) -> tuple[str, ...]:
    """The names of the last columns of an input, which are for its outlet, if it has one."""
    return () if input_.outlet is None else tuple(map(late_column, input_.outlet.places))


def late_schema(input_: Input, data: DataFrame) -> StructType | None:
    """The columns of the late rows of an input that are handed out; None if they are not."""
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    from tidemark.kernels.late_rows import LATE_KIND, LATE_TIME, LATE_WATERMARK

    if input_.outlet is None:
        return None
    rows = data.schema
    own = [StructField(name, rows[name].dataType) for name in columns_beside(input_)]
    late_fields = [StructField(name, LongType()) for name in (LATE_TIME, LATE_WATERMARK)]
    kinds = [StructField(LATE_KIND, StringType())] * (KIND in rows.names)
    return StructType([*own, *late_fields, *kinds])


def handing_out(kernel: Kernel, operator: Operator) -> Kernel:
    """The kernel, which hands out late rows where the operator has outlets."""
    from tidemark.kernels.handing_out import HandingOut

    if not operator.outlets:
        return kernel
    beside = {place: columns_beside(operator.inputs[place]) for place in operator.outlets.values()}
    return HandingOut(kernel, beside)
