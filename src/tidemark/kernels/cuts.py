"""How a batch that is too large for one step may be cut into several.

By their contract, kernels accept rows in any number of steps, as long as they are in order. But a
join then keeps all of them until the last watermark. Many joins return the same rows if those of a
batch arrive in the order of their times, each followed by the watermark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

import polars as pl

from tidemark.kernels.columns import BEFORE_ALL, TIME
from tidemark.kernels.protocol import Kernel


@dataclass(frozen=True, slots=True)
class ByArrival:
    """Rows arrive in their order; the watermark only advances after the last of them."""


@dataclass(frozen=True, slots=True)
class ByTime:
    """Rows arrive in the order of these times in milliseconds, one for each input. The watermark is
    always below the times of the remaining rows, so none of them is late. All rows up to the time
    `together` arrive in the first step.
    """

    times: tuple[pl.Expr, ...]
    together: int = BEFORE_ALL


@dataclass(frozen=True, slots=True)
class Nowhere:
    """All rows arrive in one step, after which the kernel knows that there are no more."""


Cut = ByArrival | ByTime | Nowhere
BY_TIME: Final = ByTime((pl.col(TIME), pl.col(TIME)))


@runtime_checkable
class ChoosesCut(Protocol):
    """A kernel that decides how its rows are cut. `inputs` are empty frames with its columns."""

    def cut(self, inputs: Sequence[pl.DataFrame]) -> Cut: ...


def cut_of(kernel: Kernel, inputs: Sequence[pl.DataFrame]) -> Cut:
    return kernel.cut(inputs) if isinstance(kernel, ChoosesCut) else ByArrival()
