"""Calls for kernels that compute OVER."""

from __future__ import annotations

import polars as pl

from tidemark.kernels.over.spec import OverCall, OverFrame
from tidemark.kernels.windows.spec import AggregateSpec

_TYPES = {
    "AVG": pl.Float64(),
    "PERCENT_RANK": pl.Float64(),
    "CUME_DIST": pl.Float64(),
    "LISTAGG": pl.String(),
}


SO_FAR = OverFrame()


def call(
    function: str,
    frame: OverFrame = SO_FAR,
    *,
    distinct: bool = False,
    n: int = 1,
    output: str = "r",
) -> OverCall:
    """The function of column `v`, or of `text` for strings; LAG and LEAD default to `id`."""
    arguments = {"LISTAGG": ("text",), "LAG": ("v", "id"), "LEAD": ("v",)}.get(function, ("v",))
    dtype = _TYPES.get(function, pl.Int64())
    return OverCall(AggregateSpec(function, arguments, output, dtype, distinct), frame, n)


def named(*calls: OverCall) -> tuple[OverCall, ...]:
    """The calls with outputs of their own."""
    return tuple(
        OverCall(
            AggregateSpec(
                c.function, c.call.arguments, f"r{n}", c.call.dtype, distinct=c.call.distinct
            ),
            c.frame,
            c.distance,
        )
        for n, c in enumerate(calls)
    )
