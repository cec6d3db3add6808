"""Row kinds as codes in a column, and codes as row kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from tidemark.errors import DataError
from tidemark.kernels.columns import KIND

PROBLEM = "FROM_CHANGELOG does not know the op code "


def coded(rows: pl.DataFrame, codes: Mapping[str, str], column: str) -> pl.DataFrame:
    """The rows with the codes of their kinds in a column, without those whose kind has none. Rows
    without kinds are inserts.
    """
    kind = pl.col(KIND) if KIND in rows.columns else pl.lit("+I")
    code = kind.replace_strict(codes, default=None, return_dtype=pl.String)
    return rows.with_columns(code.alias(column)).filter(pl.col(column).is_not_null())


def decoded(rows: pl.DataFrame, column: str, kinds: Mapping[str, str]) -> pl.DataFrame:
    """The rows with the kinds of the codes in a column. Raises DataError for the first code that
    is not known.
    """
    kind = pl.col(column).replace_strict(kinds, default=None, return_dtype=pl.String)
    found = rows.with_columns(kind.alias(KIND))
    if found[KIND].null_count():
        code = found.filter(pl.col(KIND).is_null())[column][0]
        shown = "NULL" if code is None else f"'{code}'"
        raise DataError(PROBLEM + shown, notes={"why": reason(kinds)})
    return found


def reason(known: Iterable[str]) -> str:
    quoted = [f"'{code}'" for code in known]
    return f"the op codes are {', '.join(quoted)}"
