"""Parses the types of Flink SQL in all their spellings."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from tidemark import types as t
from tidemark.dialect import unsupported
from tidemark.dialect.cursor import NAME, NUMBER, STRING, Cursor
from tidemark.dialect.literals import string_of
from tidemark.errors import nearest

_PLAIN: dict[str, t.DataType] = {
    "BOOLEAN": t.Boolean(),
    "TINYINT": t.TinyInt(),
    "SMALLINT": t.SmallInt(),
    "INT": t.Int(),
    "INTEGER": t.Int(),
    "BIGINT": t.BigInt(),
    "FLOAT": t.Float(),
    "DATE": t.Date(),
    "STRING": t.STRING,
    "BYTES": t.BYTES,
    "NULL": t.Null(),
}

# What types of other databases are called here.
_ELSEWHERE = {
    **dict.fromkeys(("TEXT", "NVARCHAR", "VARCHAR2", "UUID", "JSON", "JSONB"), "STRING"),
    **dict.fromkeys(("LONG", "INT64", "INT8", "UINT64"), "BIGINT"),
    **dict.fromkeys(("INT32", "INT4"), "INT"),
    "BOOL": "BOOLEAN",
    "FLOAT64": "DOUBLE",
    **dict.fromkeys(("NUMBER", "BIGDECIMAL"), "DECIMAL(p, s)"),
    **dict.fromkeys(("DATETIME", "DATETIME2"), "TIMESTAMP(3)"),
    "TIMESTAMPTZ": "TIMESTAMP_LTZ(3)",
    "BLOB": "BYTES",
    "STRUCT": "ROW<...>",
}

_DAY_TIME = ("DAY", "HOUR", "MINUTE", "SECOND")
_YEAR_MONTH = ("YEAR", "MONTH")
UNITS = {
    unit + plural: unit
    for unit in (*_YEAR_MONTH, "QUARTER", "WEEK", *_DAY_TIME)
    for plural in ("", "S")
}


class TypeParser(Cursor):
    """Adds `data_type` to a cursor."""

    def data_type(self) -> t.DataType:
        """A type with its nullability."""
        with self.deeper():
            found = self._maybe_not_null(self._bare_type())
            while self.at("ARRAY", "MULTISET"):
                found = self._maybe_not_null(self._collection_of(found))
            return found

    def _collection_of(self, element: t.DataType) -> t.DataType:
        """`element ARRAY` or `element MULTISET`"""
        return t.Array(element) if self.next().text.upper() == "ARRAY" else t.Multiset(element)

    def cast_type(self) -> t.DataType:
        """The target of a cast, which has no nullability of its own."""
        found = self._bare_type()
        while self.at("ARRAY", "MULTISET"):
            found = self._collection_of(found)
        if self.sees("NOT", "NULL"):
            self.fail(
                "the target of a cast cannot be NOT NULL",
                hint="a cast keeps the nullability of its operand",
            )
        return found

    def _maybe_not_null(self, found: t.DataType) -> t.DataType:
        if self.take("NOT", "NULL"):
            return found.with_nullable(False)
        self.take("NULL")
        return found

    def _bare_type(self) -> t.DataType:
        word = self.key
        if word in unsupported.TYPE.each:
            self.refuse(unsupported.TYPE, word)
        if word in _PLAIN:
            self.here += 1
            return _PLAIN[word]
        read = self._WITH_PARAMETERS.get(word)
        if read is None:
            self._fail_no_type()
        self.here += 1
        return read(self)

    def _fail_no_type(self) -> NoReturn:
        if self.key == NAME or self.at_word():
            text = self.token.text
            known = _ELSEWHERE.get(text.upper()) or nearest(text, [*_PLAIN, *self._WITH_PARAMETERS])
            hint = f"did you mean {known}?" if known else "user-defined types are not supported"
            self.fail(f"`{text}` is not a type", hint=hint)
        self.fail_expecting("a type")

    # --- types with parameters -----------------------------------------------------------------

    def _double_type(self) -> t.DataType:
        self.take("PRECISION")
        return t.Double()

    def _decimal_type(self) -> t.DataType:
        if not self.take("("):
            return t.Decimal()
        precision = self._integer(1, t.MAX_DECIMAL_PRECISION, "the precision of a DECIMAL")
        scale = 0
        if self.take(","):
            scale = self._integer(0, precision, "the scale of a DECIMAL")
        self.expect(")")
        return t.Decimal(precision, scale)

    def _character_type(self) -> t.DataType:
        if self.take("VARYING"):
            return self._varchar_type()
        return self._in_any_character_set(t.Char(self._length("CHAR", default=1)))

    def _varchar_type(self) -> t.DataType:
        found = t.VarChar(self._length("VARCHAR", default=t.MAX_LENGTH))
        return self._in_any_character_set(found)

    def _in_any_character_set(self, found: t.DataType) -> t.DataType:
        """`CHARACTER SET name` has no effect, as in Flink: strings are Unicode."""
        if self.take("CHARACTER", "SET"):
            self.name("a character set")
        return found

    def _binary_type(self) -> t.DataType:
        if self.take("VARYING"):
            return self._varbinary_type()
        return t.Binary(self._length("BINARY", default=1))

    def _varbinary_type(self) -> t.DataType:
        return t.VarBinary(self._length("VARBINARY", default=t.MAX_LENGTH))

    def _time_type(self) -> t.DataType:
        start = self.here - 1
        precision = self._fraction("TIME", default=0)
        self._without_time_zone(start)
        return t.Time(precision)

    def _timestamp_type(self) -> t.DataType:
        start = self.here - 1
        precision = self._fraction("TIMESTAMP", default=6)
        if self.take("WITH", "LOCAL", "TIME", "ZONE"):
            return t.TimestampLtz(precision)
        self._without_time_zone(start)
        return t.Timestamp(precision)

    def _without_time_zone(self, start: int) -> None:
        if self.take("WITH", "TIME", "ZONE"):
            self.refuse(unsupported.WITH_TIME_ZONE, start=start)
        self.take("WITHOUT", "TIME", "ZONE")

    def _timestamp_ltz_type(self) -> t.DataType:
        return t.TimestampLtz(self._fraction("TIMESTAMP_LTZ", default=6))

    def _interval_type(self) -> t.DataType:
        first, last, _, _ = self.interval_units()
        if first in ("YEAR", "QUARTER", "MONTH"):
            return t.YearMonthInterval(first=first, last=last or first)
        return t.DayTimeInterval(first=first, last=last or first)

    def interval_units(self) -> tuple[str, str | None, int | None, int | None]:
        """`DAY(2) TO SECOND(3)`: first unit, last unit, digits of the first, of the fraction."""
        first = UNITS[self.expect_any(*UNITS)]
        precision = fraction = None
        if self.take("("):
            precision = self._integer(1, 10, "the precision of an interval")
            if first == "SECOND" and self.take(","):
                fraction = self._integer(0, 9, "the precision of fractional seconds")
            self.expect(")")
        last = self._last_unit(first)
        if last == "SECOND" and self.take("("):
            fraction = self._integer(0, 9, "the precision of fractional seconds")
            self.expect(")")
        return first, last, precision, fraction

    def _last_unit(self, first: str) -> str | None:
        for family in (_YEAR_MONTH, _DAY_TIME):
            finer = family[family.index(first) + 1 :] if first in family else ()
            if finer and self.take("TO"):
                spellings = [word for word, unit in UNITS.items() if unit in finer]
                if self.key not in spellings:
                    self.fail(f"an interval from {first} must end in {' or '.join(finer)}")
                return UNITS[self.next().text.upper()]
        return None

    def _array_type(self) -> t.DataType:
        self.expect("<")
        element = self.data_type()
        self._close_angle()
        return t.Array(element)

    def _multiset_type(self) -> t.DataType:
        self.expect("<")
        element = self.data_type()
        self._close_angle()
        return t.Multiset(element)

    def _map_type(self) -> t.DataType:
        self.expect("<")
        key = self.data_type()
        self.expect(",")
        value = self.data_type()
        self._close_angle()
        return t.Map(key, value)

    def _row_type(self) -> t.DataType:
        if self.take("<>"):
            return t.Row()
        close = ">" if self.expect_any("<", "(") == "<" else ")"
        if self.take(close):
            return t.Row()
        return t.Row(tuple(self.enclosed(self._type_field, close)))

    def _type_field(self) -> t.Field:
        name = self.name("a field name")
        type_ = self.data_type()
        comment = string_of(self) if self.at(STRING) else None
        return t.Field(name, type_, comment)

    def _close_angle(self) -> None:
        self.expect_close(">")

    # --- numbers -------------------------------------------------------------------------------

    def _length(self, type_name: str, default: int) -> int:
        if not self.take("("):
            return default
        length = self._integer(1, t.MAX_LENGTH, f"the length of a {type_name}")
        self.expect(")")
        return length

    def _fraction(self, type_name: str, default: int) -> int:
        if not self.take("("):
            return default
        precision = self._integer(0, 9, f"the precision of a {type_name}")
        self.expect(")")
        return precision

    def _integer(self, least: int, most: int, what: str) -> int:
        if not self.at(NUMBER):
            self.fail_expecting(what)
        text = self.token.text
        if not text.isdecimal() or len(text) > 10 or not least <= int(text) <= most:
            self.fail(f"{what} must be between {least} and {most}, not {text}")
        self.here += 1
        return int(text)

    _WITH_PARAMETERS: dict[str, Callable[[TypeParser], t.DataType]] = {  # noqa: RUF012
        "DOUBLE": _double_type,
        "DECIMAL": _decimal_type,
        "DEC": _decimal_type,
        "NUMERIC": _decimal_type,
        "CHAR": _character_type,
        "CHARACTER": _character_type,
        "VARCHAR": _varchar_type,
        "BINARY": _binary_type,
        "VARBINARY": _varbinary_type,
        "TIME": _time_type,
        "TIMESTAMP": _timestamp_type,
        "TIMESTAMP_LTZ": _timestamp_ltz_type,
        "INTERVAL": _interval_type,
        "ARRAY": _array_type,
        "MULTISET": _multiset_type,
        "MAP": _map_type,
        "ROW": _row_type,
    }
