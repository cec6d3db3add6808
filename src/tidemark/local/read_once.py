"""A table that is read once for several inputs of an operator."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import tee
from typing import TYPE_CHECKING, TypeVar

from tidemark.plan.nodes import Scan

if TYPE_CHECKING:
    import polars as pl

    from tidemark.local.builder import LocalBuilder
    from tidemark.local.rows import LocalRows

T = TypeVar("T")


def reading_once(builder: LocalBuilder, scan: Scan, uses: int) -> LocalBuilder:
    """The builder for an operator that uses the rows of a scan more than once: frames are read when
    the first use asks for them, and kept until the last one has."""
    found: list[LocalRows] = []

    def read(asked: Scan, asking: LocalBuilder) -> LocalRows:
        if asked is not scan:  # which may be an equal one that another operator reads
            return builder.read(asked, asking)
        if not found:
            rows = builder.read(scan, asking)
            found.append(replace(rows, frames=_shared(rows.frames, uses)))
        return found[0]

    return replace(builder, read=read)


def _shared(
    frames: Callable[[], Iterator[pl.DataFrame]], uses: int
) -> Callable[[], Iterator[pl.DataFrame]]:
    waiting: list[Iterator[pl.DataFrame]] = []

    def one() -> Iterator[pl.DataFrame]:
        if not waiting:
            waiting.extend(tee(frames(), uses))
        return waiting.pop()

    return one


def in_turns(each: Iterable[Iterator[T]]) -> Iterator[T]:
    """The next item of each, again and again: none of them gets far ahead of the others."""
    left = deque(each)
    while left:
        items = left.popleft()
        for item in items:
            yield item
            left.append(items)
            break
