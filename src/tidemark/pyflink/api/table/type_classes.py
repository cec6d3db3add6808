"""PyFlink's classes of types. Each knows how SQL writes it, and its `repr` is that of PyFlink."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, Final, Self

_LONGEST: Final = 0x7FFFFFFF


class DataType:
    """A type. `_name` is what SQL calls it, without parameters and NOT NULL."""

    _name = ""

    def __init__(self, nullable: bool = True) -> None:
        self._nullable = nullable

    @classmethod
    def type_name(cls) -> str:
        return cls.__name__.removesuffix("Type").upper()

    @property
    def is_nullable(self) -> bool:
        return self._nullable

    @property
    def name(self) -> str:
        """As SQL writes it without NOT NULL."""
        return self._name

    @property
    def sql(self) -> str:
        return self.name if self._nullable else f"{self.name} NOT NULL"

    def nullable(self) -> Self:
        return self._with(True)

    def not_null(self) -> Self:
        return self._with(False)

    def _with(self, nullable: bool) -> Self:
        same = copy(self)
        same._nullable = nullable
        return same

    def _parameters(self) -> tuple[Any, ...]:
        return ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, DataType) and self.sql == other.sql

    def __hash__(self) -> int:
        return hash(self.sql)

    def __str__(self) -> str:
        return self.type_name()

    def __repr__(self) -> str:
        parts = [*map(repr, self._parameters()), str(self._nullable).lower()]
        return f"{type(self).__name__}({', '.join(parts)})"


class NullType(DataType):
    """NULL"""

    _name = "NULL"


class BooleanType(DataType):
    """BOOLEAN"""

    _name = "BOOLEAN"


class TinyIntType(DataType):
    """TINYINT"""

    _name = "TINYINT"


class SmallIntType(DataType):
    """SMALLINT"""

    _name = "SMALLINT"


class IntType(DataType):
    """INT"""

    _name = "INT"


class BigIntType(DataType):
    """BIGINT"""

    _name = "BIGINT"


class FloatType(DataType):
    """FLOAT"""

    _name = "FLOAT"


class DoubleType(DataType):
    """DOUBLE"""

    _name = "DOUBLE"


class DateType(DataType):
    """DATE"""

    _name = "DATE"


class _WithLength(DataType):
    def __init__(self, length: int = 1, nullable: bool = True) -> None:
        super().__init__(nullable)
        self.length = length

    @property
    def name(self) -> str:
        return f"{self._name}({self.length})"

    def _parameters(self) -> tuple[Any, ...]:
        return (self.length,)


class CharType(_WithLength):
    """CHAR(n)"""

    _name = "CHAR"


class VarCharType(_WithLength):
    """VARCHAR(n); the longest is STRING."""

    _name = "VARCHAR"

    @property
    def name(self) -> str:
        return "STRING" if self.length == _LONGEST else super().name


class BinaryType(_WithLength):
    """BINARY(n)"""

    _name = "BINARY"


class VarBinaryType(_WithLength):
    """VARBINARY(n); the longest is BYTES."""

    _name = "VARBINARY"

    @property
    def name(self) -> str:
        return "BYTES" if self.length == _LONGEST else super().name


class DecimalType(DataType):
    """DECIMAL(p, s)"""

    _name = "DECIMAL"

    def __init__(self, precision: int = 10, scale: int = 0, nullable: bool = True) -> None:
        super().__init__(nullable)
        self.precision, self.scale = precision, scale

    @property
    def name(self) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"

    def _parameters(self) -> tuple[Any, ...]:
        return self.precision, self.scale


class _WithPrecision(DataType):
    def __init__(self, precision: int = 6, nullable: bool = True) -> None:
        super().__init__(nullable)
        self.precision = precision

    @property
    def name(self) -> str:
        return f"{self._name}({self.precision})"

    def _parameters(self) -> tuple[Any, ...]:
        return (self.precision,)


class TimeType(_WithPrecision):
    """TIME(p)"""

    _name = "TIME"

    def __init__(self, precision: int = 0, nullable: bool = True) -> None:
        super().__init__(precision, nullable)


class TimestampType(_WithPrecision):
    """TIMESTAMP(p)"""

    _name = "TIMESTAMP"


class LocalZonedTimestampType(_WithPrecision):
    """TIMESTAMP_LTZ(p)"""

    _name = "TIMESTAMP_LTZ"


class IntervalUnit:
    """An end of an interval type: `DataTypes.DAY()`."""

    def __init__(self, unit: str, precision: int | None = None) -> None:
        self.unit, self.precision = unit, precision

    def __str__(self) -> str:
        return self.unit if self.precision is None else f"{self.unit}({self.precision})"


class _Interval(DataType):
    def __init__(
        self, first: IntervalUnit, last: IntervalUnit | None = None, nullable: bool = True
    ) -> None:
        super().__init__(nullable)
        self._first, self._last = first, last

    @property
    def name(self) -> str:
        return f"INTERVAL {self._first}" + ("" if self._last is None else f" TO {self._last}")


class DayTimeIntervalType(_Interval):
    """INTERVAL DAY TO SECOND and its parts."""


class YearMonthIntervalType(_Interval):
    """INTERVAL YEAR TO MONTH and its parts."""


class _OfElements(DataType):
    def __init__(self, element_type: DataType | str, nullable: bool = True) -> None:
        super().__init__(nullable)
        self.element_type = element_type

    @property
    def name(self) -> str:
        return f"{self._name}<{sql_of(self.element_type)}>"

    def _parameters(self) -> tuple[Any, ...]:
        return (self.element_type,)


class ArrayType(_OfElements):
    """ARRAY<t>"""

    _name = "ARRAY"


class MultisetType(_OfElements):
    """MULTISET<t>"""

    _name = "MULTISET"


class MapType(DataType):
    """MAP<k, v>"""

    _name = "MAP"

    def __init__(
        self, key_type: DataType | str, value_type: DataType | str, nullable: bool = True
    ) -> None:
        super().__init__(nullable)
        self.key_type, self.value_type = key_type, value_type

    @property
    def name(self) -> str:
        return f"MAP<{sql_of(self.key_type)}, {sql_of(self.value_type)}>"

    def _parameters(self) -> tuple[Any, ...]:
        return self.key_type, self.value_type


class RowField:
    """A field of a ROW."""

    def __init__(
        self, name: str, data_type: DataType | str, description: str | None = None
    ) -> None:
        self.name, self.data_type, self.description = name, data_type, description

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowField) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return f"RowField({self.name}, {self.data_type})"

    def __repr__(self) -> str:
        described = "..." if self.description is None else repr(self.description)
        return f"RowField({self.name}, {self.data_type!r}, {described})"


class RowType(DataType):
    """ROW<...>. `add` appends a field to it, and returns it."""

    _name = "ROW"

    def __init__(self, fields: Sequence[RowField] | None = None, nullable: bool = True) -> None:
        super().__init__(nullable)
        self.fields = list(fields or ())

    @property
    def name(self) -> str:
        described = (f"{_quoted(f.name)} {sql_of(f.data_type)}" for f in self.fields)
        return f"ROW<{', '.join(described)}>"

    @property
    def names(self) -> list[str]:
        return [field.name for field in self.fields]

    def field_names(self) -> list[str]:
        return self.names

    def field_types(self) -> list[DataType | str]:
        return [field.data_type for field in self.fields]

    def add(self, field: RowField | str, data_type: DataType | str | None = None) -> RowType:
        if isinstance(field, str):
            if data_type is None:
                raise ValueError(f"add() takes the type of the field {field!r}, too")
            field = RowField(field, data_type)
        self.fields.append(field)
        return self

    def __iter__(self) -> Iterator[RowField]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, key: int | str | slice) -> RowField | RowType:
        if isinstance(key, slice):
            return RowType(self.fields[key])
        if isinstance(key, int):
            return self.fields[key]
        found = next((field for field in self.fields if field.name == key), None)
        if found is None:
            raise KeyError(f"no field of the ROW is named {key}")
        return found

    def __repr__(self) -> str:
        return f"RowType({','.join(map(repr, self.fields))})"


def sql_of(type_: DataType | str) -> str:
    return type_ if isinstance(type_, str) else type_.sql


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
