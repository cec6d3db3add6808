"""How far numbers are from their mean: moments about a point near them.

The sum of their squares alone would have no digits left for the differences of large numbers. As
each number has a weight, -1 if it was retracted, moments of any rows can be added up: those of
changes, too, whose weights may be zero in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

# The sum of the weights, the point, and the sums of the distances from it and of their squares.
COUNT: Final = "count"
_AT, _SUM, _SQUARES = "at", "sum", "squares"
_FIELDS: Final = (COUNT, _AT, _SUM, _SQUARES)
# Of the 53 bits of a number, the difference has at least half.
_FAR: Final = 2.0**26

_Moments = npt.NDArray[np.float64]  # a row has the fields


def lifted(number: pl.Expr, weight: pl.Expr) -> pl.Expr:
    """The moments of a number; NULL without one."""
    zero = pl.lit(0.0)
    row = _moments(weight.cast(pl.Int64), number.cast(pl.Float64), zero, zero)
    return pl.when(number.is_not_null() & (weight != 0)).then(row)


def merged(column: pl.Expr) -> pl.Expr:
    """Those of a group."""
    fields = _fields(column)
    count = fields[0].sum()
    start = fields[1].drop_nulls().first()
    about_start = [moment.sum() for moment in _about(start, fields)]
    center = start + _shift(count, *about_start)
    return _moments(count, center, *(moment.sum() for moment in _about(center, fields)))


def running(column: pl.Expr) -> pl.Expr:
    """Per row those of the rows up to it, for `.over(...)`."""
    fields = _fields(column)
    count = fields[0].fill_null(0).cum_sum()
    start = fields[1].drop_nulls().first()
    sums, squares = (moment.fill_null(0).cum_sum() for moment in _about(start, fields))
    shift = _shift(count, sums, squares)
    moved = squares - (2 * sums - count * shift) * shift
    return _moments(count, start + shift, sums - count * shift, moved)


def of_lists(numbers: pl.Expr) -> pl.Expr:
    """The sum of the squared distances from the mean, of lists of numbers."""
    return numbers.list.eval((pl.element() - pl.element().mean()).pow(2)).list.sum()


def squared_distances(column: pl.Expr) -> pl.Expr:
    """The sum of the squared distances of the numbers from their mean."""
    count, _, total, squares = _fields(column)
    found = (squares - total * total / count).clip(0)
    return pl.when(squares.is_infinite()).then(squares).otherwise(found)


def as_array(column: pl.Series) -> _Moments:
    fields = [column.struct.field(name).cast(pl.Float64).fill_null(0) for name in _FIELDS]
    return np.column_stack([field.to_numpy() for field in fields])


def from_array(moments: _Moments, name: str) -> pl.Series:
    fields = dict(zip(_FIELDS, moments.T, strict=True))
    frame = pl.DataFrame(fields).with_columns(pl.col(COUNT).cast(pl.Int64))
    return frame.to_struct(name)


def both(left: _Moments, right: _Moments) -> _Moments:
    """Row by row those of both."""
    count = left[:, 0] + right[:, 0]
    start = np.where(left[:, 0] != 0, left[:, 1], right[:, 1])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        sums, squares = _about_both(start, left, right)
        center = start + np.where(_is_far(count, sums, squares), sums / count, 0)
        return np.column_stack([count, center, *_about_both(center, left, right)])


def _about_both(point: Any, left: _Moments, right: _Moments) -> tuple[Any, Any]:
    (one, one_squares), (other, other_squares) = (
        _about(point, list(moments.T)) for moments in (left, right)
    )
    return one + other, one_squares + other_squares


def _about(point: Any, fields: Sequence[Any]) -> tuple[Any, Any]:
    """The sums of the distances from a point and of their squares."""
    count, at, total, squares = fields
    away = at - point
    return total + count * away, squares + (2 * total + count * away) * away


def _shift(count: pl.Expr, total: pl.Expr, squares: pl.Expr) -> pl.Expr:
    """How far the point is moved."""
    return pl.when(_is_far(count, total, squares)).then(total / count).otherwise(0.0)


def _is_far(count: Any, total: Any, squares: Any) -> Any:
    """Whether the mean is so far from the point that the difference would lose digits. Otherwise
    the point stays where it is, and the sums of whole numbers are whole."""
    of_mean = total * total / count
    return (count > 0) & (of_mean > _FAR * (squares - of_mean))


def _moments(count: pl.Expr, at: pl.Expr, total: pl.Expr, squares: pl.Expr) -> pl.Expr:
    columns = zip((count, at, total, squares), _FIELDS, strict=True)
    return pl.struct(column.alias(name) for column, name in columns)


def _fields(column: pl.Expr) -> list[pl.Expr]:
    return [column.struct.field(name) for name in _FIELDS]
