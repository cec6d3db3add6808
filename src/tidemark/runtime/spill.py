"""Rows of a batch that do not fit into a worker's memory, on the disk of its machine."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from tidemark.runtime.bucket import InputShape, Packed, in_order_of_source
from tidemark.runtime.payloads import (
    Payload,
    Payloads,
    appended,
    in_file,
    opens_at_once,
    size_of,
    unwrapped,
)

# Each search opens all packed rows once more.
_MOST_SEARCHES: Final = 16
_HELD: Final = "held"  # the file of packed rows that came in rows of Spark
# Which of so many parts each row of an input belongs to.
Numbers = Callable[[int, pl.DataFrame], np.ndarray]


@contextmanager
def spilling(shapes: Sequence[InputShape], at_once: int) -> Iterator[Spill]:
    """Storage for the rows of these inputs, `at_once` bytes of which may be in memory."""
    # The folders to which Spark spills too.
    places = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    with tempfile.TemporaryDirectory(prefix="tidemark-", dir=places[0] or None) as folder:
        yield Spill(tuple(shapes), at_once, Path(folder))


@dataclass(frozen=True, slots=True)
class Spill:
    shapes: tuple[InputShape, ...]
    at_once: int
    folder: Path

    def held(self, packed: Iterable[Packed]) -> list[Packed]:
        """All packed rows that are not empty; in memory as long as there is room."""
        kept: list[Packed] = []
        held = 0
        for input_, partition, position, payload in packed:
            if payload is None:
                continue
            if not in_file(payload):
                held += size_of(payload) if isinstance(payload, pl.DataFrame) else len(payload)
                if held > self.at_once:
                    payload = self._stored(payload)
            kept.append((input_, partition, position, payload))
        return kept

    def _stored(self, payload: Payload) -> bytes:
        if isinstance(payload, pl.DataFrame):
            return self._files.wrapped(payload)
        return appended(payload, self.folder / _HELD)

    @property
    def _files(self) -> Payloads:
        return Payloads(os.fspath(self.folder), more_than=0)

    def split(self, packed: Iterable[Packed], numbers: Numbers, count: int) -> list[list[Packed]]:
        """The rows in parts, in each of them in their order."""
        parts: list[list[Packed]] = [[] for _ in range(count)]
        files = self._files
        in_order = sorted(packed, key=lambda row: row[:3])
        for input_, of_input in groupby(in_order, lambda row: row[0]):
            for place, rows in enumerate(self._gathered(input_, of_input)):
                for part, some in _split(rows, numbers(input_, rows), count):
                    parts[part].append((input_, 0, place, files.wrapped(some)))
        return parts

    def parts(
        self, packed: Sequence[Packed], numbers: Numbers, count: int
    ) -> Iterator[list[Packed]]:
        """The same, one after the other. A few parts of rows that can be read in place are searched
        for one by one, which is quicker than writing them.
        """
        if count <= _MOST_SEARCHES and all(
            row[3] is None or opens_at_once(row[3]) for row in packed
        ):
            places = [
                _Places.of(numbers(input_, rows), count) for input_, rows in self._each(packed)
            ]
            for part in range(count):
                yield self._found(packed, places, part)
            return
        for piece in self.split(packed, numbers, count):
            yield piece
            forget(piece)

    def _found(
        self, packed: Sequence[Packed], places: Sequence[_Places], part: int
    ) -> list[Packed]:
        found: list[Packed] = []
        for row, place in zip(packed, places, strict=True):
            if (of_part := place.of_part(part)).size:
                [(_, rows)] = self._each([row])
                found.append((*row[:3], rows[of_part]))
        return found

    def _each(self, packed: Iterable[Packed]) -> Iterator[tuple[int, pl.DataFrame]]:
        """The rows of each packed row, with the number of their input."""
        for row in packed:
            [rows] = in_order_of_source(self.shapes[row[0]], [row])
            yield row[0], rows

    def _gathered(self, input_: int, packed: Iterable[Packed]) -> Iterator[pl.DataFrame]:
        """The rows of an input in order, several payloads at a time, so that parts are large."""
        frames: list[pl.DataFrame] = []
        size = 0
        for row in packed:
            assert row[3] is not None
            frames += in_order_of_source(self.shapes[input_], [row])
            size += size_of(row[3])
            if size >= self.at_once:
                yield pl.concat(frames, rechunk=True)
                frames, size = [], 0
        if frames:
            yield pl.concat(frames, rechunk=True)


@dataclass(frozen=True, slots=True)
class _Places:
    """Where the rows of each part are among some rows, in their order."""

    order: np.ndarray
    bounds: np.ndarray

    @classmethod
    def of(cls, numbers: np.ndarray, count: int) -> _Places:
        # Small numbers are sorted by counting.
        small = numbers.astype(np.min_scalar_type(count))
        order = np.argsort(small, kind="stable")
        bounds = np.searchsorted(small[order], np.arange(count + 1))
        return cls(order.astype(np.uint32), bounds)

    def of_part(self, part: int) -> np.ndarray:
        return self.order[self.bounds[part] : self.bounds[part + 1]]


def _split(
    rows: pl.DataFrame, numbers: np.ndarray, count: int
) -> Iterator[tuple[int, pl.DataFrame]]:
    """The rows of each part that has any."""
    places = _Places.of(numbers, count)
    bounds, grouped = places.bounds, rows[places.order]
    for part in np.flatnonzero(bounds[1:] > bounds[:-1]):
        yield int(part), grouped[int(bounds[part]) : int(bounds[part + 1])]


def total_size(packed: Iterable[Packed]) -> int:
    return sum(size_of(payload) for *_, payload in packed if payload is not None)


def forget(packed: Iterable[Packed]) -> None:
    """Remove the files of these rows."""
    for *_, payload in packed:
        if payload is not None and in_file(payload):
            unwrapped(payload, last=True)
