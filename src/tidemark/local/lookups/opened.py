"""Dimensions that a process has opened: tables in memory, connections and caches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from tidemark.columns import polars_type
from tidemark.connectors.lookups import Finder
from tidemark.errors import JobError, TidemarkError
from tidemark.kernels.key_index import KeyIndex
from tidemark.kernels.lookup_cache import LookupCache
from tidemark.local.lookups.dimension import Computing, Dimension, Lower

# How many dimensions a worker keeps: those of jobs that have ended are not closed otherwise.
_MOST: Final = 64
# How much longer than before it waits after each lookup that fails.
_WAIT_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Clock:
    """What a dimension knows of time."""

    now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    sleep: Callable[[float], None] = time.sleep


class OpenDimension:
    """The rows of a dimension for some keys: perhaps others too, which the join leaves out.

    Keys and rows have the `columns` of the join's right side.
    """

    columns: tuple[str, ...]

    def rows(self, keys: pl.DataFrame) -> pl.DataFrame:
        raise NotImplementedError

    @property
    def most(self) -> int | None:
        """How many rows have the same key at most, if that is known."""
        return None

    def close(self) -> None:
        """Gives up what it holds."""


def open_dimension(
    dimension: Dimension,
    lower: Lower,
    clock: Clock = Clock(),
) -> OpenDimension:
    """A dimension for this process."""
    return (_ByKey if dimension.by_key else _Whole)(dimension, lower, clock)


def opened(dimension: Dimension, lower: Lower) -> OpenDimension:
    """The dimension as this worker has opened it, for all batches that it computes."""
    if dimension.id not in _OPENED:
        while len(_OPENED) >= _MOST:
            _OPENED.pop(next(iter(_OPENED))).close()
        _OPENED[dimension.id] = open_dimension(dimension, lower)
    return _OPENED[dimension.id]


_OPENED: Final[dict[str, OpenDimension]] = {}


class _Whole(OpenDimension):
    """A table in memory, loaded when it is first used and when it is due."""

    def __init__(self, dimension: Dimension, lower: Lower, clock: Clock) -> None:
        self._dimension, self._clock = dimension, clock
        self._computing = dimension.computing(lower)
        self.columns = self._computing.rows.columns
        self._index: KeyIndex | None = None
        self._started_ms = self._ended_ms = 0

    def rows(self, keys: pl.DataFrame) -> pl.DataFrame:
        if self._index is None or self._is_due():
            self._started_ms = self._clock.now_ms()
            self._index = self._loaded()
            self._ended_ms = self._clock.now_ms()
        return self._index.candidates(keys)

    @property
    def most(self) -> int | None:
        return None if self._index is None else self._index.most

    def _is_due(self) -> bool:
        reload, now_ms = self._dimension.reload, self._clock.now_ms()
        return reload is not None and reload.is_due(self._started_ms, self._ended_ms, now_ms)

    def _loaded(self) -> KeyIndex:
        load = self._dimension.lookup.load
        assert load is not None
        blocks = [self._computing(_typed(block, self._dimension)) for block in load()]
        rows = pl.concat(blocks or [self._computing(_none(self._dimension))])
        keys = tuple(self.columns[key] for key in self._dimension.keys)
        # NULL is equal to nothing.
        return KeyIndex.of(rows.drop_nulls(keys).rechunk(), keys)


class _ByKey(OpenDimension):
    """A table that is asked for keys, as far as they are not in the cache."""

    def __init__(self, dimension: Dimension, lower: Lower, clock: Clock) -> None:
        self._dimension, self._clock = dimension, clock
        self._computing: Computing = dimension.computing(lower)
        self._finder: Finder | None = None
        names = self.columns = self._computing.rows.columns
        self._keys = tuple(names[key] for key in dimension.keys)
        self._cache: LookupCache | None = None
        if dimension.limits is not None:
            rows = self._computing(_none(dimension))
            self._cache = LookupCache.empty(dimension.limits, rows, self._keys)

    def rows(self, keys: pl.DataFrame) -> pl.DataFrame:
        if self._cache is None:
            return self._found(keys)
        now_ms = self._clock.now_ms()
        cache = self._cache.without_expired(now_ms)
        known, others = cache.known(keys)
        found = self._found(others)
        self._cache = cache.after(keys, found, now_ms)
        return pl.concat([known, found])

    def close(self) -> None:
        finder, self._finder = self._finder, None
        if finder is not None:
            finder.close()

    def _found(self, keys: pl.DataFrame) -> pl.DataFrame:
        """The rows of keys that are not known, which are asked for again if there are none."""
        found, retry = self._asked(keys), self._dimension.retry_missing
        for _ in range(0 if retry is None else retry.attempts):
            missing = keys.join(found, on=self._keys, how="anti", maintain_order="left")
            if not missing.height:
                break
            assert retry is not None
            self._clock.sleep(retry.delay_ms / 1000)
            found = pl.concat([found, self._asked(missing)])
        return found

    def _asked(self, keys: pl.DataFrame) -> pl.DataFrame:
        if not keys.height:
            return self._computing(_none(self._dimension))
        columns = zip(self._dimension.asked, self._keys, strict=True)
        names = self._dimension.found
        # A column may be compared with several values; it has one of them at most.
        asked = {names[place]: keys[key].alias(names[place]) for place, key in columns}
        distinct = pl.DataFrame(list(asked.values())).unique(maintain_order=True)
        return self._computing(_typed(self._tried(distinct), self._dimension))

    def _tried(self, keys: pl.DataFrame) -> pl.DataFrame:
        """What the connector finds, at the first attempt or a later one."""
        failures = 0
        while True:
            try:
                if self._finder is None:
                    assert self._dimension.lookup.open is not None
                    self._finder = self._dimension.lookup.open()
                return self._finder.find(keys)
            except TidemarkError:
                raise
            except Exception as problem:
                self.close()
                failures += 1
                if failures > self._dimension.retries:
                    raise _failed(self._dimension, failures, problem) from problem
                self._clock.sleep(_WAIT_S * failures)


def _failed(dimension: Dimension, attempts: int, problem: Exception) -> JobError:
    return JobError(
        f"looking up rows of `{dimension.name}` failed: {type(problem).__name__}: {problem}",
        notes={"attempts": attempts},
        hint="'lookup.max-retries' says how often a lookup is tried again",
    )


def _none(dimension: Dimension) -> pl.DataFrame:
    return pl.DataFrame(schema=dict(_schema(dimension)))


def _typed(found: pl.DataFrame, dimension: Dimension) -> pl.DataFrame:
    """The rows of a connector with exactly the columns and types that were asked for."""
    missing = [name for name, _ in _schema(dimension) if name not in found.columns]
    if missing:
        raise JobError(
            f"the lookup of `{dimension.name}` returned no column `{missing[0]}`",
            notes={"returned": ", ".join(found.columns) or "nothing"},
        )
    try:
        return found.select(pl.col(name).cast(dtype) for name, dtype in _schema(dimension))
    except pl.exceptions.PolarsError as problem:
        raise JobError(
            f"the lookup of `{dimension.name}` returned columns of other types",
            notes={"why": problem, "columns": dict(_schema(dimension))},
        ) from None


def _schema(dimension: Dimension) -> Iterator[tuple[str, pl.DataType]]:
    for name, type_ in zip(dimension.found, dimension.found_types, strict=True):
        yield name, polars_type(type_)
