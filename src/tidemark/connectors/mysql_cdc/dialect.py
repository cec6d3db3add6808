"""Types that Flink CDC reads columns as, and the connector `jdbc` does not."""

from __future__ import annotations

from typing import Final

from tidemark import types as t
from tidemark.connectors.jdbc.contract import StoredColumn
from tidemark.connectors.jdbc.mysql.connections import name
from tidemark.connectors.jdbc.mysql.dialect import MysqlDialect

INTEGERS: Final = frozenset({"tinyint", "smallint", "mediumint", "int", "bigint", "year"})


def is_integer(stored: str, wanted: t.DataType) -> bool:
    """Whether a type of MySQL is read as integers. Those declared may be too small for it, such as
    INT for its INT UNSIGNED: a value that does not fit is an error, as few tables have one.
    """
    integers = t.TinyInt | t.SmallInt | t.Int | t.BigInt
    return stored.removesuffix(" unsigned") in INTEGERS and isinstance(wanted, integers)


def is_bits(stored: str, wanted: t.DataType) -> bool:
    """Whether it is BIT(n), read as bytes: the lowest one first."""
    return stored == "bit" and isinstance(wanted, t.Binary | t.VarBinary)


def is_members(stored: str, wanted: t.DataType) -> bool:
    """Whether it is SET, read as a list of its members."""
    return stored == "set" and _is_list(wanted)


def is_rounded(stored: str, wanted: t.DataType) -> bool:
    """Whether it is DECIMAL, read as the nearest number with a floating point."""
    decimal = stored.removesuffix(" unsigned") == "decimal"
    return decimal and isinstance(wanted, t.Float | t.Double)


def is_own(stored: str, wanted: t.DataType) -> bool:
    """Whether it is read by one of these rules."""
    rules = (is_integer, is_bits, is_members, is_rounded)
    return any(rule(stored, wanted) for rule in rules)


def _is_list(type_: t.DataType) -> bool:
    return isinstance(type_, t.Array) and isinstance(type_.element, t.CHARACTERS)


class CdcDialect(MysqlDialect):
    """Reads columns as changes have them."""

    def is_known(self, type_: t.DataType) -> bool:
        return _is_list(type_) or super().is_known(type_)

    def asked(self, column: StoredColumn, wanted: t.DataType, table: str) -> str | None:
        own = f"{table}{name(column.name)}"
        if is_bits(column.type, wanted):
            return f"REVERSE(CAST({own} AS BINARY))"
        if is_own(column.type, wanted):
            return own
        found = super().asked(column, wanted, table)
        if found and column.type in ("date", "datetime") and isinstance(wanted, t.CHARACTERS):
            # A zero date is NULL, as in all other types.
            return f"IF(YEAR({own}) * MONTH({own}) * DAY({own}) = 0, NULL, {found})"
        return found
