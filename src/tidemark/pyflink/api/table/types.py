"""What is imported as `pyflink.table.types`: types by their names, as Flink's SQL writes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tidemark.pyflink.api.common.row import Row, RowKind

__all__ = ["DataType", "DataTypes", "Row", "RowField", "RowKind", "RowType"]


@dataclass(frozen=True)
class DataType:
    """A type, as SQL writes it without NOT NULL."""

    name: str
    is_nullable: bool = True

    @property
    def sql(self) -> str:
        return self.name if self.is_nullable else f"{self.name} NOT NULL"

    def nullable(self) -> DataType:
        return replace(self, is_nullable=True)

    def not_null(self) -> DataType:
        return replace(self, is_nullable=False)


@dataclass(frozen=True)
class RowField:
    """A field of a ROW."""

    name: str
    data_type: DataType | str


@dataclass(frozen=True)
class RowType(DataType):
    """A ROW."""

    fields: tuple[RowField, ...] = ()


def sql_of(type_: DataType | str) -> str:
    return type_ if isinstance(type_, str) else type_.sql


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _without_parameters(name: str) -> Callable[..., DataType]:
    def make(nullable: bool = True) -> DataType:
        return DataType(name, nullable)

    return make


class DataTypes:
    """Makes types: `DataTypes.BIGINT()`."""

    NULL = staticmethod(_without_parameters("NULL"))
    STRING = staticmethod(_without_parameters("STRING"))
    BOOLEAN = staticmethod(_without_parameters("BOOLEAN"))
    BYTES = staticmethod(_without_parameters("BYTES"))
    TINYINT = staticmethod(_without_parameters("TINYINT"))
    SMALLINT = staticmethod(_without_parameters("SMALLINT"))
    INT = staticmethod(_without_parameters("INT"))
    BIGINT = staticmethod(_without_parameters("BIGINT"))
    FLOAT = staticmethod(_without_parameters("FLOAT"))
    DOUBLE = staticmethod(_without_parameters("DOUBLE"))
    DATE = staticmethod(_without_parameters("DATE"))

    @staticmethod
    def CHAR(length: int, nullable: bool = True) -> DataType:  # noqa: N802
        return DataType(f"CHAR({length})", nullable)

    @staticmethod
    def VARCHAR(length: int, nullable: bool = True) -> DataType:  # noqa: N802
        return DataType(f"VARCHAR({length})", nullable)

    @staticmethod
    def BINARY(length: int, nullable: bool = True) -> DataType:  # noqa: N802
        return DataType(f"BINARY({length})", nullable)

    @staticmethod
    def VARBINARY(length: int, nullable: bool = True) -> DataType:  # noqa: N802
        return DataType(f"VARBINARY({length})", nullable)

    @staticmethod
    def DECIMAL(precision: int, scale: int, nullable: bool = True) -> DataType:  # noqa: N802
        return DataType(f"DECIMAL({precision}, {scale})", nullable)

    @staticmethod
    def TIME(precision: int = 0, nullable: bool = True) -> DataType:  # noqa: N802
        return DataType(f"TIME({precision})", nullable)

    @staticmethod
    def TIMESTAMP(precision: int = 6, nullable: bool = True) -> DataType:  # noqa: N802
        return DataType(f"TIMESTAMP({precision})", nullable)

    @staticmethod
    def TIMESTAMP_LTZ(precision: int = 6, nullable: bool = True) -> DataType:  # noqa: N802
        return DataType(f"TIMESTAMP_LTZ({precision})", nullable)

    TIMESTAMP_WITH_LOCAL_TIME_ZONE = TIMESTAMP_LTZ

    @staticmethod
    def ARRAY(element_type: DataType | str, nullable: bool = True) -> DataType:  # noqa: N802
        return DataType(f"ARRAY<{sql_of(element_type)}>", nullable)

    LIST_VIEW = ARRAY

    @staticmethod
    def MULTISET(element_type: DataType | str, nullable: bool = True) -> DataType:  # noqa: N802
        return DataType(f"MULTISET<{sql_of(element_type)}>", nullable)

    @staticmethod
    def MAP(  # noqa: N802
        key_type: DataType | str, value_type: DataType | str, nullable: bool = True
    ) -> DataType:
        return DataType(f"MAP<{sql_of(key_type)}, {sql_of(value_type)}>", nullable)

    MAP_VIEW = MAP

    @staticmethod
    def ROW(  # noqa: N802
        row_fields: Sequence[RowField | DataType | str] = (), nullable: bool = True
    ) -> DataType:
        fields = tuple(
            field if isinstance(field, RowField) else RowField(f"f{i}", field)
            for i, field in enumerate(row_fields)
        )
        described = ", ".join(f"{_quoted(f.name)} {sql_of(f.data_type)}" for f in fields)
        return RowType(f"ROW<{described}>", nullable, fields)

    @staticmethod
    def FIELD(  # noqa: N802
        name: str, data_type: DataType | str, description: str | None = None
    ) -> RowField:
        return RowField(name, data_type)
