"""Lookup joins against a reference that asks for one row after the other."""

from __future__ import annotations

from typing import Literal

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.key_index import KeyIndex
from tidemark.kernels.lookup_cache import CacheLimits, LookupCache
from tidemark.kernels.lookup_join import LookupJoinKernel

KEYS = st.one_of(st.none(), st.integers(0, 5))
LEFT = st.lists(st.tuples(KEYS, st.integers(0, 9)), max_size=12)
RIGHT = st.lists(st.tuples(KEYS, st.integers(0, 9)), max_size=12)
How = Literal["inner", "left"]


def frame(rows: list[tuple[int | None, int]], side: str) -> pl.DataFrame:
    schema = {f"{side}_key": pl.Int64(), f"{side}_value": pl.Int64()}
    return pl.DataFrame(rows, schema=schema, orient="row")


def row_by_row(
    left: list[tuple[int | None, int]],
    right: list[tuple[int | None, int]],
    how: How,
    *,
    tested: bool,
) -> list[tuple[int | None, ...]]:
    result: list[tuple[int | None, ...]] = []
    for mine in left:
        found = [
            theirs
            for theirs in right
            if mine[0] is not None and mine[0] == theirs[0]
            if not tested or mine[1] > theirs[1]
        ]
        result += [(*mine, *theirs) for theirs in found]
        if not found and how == "left":
            result.append((*mine, None, None))
    return result


def kernel(how: How, *, tested: bool = False) -> LookupJoinKernel:
    def test(pairs: pl.DataFrame) -> pl.Series:
        return pairs["l_value"] > pairs["r_value"]

    return LookupJoinKernel(("l_key",), ("r_key",), how, test if tested else None)


@given(
    LEFT,
    RIGHT,
    st.sampled_from(["inner", "left"]),
    st.booleans(),
    st.integers(0, 12),
    st.integers(1, 6),
)
@searched(60)
def test_rows_are_those_of_the_reference_however_they_are_cut(
    left: list[tuple[int | None, int]],
    right: list[tuple[int | None, int]],
    how: How,
    tested: bool,
    cut: int,
    at_once: int,
) -> None:
    join, index = kernel(how, tested=tested), KeyIndex.of(frame(right, "r"), ("r_key",))
    joined = []
    for part in (left[:cut], left[cut:]):
        rows = frame(part, "l")
        found = index.candidates(join.distinct_keys(rows, [pl.Int64()]))
        for some in join.slices(rows, found, index.most, at_once):
            joined += join.joined(some, found).rows()

    assert joined == row_by_row(left, right, how, tested=tested)


@given(st.lists(st.integers(0, 400), max_size=5), st.lists(st.integers(0, 300), min_size=100))
@searched(30)
def test_an_index_finds_all_rows_of_a_few_keys_in_their_order(
    asked: list[int], keys: list[int]
) -> None:
    table = pl.DataFrame({"k": keys, "at": range(len(keys))})
    wanted = pl.DataFrame({"k": asked}, schema={"k": pl.Int64()}).unique()

    found = KeyIndex.of(table, ("k",)).candidates(wanted)

    assert found.filter(pl.col("k").is_in(asked)).rows() == [
        (key, at) for at, key in enumerate(keys) if key in asked
    ]
    assert found["at"].is_sorted()


def test_few_pairs_are_made_at_once():
    left = pl.DataFrame({"l_key": [1, 2, 1, 1, None, 1], "l": range(6)})
    right = pl.DataFrame({"r_key": [1, 1, 1, 2], "r": range(4)})
    join, index = kernel("left"), KeyIndex.of(right, ("r_key",))

    assert index.most == 3
    for most in (3, None):
        slices = [*join.slices(left, right, most, 6)]
        assert pl.concat(slices).equals(left)
        assert [join.joined(some, right).height for some in slices] == [4, 7, 3]
    # Of a key with one row each, nothing has to be counted.
    assert [*join.slices(left, right[:1], 1, 1)] == [left]


def test_columns_besides_the_keys_may_be_of_any_type():
    left = pl.DataFrame({"l_key": ["a", "b"], "tags": [[1], []]})
    right = pl.DataFrame({"r_key": ["a"], "row": [{"x": 1}]})

    assert kernel("left").joined(left, right).rows() == [
        ("a", [1], "a", {"x": 1}),
        ("b", [], None, None),
    ]


# --- the cache ---------------------------------------------------------------------------------


class PlainCache:
    """Keys one by one, in a dictionary that is ordered by their last use."""

    def __init__(self, limits: CacheLimits) -> None:
        self.limits = limits
        self.entries: dict[int, tuple[int, int, list[int]]] = {}

    def look_up(self, keys: list[int], table: dict[int, list[int]], now: int) -> list[int]:
        """The keys that the table is asked for."""
        limits = self.limits
        for key, (written, used, _) in list(self.entries.items()):
            old = limits.after_write_ms is not None and now - written >= limits.after_write_ms
            idle = limits.after_access_ms is not None and now - used >= limits.after_access_ms
            if old or idle:
                del self.entries[key]
        asked = [key for key in keys if key not in self.entries]
        for key in [key for key in self.entries if key in keys]:
            written, _, rows = self.entries.pop(key)
            self.entries[key] = written, now, rows
        for key in asked:
            if table.get(key) or limits.keeps_missing:
                self.entries[key] = now, now, table.get(key, [])
        while limits.max_keys is not None and len(self.entries) > limits.max_keys:
            self.entries.pop(next(iter(self.entries)))
        return asked


LIMITS = st.builds(
    CacheLimits,
    after_write_ms=st.sampled_from([None, 3]),
    after_access_ms=st.sampled_from([None, 2]),
    max_keys=st.sampled_from([None, 0, 2]),
    keeps_missing=st.booleans(),
)
# The keys of a batch, and how far the clock has moved before it.
LOOKUPS = st.lists(
    st.tuples(st.lists(st.integers(0, 4), unique=True, max_size=4), st.integers(0, 3)), max_size=8
)


@given(LIMITS, LOOKUPS)
@searched(80)
def test_a_cache_asks_for_the_keys_that_a_plain_one_would(
    limits: CacheLimits, lookups: list[tuple[list[int], int]]
) -> None:
    table = {0: [], 1: [10], 2: [20, 21], 3: [30]}
    empty = pl.DataFrame(schema={"k": pl.Int64(), "v": pl.Int64()})
    plain, cache, now = PlainCache(limits), LookupCache.empty(limits, empty, ("k",)), 0
    for keys, pause in lookups:
        now += pause
        wanted = pl.DataFrame({"k": keys}, schema={"k": pl.Int64()})
        cache = cache.without_expired(now)
        known, others = cache.known(wanted)
        rows = [(key, value) for key in others["k"] for value in table.get(key, [])]
        found = pl.DataFrame(rows, schema=empty.schema, orient="row")
        cache = cache.after(wanted, found, now)

        assert others["k"].to_list() == plain.look_up(keys, table, now)
        assert sorted([*known.rows(), *rows]) == [
            (key, value) for key in sorted(keys) for value in table.get(key, [])
        ]
        assert sorted(cache.entries["k"]) == sorted(plain.entries)
        assert sorted(cache.rows["v"]) == sorted(
            v for _, _, vs in plain.entries.values() for v in vs
        )
