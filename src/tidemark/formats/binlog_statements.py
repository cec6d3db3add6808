"""What a statement in the binary log means for a table, as far as rows do not say it.

Statements are not parsed. Whatever may be about the table is taken for it: whoever asks looks at
the table again.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final

# Between words. What is in comments such as /*!50003 ... */ and /*M!100100 ... */ is meant.
_GAP: Final = rb"(?:\s|/\*(?!M?!).*?\*/|/\*M?!\d*|\*/|--[^\n]*(?:\n|\Z)|#[^\n]*(?:\n|\Z))"
_COMMENT: Final = re.compile(_GAP, re.DOTALL)
_SETTING: Final = re.compile(rb"SET\s+STATEMENT\s.*?\sFOR\s+", re.IGNORECASE | re.DOTALL)
_LEAVING: Final = frozenset(
    {b"SAVEPOINT", b"RELEASE", b"GRANT", b"REVOKE", b"ANALYZE", b"FLUSH"}
    | {b"OPTIMIZE", b"CHECK", b"REPAIR"}
)
# What else is created leaves tables as they are: indexes, triggers, views. A key that is unique may
# bring a hidden column.
_CREATED: Final = re.compile(rb"\b(?:TABLE|UNIQUE|DATABASE|SCHEMA)\b", re.IGNORECASE)
_CHANGING: Final = frozenset({b"INSERT", b"UPDATE", b"DELETE", b"REPLACE", b"LOAD", b"WITH"})
_NAME: Final = rb"`(?:[^`]|``)+`|[^\s`.,;()]+"


def _words(pattern: bytes) -> re.Pattern[bytes]:
    """What matches words with anything between them that MySQL skips."""
    return re.compile(pattern.replace(b" ", _GAP + b"+"), re.IGNORECASE | re.DOTALL)


_TABLES: Final = _words(
    rb"(?:DROP TABLE|CREATE OR REPLACE TABLE|TRUNCATE(?: TABLE)?) "
    rb"(?:IF EXISTS )?((?:%b)(?:\s*[.,]\s*(?:%b))*)" % (_NAME, _NAME)
)
# Of a session, which may have one of the same name.
_TEMPORARY: Final = _words(rb"(?:DROP|CREATE(?: OR REPLACE)?) TEMPORARY ")
_DATABASE: Final = _words(rb"DROP (?:DATABASE|SCHEMA) (?:IF EXISTS )?(%b)" % _NAME)
# These leave the columns as they are, and take or bring rows that are not in the log.
_ALTER: Final = rb"ALTER TABLE (?:IF EXISTS )?(?:%b)(?:\s*[.]\s*(?:%b))? " % (_NAME, _NAME)
_EMPTIES: Final = _words(
    _ALTER
    + rb"(?:(?:DROP|TRUNCATE|EXCHANGE) PARTITION|(?:DISCARD|IMPORT) (?:PARTITION|TABLESPACE))\b"
)
# One that is not unique, and nothing else; dropping one may drop a hidden column.
_ADDS_INDEX: Final = _words(
    _ALTER
    + rb"ADD (?:(?:FULLTEXT|SPATIAL) )?(?:INDEX|KEY)\s*(?:%b)?\s*" % _NAME
    + rb"\([^()]*(?:\([0-9]+\)[^()]*)*\)[\s;]*\Z"
)
# A table that others come from, or refer to, stays as it is. What is renamed may become it.
_OF_ONE: Final = _words(
    rb"(?:ALTER(?: ONLINE)?(?: IGNORE)? TABLE(?: IF EXISTS)?|CREATE TABLE(?: IF NOT EXISTS)?) "
    rb"((?:%b)(?:\s*[.]\s*(?:%b))?)" % (_NAME, _NAME)
)
_MOVES: Final = re.compile(rb"\b(?:RENAME|EXCHANGE|CONVERT)\b", re.IGNORECASE)
# What must not stand beside a name that is meant.
_LETTER: Final = rb"[0-9A-Za-z_$]"


class Meant(Enum):
    OTHER = auto()
    BEGINS = auto()  # a transaction
    COMMITS = auto()
    ROLLS_BACK = auto()  # all of a transaction, or some of it
    TRUNCATES = auto()  # the table, or some of it
    DEFINES = auto()  # it may have other columns now
    DROPS = auto()
    CHANGES = auto()  # rows, but does not say which


def meant(text: bytes, default: str, database: str, table: str) -> Meant:
    """What a statement means for a table of a database; another one may be the default.

    >>> meant(b"/* why */ ALTER TABLE orders ADD note TEXT", "shop", "shop", "orders").name
    'DEFINES'
    >>> meant(b"DROP TABLE `orders`", "shop", "shop", "orders").name
    'DROPS'
    >>> meant(b"DROP TABLE `older`", "shop", "shop", "orders").name
    'OTHER'
    """
    text = _itself(text)
    found = re.match(rb"[A-Za-z]+", text)
    word = found[0].upper() if found else b""
    if word in (b"BEGIN", b"COMMIT", b"ROLLBACK", b"XA"):
        return _of_transaction(word, text)
    if word in (b"DROP", b"TRUNCATE", b"CREATE") and _is_of(text, default, database, table):
        return Meant.TRUNCATES if word == b"TRUNCATE" else Meant.DROPS
    here = default.lower() == database.lower() or _names(text, database)
    if not here or not _names(text, table):
        return Meant.OTHER
    if word in _CHANGING:
        return Meant.CHANGES
    if _leaves_tables(word, text) or _is_of_another(text, default, database, table):
        return Meant.OTHER
    return Meant.TRUNCATES if _EMPTIES.match(text) else Meant.DEFINES


def _leaves_tables(word: bytes, text: bytes) -> bool:
    """Whether a statement leaves the columns of all tables as they are."""
    if word in _LEAVING or _TEMPORARY.match(text) or _ADDS_INDEX.match(text):
        return True
    return word == b"CREATE" and not _CREATED.search(text)


def _of_transaction(word: bytes, text: bytes) -> Meant:
    if word == b"XA":
        following = text[2:].split(None, 1)[:1]
        if following and following[0].upper() in (b"START", b"BEGIN"):
            return Meant.BEGINS
        ends = following and following[0].upper() in (b"COMMIT", b"ROLLBACK")
        return Meant.COMMITS if ends else Meant.OTHER  # of what was prepared before
    return {b"BEGIN": Meant.BEGINS, b"COMMIT": Meant.COMMITS}.get(word, Meant.ROLLS_BACK)


def _is_of(text: bytes, default: str, database: str, table: str) -> bool:
    """Whether a statement drops or empties the table."""
    if (found := _DATABASE.match(text)) is not None:
        return _plain(found[1]) == database
    if (found := _TABLES.match(text)) is None:
        return False
    for written in found[1].split(b","):
        names = [_plain(name) for name in re.findall(_NAME, written)]
        if names and names[-1] == table and (names[-2:-1] or [default]) == [database]:
            return True
    return False


def _is_of_another(text: bytes, default: str, database: str, table: str) -> bool:
    """Whether a statement makes or alters one table, which is not this one. Servers may compare
    names without case, and write others than these characters in several ways.
    """
    found = _OF_ONE.match(text)
    if found is None or _MOVES.search(text) or not f"{database}{table}".isascii():
        return False
    names = [_plain(name).lower() for name in re.findall(_NAME, found[1])]
    own = [*([default.lower()] if len(names) == 1 else []), *names]
    return found[1].isascii() and own != [database.lower(), table.lower()]


def _plain(name: bytes) -> str:
    if name.startswith(b"`"):
        name = name[1:-1].replace(b"``", b"`")
    return name.decode(errors="replace")


def _itself(text: bytes) -> bytes:
    """A statement without the comments and settings before it."""
    at = 0
    while found := _COMMENT.match(text, at) or _SETTING.match(text, at):
        at = found.end()
    return text[at:]


def _names(text: bytes, name: str) -> bool:
    """Whether a name is in a statement. One that may be written in several ways always is, but none
    is written without the characters it has in any character set.
    """
    if text.isascii() and not name.isascii():
        return False
    if not re.fullmatch(r"[\w$ -]+", name, re.ASCII):
        return True
    word = rb"(?<!%b)%b(?!%b)" % (_LETTER, re.escape(name.encode()), _LETTER)
    return re.search(word, text, re.IGNORECASE) is not None
