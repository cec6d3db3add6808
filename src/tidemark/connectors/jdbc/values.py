"""Columns that a database has sent, in the types of the table's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from tidemark.types import DataType, Decimal

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


# --- strings -----------------------------------------------------------------------------------

_NUMBER: Final = r"\A\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*\z"


def decimals_of(strings: pl.Series, wanted: Decimal) -> pl.Series:
    """Rounded half up, and NULL if there are too many digits, as Flink reads decimals. Raises what
    Polars raises if one is not a number.
    """
    import polars as pl

    from tidemark.columns import decimal_strings

    if not strings.str.contains(_NUMBER).fill_null(True).all():
        raise pl.exceptions.InvalidOperationError("a string that is not a number")
    computed = decimal_strings.of_string(pl.col(strings.name).str.strip_chars(), wanted)
    return strings.to_frame().select(computed).to_series()


def times_of(strings: pl.Series, precision: int) -> pl.Series:
    """Times of the day, rounded down to digits of seconds."""
    import polars as pl

    step = 10 ** (9 - min(precision, 6))
    read = strings.str.to_time("%H:%M:%S%.f").cast(pl.Int64)
    whole: pl.Series = (read // step * step).cast(pl.Time)
    return whole
