"""What is imported as `pyflink.table.types`: types by their names, as Flink's SQL writes them."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.pyflink.api.common.row import Row, RowKind
from tidemark.pyflink.api.table.type_classes import (
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntervalUnit,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RowField,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
    sql_of,
)

# `import *` imports these, as in PyFlink.
__all__ = ["DataType", "DataTypes", "Row", "RowField", "RowKind", "RowType", "sql_of"]


class DataTypes:
    """Makes types: `DataTypes.BIGINT()`."""

    NULL = NullType
    BOOLEAN = BooleanType
    TINYINT = TinyIntType
    SMALLINT = SmallIntType
    INT = IntType
    BIGINT = BigIntType
    FLOAT = FloatType
    DOUBLE = DoubleType
    DATE = DateType
    CHAR = CharType
    VARCHAR = VarCharType
    BINARY = BinaryType
    VARBINARY = VarBinaryType
    DECIMAL = DecimalType
    TIME = TimeType
    TIMESTAMP = TimestampType
    TIMESTAMP_LTZ = LocalZonedTimestampType
    TIMESTAMP_WITH_LOCAL_TIME_ZONE = LocalZonedTimestampType
    ARRAY = ArrayType
    LIST_VIEW = ArrayType
    MULTISET = MultisetType
    MAP = MapType
    MAP_VIEW = MapType

    @staticmethod
    def STRING(nullable: bool = True) -> VarCharType:  # noqa: N802
        return VarCharType(0x7FFFFFFF, nullable)

    @staticmethod
    def BYTES(nullable: bool = True) -> VarBinaryType:  # noqa: N802
        return VarBinaryType(0x7FFFFFFF, nullable)

    @staticmethod
    def ROW(  # noqa: N802
        row_fields: Sequence[RowField | DataType | str] = (), nullable: bool = True
    ) -> RowType:
        fields = [
            field if isinstance(field, RowField) else RowField(f"f{i}", field)
            for i, field in enumerate(row_fields)
        ]
        return RowType(fields, nullable)

    @staticmethod
    def FIELD(  # noqa: N802
        name: str, data_type: DataType | str, description: str | None = None
    ) -> RowField:
        return RowField(name, data_type, description)

    @staticmethod
    def INTERVAL(  # noqa: N802
        upper_resolution: IntervalUnit, lower_resolution: IntervalUnit | None = None
    ) -> DayTimeIntervalType | YearMonthIntervalType:
        if upper_resolution.unit in ("YEAR", "MONTH"):
            return YearMonthIntervalType(upper_resolution, lower_resolution)
        return DayTimeIntervalType(upper_resolution, lower_resolution)

    @staticmethod
    def YEAR(precision: int | None = None) -> IntervalUnit:  # noqa: N802
        return IntervalUnit("YEAR", precision)

    @staticmethod
    def MONTH() -> IntervalUnit:  # noqa: N802
        return IntervalUnit("MONTH")

    @staticmethod
    def DAY(precision: int | None = None) -> IntervalUnit:  # noqa: N802
        return IntervalUnit("DAY", precision)

    @staticmethod
    def HOUR() -> IntervalUnit:  # noqa: N802
        return IntervalUnit("HOUR")

    @staticmethod
    def MINUTE() -> IntervalUnit:  # noqa: N802
        return IntervalUnit("MINUTE")

    @staticmethod
    def SECOND(precision: int | None = None) -> IntervalUnit:  # noqa: N802
        return IntervalUnit("SECOND", precision)
