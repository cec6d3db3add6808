"""Columns as the server describes them: the log has neither their names nor what bytes mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tidemark import types as t
from tidemark.connectors.jdbc.contract import StoredColumn
from tidemark.connectors.jdbc.mysql.types import asked
from tidemark.connectors.mysql_cdc.dialect import INTEGERS, is_own

# Types whose values the log has in a form that can be written as a string.
_WRITTEN: Final = INTEGERS.union(
    ("decimal", "date", "time", "datetime", "timestamp", "enum", "set", "char", "varchar"),
    ("tinytext", "text", "mediumtext", "longtext", "json"),
)


@dataclass(frozen=True, slots=True)
class KnownColumn:
    name: str
    type: str  # as in `int`
    written: str  # as in `int(11) unsigned`
    character_set: str | None
    octets: int | None  # the most bytes of a string
    digits: tuple[int, int] | None  # of a number: all, and those after the point
    precision: int | None  # of a time: digits of seconds
    in_key: bool
    virtual: bool  # whether it is computed when it is read

    @classmethod
    def of(cls, row: Sequence[str | None]) -> KnownColumn:
        """A row of the information schema."""
        name, type_, written, character_set, octets, digits, scale, precision, key, virtual = row
        return cls(
            str(name),
            str(type_).lower(),
            str(written),
            character_set,
            None if octets is None else int(octets),
            None if digits is None else (int(digits), int(scale or 0)),
            None if precision is None else int(precision),
            key == "1",
            virtual == "1",
        )

    @classmethod
    def of_hash(cls) -> KnownColumn:
        """A column that MariaDB hides. It has no name."""
        return cls("", "bigint", "bigint unsigned", None, None, (20, 0), None, False, True)

    @property
    def attributes(self) -> str:
        """What is written of the type; not the names of members, which may be any."""
        return "" if self.type in ("enum", "set") else self.written.lower()

    @property
    def unsigned(self) -> bool:
        return "unsigned" in self.attributes

    @property
    def stored(self) -> StoredColumn:
        """The same for connector `jdbc`."""
        type_ = f"{self.type} unsigned" if self.unsigned else self.type
        return StoredColumn(self.name, type_, self.written, self.digits)

    @property
    def members(self) -> tuple[str, ...]:
        """The values of an ENUM or a SET.

        >>> row = ("x", "enum", r"enum('a','it''s','b\\\\n')", *[None] * 7)
        >>> KnownColumn.of(row).members
        ('a', "it's", 'b\\\\n')
        """
        if self.type not in ("enum", "set"):
            return ()
        found = re.findall(r"'((?:[^']|'')*)'", self.written)
        return tuple(re.sub(r"''|\\.", _unescaped, member) for member in found)


def _unescaped(escaped: re.Match[str]) -> str:
    last = escaped[0][-1]
    return {"n": "\n", "r": "\r", "0": "\0"}.get(last, last)


def is_moment(column: KnownColumn, wanted: t.DataType) -> bool:
    """Whether it is read as what clocks show in the zone of the server."""
    return column.type == "timestamp" and isinstance(wanted, t.Timestamp | t.Char | t.VarChar)


def not_readable(column: KnownColumn, wanted: t.DataType) -> str | None:
    """Why a column cannot be read as a type, maybe no reason; None if it can be."""
    if column.virtual:
        return "it is computed when it is read, and not in the log: declare `name AS expression`"
    if "compressed" in column.attributes:
        return "the log has it compressed"
    if is_moment(column, wanted) or is_own(column.stored.type, wanted):
        return None
    if asked(column.stored, wanted, "") is None:
        return ""
    if isinstance(wanted, t.CHARACTERS):
        if column.type not in _WRITTEN:
            return "changes do not have it as a string"
        return _unknown_character_set(column)
    return None


def _unknown_character_set(column: KnownColumn) -> str | None:
    from tidemark.formats.mysql_charsets import CHARACTER_SETS

    known = column.character_set is None or column.type in ("enum", "set")
    if known or column.character_set in CHARACTER_SETS:
        return None
    return f"its character set {column.character_set} is not supported: convert it to utf8mb4"
