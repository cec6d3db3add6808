"""The values of a file's partition columns, which are in the names of its folders."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from tidemark import types as t
from tidemark.connectors.filesystem.partition_columns import WITH_STRING
from tidemark.connectors.filesystem.places import escaped
from tidemark.errors import DataError

if TYPE_CHECKING:
    import polars as pl

# As Java writes a time whose seconds are zero.
_WITHOUT_SECONDS = re.compile(r"[^:]*:[^:]*")


def can_read(type_: t.DataType) -> bool:
    return isinstance(type_, WITH_STRING)


@lru_cache(1000)
def value_of(file: str, column: str, type_: t.DataType, default: str) -> pl.Series:
    """The value that a column has in all rows of a file, as a column of one row. A folder with the
    name `default` has none.
    """
    # Not before a worker has been forked: this loads Polars.
    from tidemark.formats.column_types import series
    from tidemark.formats.exact_values import NotAValue, Spelling, reader

    found = re.search(rf".*/{re.escape(escaped(column))}=([^/]*)/", file)
    text = found[1] if found else ""
    value = None
    if text not in ("", default):
        try:
            value = reader(type_, Spelling(loose_dates=True))(_as_in_sql(unquote(text), type_))
        except NotAValue:
            raise DataError(
                f"{file}  cannot read the partition value `{column}` as {type_.text()}",
                notes={"why": "the folder name does not match the column type", "value": text},
            ) from None
    return series([value], type_, column)


def _as_in_sql(text: str, type_: t.DataType) -> str:
    """A time without T, and with seconds."""
    if not isinstance(type_, t.Timestamp):
        return text
    spaced = text.replace("T", " ")
    return f"{spaced}:00" if _WITHOUT_SECONDS.fullmatch(spaced) else spaced
