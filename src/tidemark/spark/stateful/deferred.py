"""DataFrames that are made when something needs them.

Spark analyzes each DataFrame that is made, which takes it some ten milliseconds. Rows that workers
pass on in packed columns are never needed as rows of Spark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, Union

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Deferred:
    """A DataFrame that is made once, for all who have this."""

    make: Callable[[], DataFrame]

    @cached_property
    def frame(self) -> DataFrame:
        return self.make()


Rows: TypeAlias = Union["DataFrame", Deferred]


def made(rows: Rows) -> DataFrame:
    return rows.frame if isinstance(rows, Deferred) else rows
