"""Flink's SQL data types as plain values.

`str(type)` is the type in Flink SQL. `spark/types.py` maps types to Spark and Arrow;
`dialect.parse_type` parses them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

MAX_LENGTH = 2_147_483_647
MAX_DECIMAL_PRECISION = 38


@dataclass(frozen=True, slots=True, kw_only=True)
class DataType:
    """A Flink SQL type; equal types print alike."""

    nullable: bool = True
    name: ClassVar[str] = ""

    def __str__(self) -> str:
        return self.text() if self.nullable else f"{self.text()} NOT NULL"

    def text(self) -> str:
        """The type in SQL without its nullability."""
        return self.name

    def with_nullable(self, nullable: bool) -> Self:
        return self if nullable == self.nullable else replace(self, nullable=nullable)

    def same_as(self, other: DataType) -> bool:
        """Equal except for (outermost) nullability."""
        return self.with_nullable(True) == other.with_nullable(True)


@dataclass(frozen=True, slots=True)
class Null(DataType):
    """The type of an untyped NULL."""

    name: ClassVar[str] = "NULL"


@dataclass(frozen=True, slots=True)
class Boolean(DataType):
    name: ClassVar[str] = "BOOLEAN"


@dataclass(frozen=True, slots=True)
class TinyInt(DataType):
    name: ClassVar[str] = "TINYINT"


@dataclass(frozen=True, slots=True)
class SmallInt(DataType):
    name: ClassVar[str] = "SMALLINT"


@dataclass(frozen=True, slots=True)
class Int(DataType):
    name: ClassVar[str] = "INT"


@dataclass(frozen=True, slots=True)
class BigInt(DataType):
    name: ClassVar[str] = "BIGINT"


@dataclass(frozen=True, slots=True)
class Float(DataType):
    name: ClassVar[str] = "FLOAT"


@dataclass(frozen=True, slots=True)
class Double(DataType):
    name: ClassVar[str] = "DOUBLE"


@dataclass(frozen=True, slots=True)
class Decimal(DataType):
    precision: int = 10
    scale: int = 0

    def text(self) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"


@dataclass(frozen=True, slots=True)
class Char(DataType):
    length: int = 1

    def text(self) -> str:
        return f"CHAR({self.length})"


@dataclass(frozen=True, slots=True)
class VarChar(DataType):
    length: int = MAX_LENGTH

    def text(self) -> str:
        return "STRING" if self.length == MAX_LENGTH else f"VARCHAR({self.length})"


@dataclass(frozen=True, slots=True)
class Binary(DataType):
    length: int = 1

    def text(self) -> str:
        return f"BINARY({self.length})"


@dataclass(frozen=True, slots=True)
class VarBinary(DataType):
    length: int = MAX_LENGTH

    def text(self) -> str:
        return "BYTES" if self.length == MAX_LENGTH else f"VARBINARY({self.length})"


@dataclass(frozen=True, slots=True)
class Date(DataType):
    name: ClassVar[str] = "DATE"


@dataclass(frozen=True, slots=True)
class Time(DataType):
    precision: int = 0

    def text(self) -> str:
        return f"TIME({self.precision})"


@dataclass(frozen=True, slots=True)
class Timestamp(DataType):
    """A date and time of day without a time zone."""

    precision: int = 6

    def text(self) -> str:
        return f"TIMESTAMP({self.precision})"


@dataclass(frozen=True, slots=True)
class TimestampLtz(DataType):
    """An instant, shown in the session's time zone."""

    precision: int = 6

    def text(self) -> str:
        return f"TIMESTAMP_LTZ({self.precision})"


@dataclass(frozen=True, slots=True)
class DayTimeInterval(DataType):
    """`INTERVAL DAY TO SECOND` and its parts; a length of time in milliseconds."""

    first: str = "DAY"
    last: str = "SECOND"

    def text(self) -> str:
        return f"INTERVAL {self.first}" + ("" if self.first == self.last else f" TO {self.last}")


@dataclass(frozen=True, slots=True)
class YearMonthInterval(DataType):
    """`INTERVAL YEAR TO MONTH` and its parts; a number of months."""

    first: str = "YEAR"
    last: str = "MONTH"

    def text(self) -> str:
        return f"INTERVAL {self.first}" + ("" if self.first == self.last else f" TO {self.last}")


@dataclass(frozen=True, slots=True)
class Array(DataType):
    element: DataType

    def text(self) -> str:
        return f"ARRAY<{self.element}>"


@dataclass(frozen=True, slots=True)
class Multiset(DataType):
    element: DataType

    def text(self) -> str:
        return f"MULTISET<{self.element}>"


@dataclass(frozen=True, slots=True)
class Map(DataType):
    key: DataType
    value: DataType

    def text(self) -> str:
        return f"MAP<{self.key}, {self.value}>"


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: DataType
    comment: str | None = None

    def __str__(self) -> str:
        comment = "" if self.comment is None else " '" + self.comment.replace("'", "''") + "'"
        return f"{quote_name(self.name)} {self.type}{comment}"


@dataclass(frozen=True, slots=True)
class Row(DataType):
    fields: tuple[Field, ...] = ()

    def text(self) -> str:
        return f"ROW<{', '.join(str(field) for field in self.fields)}>"


@dataclass(frozen=True, slots=True)
class KeywordType(DataType):
    """The type of a keyword argument such as `DAY` in `CEIL(ts TO DAY)`."""

    name: ClassVar[str] = "SYMBOL"


STRING = VarChar()
BYTES = VarBinary()

INTEGERS = (TinyInt, SmallInt, Int, BigInt)
APPROXIMATE = (Float, Double)
NUMERICS = (*INTEGERS, Decimal, *APPROXIMATE)
CHARACTERS = (Char, VarChar)
BINARIES = (Binary, VarBinary)
TIMESTAMPS = (Timestamp, TimestampLtz)
INTERVALS = (DayTimeInterval, YearMonthInterval)

_DECIMAL_OF_INTEGER = {TinyInt: 3, SmallInt: 5, Int: 10, BigInt: 19}


def quote_name(name: str) -> str:
    """A name in backquotes, as in Flink SQL."""
    return "`" + name.replace("`", "``") + "`"


def as_decimal(type_: DataType) -> Decimal:
    """The decimal type that can represent every value of an integer or decimal type."""
    if isinstance(type_, Decimal):
        return type_
    return Decimal(_DECIMAL_OF_INTEGER[type(type_)], 0, nullable=type_.nullable)


def common_type(types: Sequence[DataType]) -> DataType | None:
    """The type that all of these are converted to, or None: the rule of CASE, UNION, VALUES, `=`,
    arrays and maps. Of FLOAT and DOUBLE it is the one that comes first, as in Flink.
    """
    return _merged(types, widest=False)


def widest_type(types: Sequence[DataType]) -> DataType | None:
    """The smallest type that all of these convert to without loss, or None: the rule of COALESCE,
    GREATEST, `<` and functions of arrays.
    """
    return _merged(types, widest=True)


def _merged(types: Sequence[DataType], *, widest: bool) -> DataType | None:
    known = [t for t in types if not isinstance(t, Null)]
    if not known:
        return types[0] if types else None
    nullable = any(t.nullable for t in types)
    result = known[0]
    for other in known[1:]:
        merged = _common_pair(result, other, widest)
        if merged is None:
            return None
        result = merged
    return result.with_nullable(nullable)


def _common_pair(a: DataType, b: DataType, widest: bool) -> DataType | None:
    if a.same_as(b):
        return a
    if isinstance(a, APPROXIMATE) and isinstance(b, APPROXIMATE):
        return Double() if widest else a
    for family, merge in (
        (NUMERICS, _common_numeric),
        (CHARACTERS, _common_character),
        (BINARIES, _common_binary),
        ((Date, Timestamp, TimestampLtz), _common_timestamp),
        ((Time,), _common_precision),
    ):
        if isinstance(a, family) and isinstance(b, family):
            return merge(a, b)
    for intervals in (DayTimeInterval, YearMonthInterval):
        if isinstance(a, intervals) and isinstance(b, intervals):
            return intervals()
    return _common_nested(a, b, widest)


def _common_numeric(a: DataType, b: DataType) -> DataType:
    if isinstance(a, INTEGERS) and isinstance(b, INTEGERS):
        return max(a, b, key=lambda t: INTEGERS.index(type(t)))
    if isinstance(a, APPROXIMATE) or isinstance(b, APPROXIMATE):
        single = isinstance(a, (Float, *INTEGERS)) and isinstance(b, (Float, *INTEGERS))
        return Float() if single else Double()
    x, y = as_decimal(a), as_decimal(b)
    whole = max(x.precision - x.scale, y.precision - y.scale)
    # Digits before the point are kept at the cost of those after it.
    scale = min(max(x.scale, y.scale), MAX_DECIMAL_PRECISION - whole)
    return Decimal(whole + scale, scale)


def _common_character(a: DataType, b: DataType) -> DataType:
    assert isinstance(a, CHARACTERS) and isinstance(b, CHARACTERS)
    length = max(a.length, b.length)
    same_char = isinstance(a, Char) and isinstance(b, Char) and a.length == b.length
    return Char(length) if same_char else VarChar(length)


def _common_binary(a: DataType, b: DataType) -> DataType:
    assert isinstance(a, BINARIES) and isinstance(b, BINARIES)
    return VarBinary(max(a.length, b.length))


def _common_timestamp(a: DataType, b: DataType) -> DataType:
    zoned = isinstance(a, TimestampLtz) or isinstance(b, TimestampLtz)
    precision = max(getattr(a, "precision", 0), getattr(b, "precision", 0))
    return TimestampLtz(precision) if zoned else Timestamp(precision)


def _common_precision(a: DataType, b: DataType) -> DataType:
    assert isinstance(a, Time) and isinstance(b, Time)
    return Time(max(a.precision, b.precision))


def _common_nested(a: DataType, b: DataType, widest: bool) -> DataType | None:
    def common(one: DataType, other: DataType) -> DataType | None:
        return _merged((one, other), widest=widest)

    match a, b:
        case (Array(element=x), Array(element=y)):
            element = common(x, y)
            return Array(element) if element else None
        case (Multiset(element=x), Multiset(element=y)):
            element = common(x, y)
            return Multiset(element) if element else None
        case (Map(key=k, value=v), Map(key=m, value=w)):
            key, value = common(k, m), common(v, w)
            return Map(key, value) if key and value else None
        case (Row(fields=left), Row(fields=right)) if len(left) == len(right):
            types = [common(x.type, y.type) for x, y in zip(left, right, strict=True)]
            if any(t is None for t in types):
                return None
            named = zip(left, types, strict=True)
            return Row(tuple(Field(f.name, t) for f, t in named if t is not None))
    return None


def with_parts(type_: DataType) -> Iterator[DataType]:
    """The type, and those of what is in its values.

    >>> [part.text() for part in with_parts(Array(Int()))]
    ['ARRAY<INT>', 'INT']
    """
    yield type_
    match type_:
        case Array(element=element) | Multiset(element=element):
            yield from with_parts(element)
        case Map(key=key, value=value):
            yield from with_parts(key)
            yield from with_parts(value)
        case Row(fields=fields):
            for field in fields:
                yield from with_parts(field.type)
