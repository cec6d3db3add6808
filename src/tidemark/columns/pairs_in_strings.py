"""The entries of a string such as `a=1,b=2`, between separators that mean themselves."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import polars as pl

from tidemark.columns.call import ColumnCall, WriteColumn
from tidemark.columns.refusals import NotInColumns

# What is not a pattern of more than its own characters, and a character after a backslash.
_PLAIN: Final = re.compile(r"[^\\.+*?()|\[\]{}^$]+|\\[^A-Za-z0-9]", re.DOTALL)
_ENTRIES: Final = pl.List(pl.Struct({"key": pl.String, "value": pl.String}))


def _str_to_map(call: ColumnCall) -> pl.Expr:
    between, within = _separator(call, 1, ","), _separator(call, 2, "=")
    return call.active.batches(_maps(between, within), call.args[:1], call.result)


def _separator(call: ColumnCall, place: int, default: str) -> str:
    if place >= len(call.args):
        return default
    pattern = call.constant(place, "a separator")
    if not isinstance(pattern, str) or not _PLAIN.fullmatch(pattern):
        raise NotInColumns("STR_TO_MAP with a pattern as a separator")
    return pattern.removeprefix("\\")


def _maps(between: str, within: str) -> Callable[[pl.Series], pl.Series]:
    """Empty pairs at the end are none; the last value of a key wins."""
    at_the_end = rf"(?:{pl.escape_regex(between)})+\z"

    def compute(strings: pl.Series) -> pl.Series:
        rows = pl.DataFrame({"text": strings}).with_row_index("row")
        pairs = (
            rows.with_columns(pl.col("text").str.replace(at_the_end, ""))
            .filter(pl.col("text") != "")
            .select("row", pair=pl.col("text").str.split(between))
            .explode("pair")
        )
        parts = pl.col("pair").str.splitn(within, 2).struct.rename_fields(["key", "value"])
        entries = pairs.select("row", entry=parts).unnest("entry")
        last = entries.unique(["row", "key"], keep="last", maintain_order=True)
        maps = last.group_by("row").agg(entries=pl.struct("key", "value"))
        found = rows.join(maps, on="row", how="left", maintain_order="left")
        none = pl.lit([], dtype=_ENTRIES)
        known = pl.when(pl.col("text").is_not_null()).then(pl.col("entries").fill_null(none))
        return found.select(known.cast(_ENTRIES).cast(pl.Map(pl.String, pl.String))).to_series()

    return compute


COLUMNS: dict[str, WriteColumn] = {"STR_TO_MAP": _str_to_map}
