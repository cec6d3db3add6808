"""How a batch that is too large for one step may be cut.

By the contract of kernels rows may be cut into steps anywhere, if they come in their order. But a
join then keeps all of them until the last watermark. Many joins give the same rows if those of a
batch come in the order of their times, with the watermark right after them.
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
    """Rows come in their order; the watermark only moves after the last of them."""


@dataclass(frozen=True, slots=True)
class ByTime:
    """Rows come in the order of these times in milliseconds, one for each input. The watermark is
    always below the times of those that are still to come, so none of them is late. All rows up to
    the time `together` come in the first step."""

    times: tuple[pl.Expr, ...]
    together: int = BEFORE_ALL


@dataclass(frozen=True, slots=True)
class Nowhere:
    """All rows come in one step, by which the kernel knows what is left of them in the end."""


Cut = ByArrival | ByTime | Nowhere
BY_TIME: Final = ByTime((pl.col(TIME), pl.col(TIME)))


@runtime_checkable
class SaysCut(Protocol):
    """A kernel that does not want rows by arrival. `inputs` are empty frames, which have the
    columns."""

    def cut(self, inputs: Sequence[pl.DataFrame]) -> Cut: ...


def cut_of(kernel: Kernel, inputs: Sequence[pl.DataFrame]) -> Cut:
    return kernel.cut(inputs) if isinstance(kernel, SaysCut) else ByArrival()
