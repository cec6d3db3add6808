"""Rows on their way into a table: they wait beside it until all have come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.connectors.last_changes import GONE, last_changes, with_gone
from tidemark.types import DataType

if TYPE_CHECKING:
    import polars as pl

# Columns of staged rows, besides GONE: which attempt of a task has sent a row, and in which of its
# pieces.
ATTEMPT, PIECE = "attempt", "piece"


@dataclass(frozen=True, slots=True)
class Staging:
    """Where rows wait, under this name, and the columns that they have there: `c0`, `c1`, ..."""

    name: str
    types: tuple[DataType, ...]
    keys: tuple[int, ...]  # the places of the primary key's columns
    # Whether rows come with the rows that they replace.
    retracts: bool

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(f"c{place}" for place in range(len(self.types)))

    def piece(self, rows: pl.DataFrame, attempt: int, number: int) -> pl.DataFrame:
        """Rows as they are sent: of a key the last one."""
        import polars as pl

        own = [pl.lit(attempt).alias(ATTEMPT), pl.lit(number, pl.Int64).alias(PIECE)]
        return self._last(rows).select(*own, GONE, *self.columns)

    def _last(self, rows: pl.DataFrame) -> pl.DataFrame:
        rows = with_gone(rows, self.columns)
        if not self.keys:
            return rows
        keys = [self.columns[place] for place in self.keys]
        return last_changes(rows, keys, retracts=self.retracts)

    def latest(self, rows: str) -> str:
        """SQL for the last row of each key among staged ones: that of a task, and of several tasks
        one that stays, because a row that has moved between them is gone in one.
        """
        keys = ", ".join(self.columns[place] for place in self.keys)
        columns = ", ".join([ATTEMPT, GONE, *self.columns])
        of_task = f"ROW_NUMBER() OVER (PARTITION BY {ATTEMPT}, {keys} ORDER BY {PIECE} DESC)"
        of_tasks = (
            f"SELECT {columns}, n FROM (SELECT *, {of_task} AS n FROM ({rows}) AS s) AS numbered"
        )
        of_key = f"ROW_NUMBER() OVER (PARTITION BY {keys} ORDER BY {GONE})"
        ranked = f"SELECT *, {of_key} AS of_key FROM ({of_tasks} WHERE n = 1) AS last_of_tasks"
        return f"SELECT {columns} FROM ({ranked}) AS ranked WHERE of_key = 1"
