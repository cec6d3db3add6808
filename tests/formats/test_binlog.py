"""Rows of the binary log are decoded as if one by one, whatever they are."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.mysql_json_examples import stored
from tests.searching import searched
from tidemark.formats import binlog as b
from tidemark.formats.binlog import BadLogEvent, EventBlock, LoggedColumn
from tidemark.formats.binlog_changes import BinlogDecoder
from tidemark.formats.binlog_rows import NotWhole
from tidemark.formats.binlog_statements import Meant, meant
from tidemark.formats.binlog_values import Meaning, WrongLoggedValue, logged_values

# --- what a server writes, value by value ------------------------------------------------------


PLAIN = Meaning()


@dataclass(frozen=True)
class Kind:
    """A type of column: how a definition names it, its values, and how one is written."""

    type: int
    metadata: bytes
    values: st.SearchStrategy[Any]
    write: Any
    meaning: Meaning = PLAIN


def whole(size: int, *, signed: bool = True) -> Any:
    low, high = (
        (-(1 << 8 * size - 1), (1 << 8 * size - 1) - 1) if signed else (0, (1 << 8 * size) - 1)
    )
    return st.integers(low, high), lambda value: value.to_bytes(size, "little", signed=signed)


def sized(size: int) -> Any:
    return lambda value: len(value).to_bytes(size, "little") + value


def text(size: int) -> Any:
    return lambda value: sized(size)(value.encode())


def written_decimal(digits: int, behind: int) -> Any:
    """As MySQL's manual describes it: groups of nine digits in four bytes, the sign in the first
    bit, all bits turned around if it is negative."""

    def write(value: Decimal) -> bytes:
        unscaled = int(format(value, "f").replace(".", ""))
        written = str(abs(unscaled)).zfill(digits)
        before = digits - behind
        pieces = []
        left = before % 9
        cuts = ([left] if left else []) + [9] * (before // 9) + [9] * (behind // 9)
        cuts += [behind % 9] if behind % 9 else []
        at = 0
        for cut in cuts:
            size = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)[cut]
            pieces.append(int(written[at : at + cut]).to_bytes(size, "big"))
            at += cut
        content = bytearray(b"".join(pieces))
        content[0] ^= 0x80
        return bytes(255 - byte for byte in content) if unscaled < 0 else bytes(content)

    return write


def decimals(digits: int, behind: int) -> st.SearchStrategy[Decimal]:
    largest = 10**digits - 1
    # Not computed: that would round.
    return st.integers(-largest, largest).map(lambda n: Decimal(f"{n}e-{behind}"))


def written_datetime(value: dt.datetime) -> bytes:
    months = value.year * 13 + value.month
    packed = months << 22 | value.day << 17 | value.hour << 12 | value.minute << 6 | value.second
    return (packed | 1 << 39).to_bytes(5, "big") + value.microsecond.to_bytes(3, "big")


def written_time(value: dt.time) -> bytes:
    packed = value.hour << 12 | value.minute << 6 | value.second
    return (packed + 0x800000).to_bytes(3, "big") + (value.microsecond // 100).to_bytes(2, "big")


def tenths_of_ms(value: dt.time) -> dt.time:
    return value.replace(microsecond=value.microsecond // 100 * 100)


def written_date(value: dt.date) -> bytes:
    return (value.year << 9 | value.month << 5 | value.day).to_bytes(3, "little")


DOCUMENTS = st.lists(st.none() | st.integers(-99999, 99999) | st.text(max_size=9), max_size=3)
KINDS = [
    Kind(b.TINY, b"", *whole(1)),
    Kind(b.SHORT, b"", *whole(2, signed=False), Meaning(unsigned=True)),
    Kind(b.INT24, b"", *whole(3)),
    Kind(b.LONG, b"", *whole(4)),
    Kind(b.LONGLONG, b"", *whole(8)),
    Kind(b.LONGLONG, b"", *whole(8, signed=False), Meaning(unsigned=True)),
    Kind(b.YEAR, b"", st.integers(1901, 2155), lambda value: bytes([value - 1900])),
    Kind(b.DECIMAL, bytes([10, 2]), decimals(10, 2), written_decimal(10, 2)),
    Kind(b.DECIMAL, bytes([38, 19]), decimals(38, 19), written_decimal(38, 19)),
    Kind(b.DECIMAL, bytes([18, 18]), decimals(18, 18), written_decimal(18, 18)),
    Kind(b.DATE, b"", st.dates(), written_date),
    Kind(b.DATETIME2, bytes([6]), st.datetimes(), written_datetime),
    Kind(b.TIME2, bytes([4]), st.times().map(tenths_of_ms), written_time),
    Kind(b.VARCHAR, (255).to_bytes(2, "little"), st.binary(max_size=40), sized(1)),
    Kind(b.VARCHAR, (999).to_bytes(2, "little"), st.text(max_size=20), text(2),
         Meaning(character_set="utf8mb4")),
    Kind(b.STRING, bytes([254, 20]), st.binary(max_size=20), sized(1)),
    Kind(b.BLOB, bytes([3]), st.binary(max_size=40), sized(3)),
    Kind(b.JSON, bytes([4]), DOCUMENTS.map(lambda value: json.dumps(value, ensure_ascii=False)),
         lambda value: sized(4)(stored(json.loads(value), large=len(value) % 2 == 1))),
    Kind(b.STRING, bytes([b.ENUM, 1]), st.sampled_from(["x", "y"]),
         lambda value: bytes(["x", "y"].index(value) + 1 for _ in "1"), Meaning(members=("x", "y"))),
    Kind(b.BIT, bytes([1, 1]), st.integers(0, 511), lambda value: value.to_bytes(2, "big")),
]  # fmt: skip
kinds = st.lists(st.sampled_from(KINDS), min_size=1, max_size=10)


def event(type_: int, body: bytes, seconds: int = 7) -> bytes:
    size = b.HEADER + len(body)
    header = seconds.to_bytes(4, "little") + bytes([type_]) + (1).to_bytes(4, "little")
    return header + size.to_bytes(4, "little") + (4).to_bytes(4, "little") + b"\0\0" + body


def defined(columns: list[Kind], *, id_: int = 5, table: str = "t") -> bytes:
    types = bytes(kind.type for kind in columns)
    metadata = b"".join(kind.metadata for kind in columns)
    body = id_.to_bytes(6, "little") + b"\0\0" + b"\4shop\0" + sized(1)(table.encode()) + b"\0"
    body += bytes([len(columns)]) + types + bytes([len(metadata)]) + metadata
    return event(b.TABLE_MAP, body + bytes((len(columns) + 7) // 8))


def row(columns: list[Kind], values: tuple[Any, ...]) -> bytes:
    nulls = sum((value is None) << n for n, value in enumerate(values))
    written = [k.write(v) for k, v in zip(columns, values, strict=True) if v is not None]
    return nulls.to_bytes((len(columns) + 7) // 8, "little") + b"".join(written)


def rows_event(
    type_: int, columns: list[Kind], rows: list[tuple[Any, ...]], *, id_: int = 5, missing: int = 0
) -> bytes:
    extra = b"\2\0" if type_ in (30, 31, 32) else b""
    bitmap = ((1 << len(columns)) - 1 - missing).to_bytes((len(columns) + 7) // 8, "little")
    bitmaps = bitmap * (2 if type_ in b.UPDATE_ROWS else 1)
    head = id_.to_bytes(6, "little") + b"\0\0" + extra + bytes([len(columns)]) + bitmaps
    return event(type_, head + b"".join(row(columns, each) for each in rows))


def decoded(block: EventBlock, columns: list[Kind], decoder: BinlogDecoder) -> Iterator[Any]:
    for changes in decoder.changes(block):
        found = changes.rows
        values = [logged_values(found, n, kind.meaning).to_list() for n, kind in enumerate(columns)]
        yield from zip(changes.kinds([0]), *values, strict=True)


# --- properties --------------------------------------------------------------------------------


@st.composite
def changed(draw: Any) -> tuple[list[Kind], list[tuple[int, list[tuple[Any, ...]]]]]:
    """Columns, and events with rows of them."""
    columns = draw(kinds)
    one = st.tuples(*(st.one_of(st.none(), kind.values) for kind in columns))
    events = []
    for type_ in draw(st.lists(st.sampled_from([23, 24, 25, 30, 31, 32]), max_size=5)):
        rows = draw(st.lists(one, min_size=1, max_size=4))
        events.append((type_, rows if type_ not in b.UPDATE_ROWS else [*rows, *rows[::-1]]))
    return columns, events


@searched(60)
@given(changed(), st.data())
def test_rows_are_those_that_were_written_one_by_one(told: Any, data: st.DataObject):
    columns, events = told
    expected = []
    for type_, rows in events:
        if type_ in b.UPDATE_ROWS:
            for old, new in zip(rows[::2], rows[1::2], strict=True):
                kinds = ("-U", "+U") if old[0] == new[0] else ("-D", "+I")
                expected += [(kinds[0], *old), (kinds[1], *new)]
        else:
            kind = "+I" if type_ in b.WRITE_ROWS else "-D"
            expected += [(kind, *each) for each in rows]
    log = [defined(columns)]
    for type_, rows in events:
        log.append(rows_event(type_, columns, rows))
        # Rows of another table, and the same definition again.
        log += [defined(columns, id_=6, table="tt"), rows_event(23, columns, rows[:1], id_=6)]
        log += [defined(columns)] if data.draw(st.booleans()) else []
    cut = data.draw(st.integers(0, len(log)))
    decoder = BinlogDecoder("shop", "t")

    found = [
        one
        for part in (log[:cut], log[cut:])
        if part
        for one in decoded(EventBlock.of(part), columns, decoder)
    ]

    assert found == expected


@searched(40)
@given(st.integers(1, 65), st.data())
def test_decimals_of_any_size(digits: int, data: st.DataObject):
    behind = data.draw(st.integers(0, min(digits, 38)))
    values = data.draw(st.lists(decimals(digits, behind), min_size=1, max_size=5))
    kind = Kind(b.DECIMAL, bytes([digits, behind]), decimals(1, 0), written_decimal(digits, behind))
    block = EventBlock.of([defined([kind]), rows_event(30, [kind], [(each,) for each in values])])

    found = [value for _, value in decoded(block, [kind], BinlogDecoder("shop", "t"))]

    assert [Decimal(value) for value in found] == values


def test_a_definition_holds_until_another_one_or_another_file():
    one, other = [KINDS[0]], [KINDS[0], KINDS[3]]
    log = [
        defined(one, id_=5), rows_event(23, one, [(1,)]),
        defined(other, id_=8), rows_event(23, other, [(2, 20)], id_=8),
        event(b.FORMAT, b"new file"), rows_event(23, one, [(9,)], id_=8),
        defined(one, id_=5), rows_event(23, one, [(3,)]),
    ]  # fmt: skip
    found = [
        changes.rows.starts.shape[1]
        for changes in BinlogDecoder("shop", "t").changes(EventBlock.of(log))
    ]
    assert found == [1, 2, 1]


def test_rows_that_lack_columns_are_an_error():
    columns = [KINDS[0], KINDS[3]]
    log = [defined(columns), rows_event(24, columns, [(1, 2), (1, 3)], missing=2)]
    with pytest.raises(NotWhole):
        list(BinlogDecoder("shop", "t").changes(EventBlock.of(log)))


@pytest.mark.parametrize("damage", [b"\0\0\0\0\0\0\0", b"\0\x09"])
def test_rows_that_are_cut_off_are_an_error(damage):
    columns = [KINDS[3], KINDS[13]]
    whole_ = rows_event(23, columns, [(1, b"abc")])
    with pytest.raises(BadLogEvent):
        list(BinlogDecoder("shop", "t").changes(EventBlock.of([defined(columns), whole_ + damage])))


def test_a_value_that_is_no_date_is_an_error():
    kind = Kind(b.DATE, b"", st.none(), lambda value: value)
    wrong = (2023 << 9 | 2 << 5 | 30).to_bytes(3, "little")
    block = EventBlock.of([defined([kind]), rows_event(23, [kind], [(None,), (wrong,)])])
    with pytest.raises(WrongLoggedValue, match="2023-02-30"):
        list(decoded(block, [kind], BinlogDecoder("shop", "t")))


def test_a_string_type_says_how_long_it_is():
    # MySQL hides two bits of the size in those of the type.
    assert b._column(b.STRING, bytes([0xEE, 0xFC])) == LoggedColumn(b.STRING, 0x1FC)


# --- statements --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("BEGIN", Meant.BEGINS),
        ("XA START X'01',X'',1", Meant.BEGINS),
        ("XA COMMIT X'01',X'',1", Meant.COMMITS),
        ("ROLLBACK TO `s`", Meant.ROLLS_BACK),
        ("alter table t add x int", Meant.DEFINES),
        ("/* it's */ -- so\n ALTER /*!50000 IGNORE */ TABLE `shop`.`t` DROP x", Meant.DEFINES),
        ("/*!50003 ALTER TABLE t DROP x */", Meant.DEFINES),
        ("ALTER TABLE tt ADD x INT", Meant.OTHER),
        ("ALTER TABLE tt ADD FOREIGN KEY (x) REFERENCES t (x)", Meant.OTHER),
        ("ALTER TABLE old.t ADD x INT", Meant.OTHER),
        ("ALTER TABLE tt RENAME TO t", Meant.DEFINES),
        ("ALTER TABLE tt EXCHANGE PARTITION p WITH TABLE t", Meant.TRUNCATES),
        ("ALTER ONLINE TABLE IF EXISTS Shop . `T` ADD x INT", Meant.DEFINES),
        ("CREATE TABLE `_t_gho` LIKE `shop`.`t`", Meant.OTHER),
        ("CREATE TABLE IF NOT EXISTS tt AS SELECT * FROM t", Meant.OTHER),
        ("RENAME TABLE t TO _t_old, _t_new TO t", Meant.DEFINES),
        ("CREATE INDEX i ON t (x)", Meant.OTHER),
        ("CREATE UNIQUE INDEX i ON t (x)", Meant.DEFINES),
        ("ALTER TABLE t ADD INDEX (x)", Meant.OTHER),
        ("alter table `shop`.`t`\n  add key `i` (x(10), `y`)", Meant.OTHER),
        ("ALTER TABLE t ADD INDEX i (x), ADD y INT", Meant.DEFINES),
        ("ALTER TABLE t ADD INDEX i (x), ADD y VARCHAR(2)", Meant.DEFINES),
        ("ALTER TABLE t ADD UNIQUE INDEX i (x)", Meant.DEFINES),
        ("ALTER TABLE t ADD index_ VARCHAR(2)", Meant.DEFINES),
        ("ALTER TABLE t DROP INDEX i", Meant.DEFINES),
        (
            "CREATE DEFINER=`me`@`%` TRIGGER i AFTER INSERT ON t FOR EACH ROW SET @x = 1",
            Meant.OTHER,
        ),
        ("CREATE TABLE t (x INT)", Meant.DEFINES),
        ("SET STATEMENT max_statement_time = 0 FOR DROP TABLE t", Meant.DROPS),
        ("OPTIMIZE TABLE t", Meant.OTHER),
        ("SAVEPOINT `t`", Meant.OTHER),
        ("DROP TABLE IF EXISTS `_t_old`", Meant.OTHER),
        ("DROP TABLE `a`,`shop`.`t` /* generated by server */", Meant.DROPS),
        ("DROP TABLE old.t", Meant.DEFINES),
        ("DROP TEMPORARY TABLE IF EXISTS t", Meant.OTHER),
        ("DROP /*!40005 TEMPORARY */ TABLE IF EXISTS `t`", Meant.OTHER),
        ("CREATE TEMPORARY TABLE t (x INT)", Meant.OTHER),
        ("CREATE OR REPLACE TABLE t (x INT)", Meant.DROPS),
        ("CREATE OR /* or not */ REPLACE -- so\n TABLE t (x INT)", Meant.DROPS),
        ("/*M!100100 ALTER TABLE t DROP x */", Meant.DEFINES),
        ("/*M!100100 TRUNCATE */ TABLE t", Meant.TRUNCATES),
        ("TRUNCATE/* why */t", Meant.TRUNCATES),
        ("ALTER TABLE t DROP /* old */ PARTITION p", Meant.TRUNCATES),
        ("DROP DATABASE shop", Meant.DROPS),
        ("TRUNCATE TABLE t", Meant.TRUNCATES),
        ("ALTER TABLE t DROP PARTITION p", Meant.TRUNCATES),
        ("ALTER TABLE `shop`.`t` IMPORT TABLESPACE", Meant.TRUNCATES),
        ("ALTER TABLE t ADD x INT COMMENT 'of drop partition'", Meant.DEFINES),
        ("TRUNCATE old.t", Meant.DEFINES),
        ("INSERT INTO t VALUES (1)", Meant.CHANGES),
        ("INSERT INTO other VALUES (1)", Meant.OTHER),
        ("GRANT SELECT ON t TO me", Meant.OTHER),
    ],
)
def test_what_a_statement_means(statement, expected):
    assert meant(statement.encode(), "shop", "shop", "t") is expected


@pytest.mark.parametrize("encoding", ["utf-8", "gbk"])
def test_a_name_beyond_ascii_is_not_in_a_statement_of_ascii(encoding):
    def found(statement: str) -> Meant:
        return meant(statement.encode(encoding), "shop", "shop", "订单")

    assert found("ALTER TABLE other ADD x INT") is Meant.OTHER
    assert found("ALTER TABLE 订单 ADD x INT") is Meant.DEFINES
    assert found("CREATE TABLE other LIKE 订单") is Meant.DEFINES


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("ALTER TABLE t ADD x INT", Meant.OTHER),
        ("RENAME TABLE t TO _t_old, _t_new TO t", Meant.OTHER),
        ("ALTER TABLE shop.t ADD x INT", Meant.DEFINES),
        ("RENAME TABLE t TO shop.t", Meant.DEFINES),
    ],
)
def test_a_table_of_the_same_name_in_another_database_is_another_one(statement, expected):
    assert meant(statement.encode(), "tenant", "shop", "t") is expected


def test_polars_takes_values_from_the_log_as_they_are():
    kind = KINDS[13]
    rows = [(b"short",), (b"longer than twelve bytes",), (None,), (b"",)]
    block = EventBlock.of([defined([kind]), rows_event(23, [kind], rows)])
    (changes,) = BinlogDecoder("shop", "t").changes(block)
    assert changes.rows.binary(0).to_list() == [value for (value,) in rows]
    assert changes.rows.binary(0).dtype == pl.Binary
