"""Sums of DECIMALs have 38 digits at most. One that needs more is an error, not a wrong number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

import polars as pl

from tidemark.errors import DataError
from tidemark.kernels.whole_numbers import MOST_DIGITS, whole

_ABOUT: Final = "_tm_about "
# What Polars says of a sum, or of a number that is given more places after the point to add it up.
_OVERFLOWS: Final = ("overflow in decimal", "conversion from `decimal[")


def guards(rows: pl.DataFrame, names: Iterable[str]) -> list[pl.Expr]:
    """What `checked` needs, for `group_by(...).agg`: adding up groups, Polars does not look whether
    the sums of these columns still fit."""
    return [
        pl.col(name).cast(pl.Float64).sum().alias(f"{_ABOUT}{name}")
        for name in names
        if may_not_fit(rows[name])
    ]


def checked(groups: pl.DataFrame) -> pl.DataFrame:
    """The groups without their guards. Raises DataError if a sum does not fit."""
    about = [name for name in groups.columns if name.startswith(_ABOUT)]
    for name in about:
        sums = groups[name.removeprefix(_ABOUT)]
        assert isinstance(sums.dtype, pl.Decimal)
        check(sums.to_physical(), groups[name], sums.dtype)
    return groups.drop(about)


def check(digits: pl.Series, about: pl.Series, dtype: pl.Decimal) -> None:
    """Raise DataError if a sum with these digits does not fit. About the right number is enough to
    see whether 128 bits had enough room; then the digits themselves are right."""
    has_room = pl.lit(about).abs() < 1.5 * _limit(dtype)
    has_digits = pl.lit(digits).abs() < whole(10**MOST_DIGITS)
    if not pl.select((has_room & has_digits).fill_null(True).all()).item():
        raise too_large()


@contextmanager
def in_words() -> Iterator[None]:
    """Turn the errors of Polars into ours."""
    try:
        yield
    except pl.exceptions.PolarsError as problem:
        if any(words in str(problem) for words in _OVERFLOWS):
            raise too_large() from problem
        raise


def too_large() -> DataError:
    return DataError(
        f"a sum of DECIMALs has more than {MOST_DIGITS} digits",
        hint="cast the argument to DOUBLE, or to a DECIMAL with fewer digits after the point",
    )


def may_not_fit(column: pl.Series) -> bool:
    """Whether a sum of some of these numbers might have more than 38 digits."""
    if not isinstance(column.dtype, pl.Decimal) or column.is_empty():
        return False
    ends = [float(end) for end in (column.min(), column.max()) if end is not None]  # type: ignore[arg-type]
    largest = max(map(abs, ends), default=0.0)
    return largest * len(column) >= _limit(column.dtype) / 2


def _limit(dtype: pl.Decimal) -> float:
    return 10.0 ** (MOST_DIGITS - dtype.scale)
