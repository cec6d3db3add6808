"""Columns that a database has sent, in the types of the table's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tidemark.types import DataType

if TYPE_CHECKING:
    import polars as pl


class WrongValue(ValueError):
    """A value in a column that cannot be read: `what` it is, and why."""

    def __init__(self, column: str, what: str, why: str) -> None:
        super().__init__(why)
        self.column, self.what, self.why = column, what, why

    @classmethod
    def of_type(cls, column: str, type_: DataType, problem: Exception) -> WrongValue:
        why = str(problem).splitlines()[0]
        return cls(column, f"a value that is not {type_.text()}", why)


def read_values(
    frame: pl.DataFrame,
    types: Mapping[str, DataType],
    convert: Callable[[pl.Series, DataType], pl.Series],
) -> pl.DataFrame:
    """Columns by the names of the table's, each converted. Raises WrongValue."""
    import polars as pl

    found = []
    for column, type_ in types.items():
        try:
            found.append(convert(frame[column], type_).alias(column))
        except pl.exceptions.PolarsError as problem:
            raise WrongValue.of_type(column, type_, problem) from None
    return pl.DataFrame(found) if found else frame
