"""The regular join of a batch: all rows are there, and only those that remain are joined."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from tidemark.kernels.columns import HASH, KIND, SEQUENCE
from tidemark.kernels.join_output import How, beside, taken
from tidemark.kernels.ranges import Flags, Pairs, Stretches
from tidemark.kernels.regular_join.changes import LEFT, RIGHT
from tidemark.kernels.regular_join.lifetimes import JoinInput, left_in_the_end
from tidemark.kernels.regular_join.matching import Matching
from tidemark.kernels.sorting import stable_order
from tidemark.kernels.tables import Longs, longs

_LOW, _COUNT = "_tm_low", "_tm_count"
# The columns of both sides that are emitted, as empty frames.
Shown = tuple[pl.DataFrame, pl.DataFrame]


def joined_in_the_end(
    inputs: tuple[JoinInput, JoinInput],
    rows: tuple[pl.DataFrame, pl.DataFrame],
    how: How,
    matching: Matching,
    shown: Shown,
    pairs_at_once: int | None,
) -> Iterator[pl.DataFrame]:
    """The output in pieces: as if the rows of the left side came last; if there are more pairs than
    may be made at once, these come first.

    Rows are wide and in order. So positions are searched and sorted, and rows gathered just once.
    """
    left, right = map(_remaining, inputs, rows)
    stretches, order = _stretches(left, right, matching)
    met = np.zeros(left.height, dtype=bool), np.zeros(right.height, dtype=bool)
    at_once = pairs_at_once is None or stretches.total <= pairs_at_once
    for mine, places in stretches.pieces(pairs_at_once):
        found = matching.met(LEFT, left, Pairs(right, mine, order[places]))
        met[LEFT][found.mine] = met[RIGHT][found.theirs] = True
        if not at_once and how not in ("semi", "anti"):
            yield _inserted(_pairs(left, found, shown))
    if how in ("semi", "anti"):
        yield _inserted(_seen(left, shown[LEFT]).filter(met[LEFT] if how == "semi" else ~met[LEFT]))
    else:
        pairs = _pairs(left, found, shown) if at_once else beside(*shown)
        causes = found.mine if at_once else found.mine[:0]
        yield _inserted(_with_unmatched(how, (left, right), met, shown, pairs, causes))


def _remaining(input_: JoinInput, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that nothing has retracted or replaced, in order of arrival."""
    if not input_.ends:
        return rows
    left = left_in_the_end(input_, rows)
    return left[stable_order(longs(left, SEQUENCE))]


def _stretches(
    left: pl.DataFrame, right: pl.DataFrame, matching: Matching
) -> tuple[Stretches, Longs]:
    """For each row on the left, where those on the right with the same hash are in an order."""
    matchable = matching.matchable(RIGHT, right)
    known = np.arange(right.height) if matchable is None else np.flatnonzero(matchable)
    hashes = longs(right, HASH)[known]
    order = stable_order(hashes)
    # A search in a hash table is several times as fast as one in the order.
    runs = pl.DataFrame({HASH: hashes[order]}).with_row_index(_LOW)
    runs = runs.group_by(HASH).agg(pl.col(_LOW).first().cast(pl.Int64), pl.len().alias(_COUNT))
    found = left.select(HASH).join(runs, on=HASH, how="left", maintain_order="left")
    low, counts = (longs(found.select(pl.col(n).fill_null(0)), n) for n in (_LOW, _COUNT))
    asking = matching.matchable(LEFT, left)
    return Stretches(low, counts if asking is None else np.where(asking, counts, 0)), known[order]


def _seen(rows: pl.DataFrame, shown: pl.DataFrame) -> pl.DataFrame:
    return rows.select(shown.columns)


def _pairs(left: pl.DataFrame, found: Pairs, shown: Shown) -> pl.DataFrame:
    mine = taken(_seen(left, shown[LEFT]), found.mine)
    return beside(mine, taken(_seen(found.rows, shown[RIGHT]), found.theirs))


def _with_unmatched(
    how: How,
    rows: tuple[pl.DataFrame, pl.DataFrame],
    met: tuple[Flags, Flags],
    shown: Shown,
    pairs: pl.DataFrame,
    causes: Longs,
) -> pl.DataFrame:
    """The pairs, which these rows on the left cause, among the unmatched rows that are padded."""
    parts = [pairs]
    if how in ("left", "full"):
        alone = np.flatnonzero(~met[LEFT])
        mine = taken(_seen(rows[LEFT], shown[LEFT]), alone)
        parts.append(beside(mine, shown[RIGHT].clear(alone.size)))
        parts = [pl.concat(parts)[stable_order(np.concatenate([causes, alone]))]]
    if how in ("right", "full"):
        alone = np.flatnonzero(~met[RIGHT])
        theirs = taken(_seen(rows[RIGHT], shown[RIGHT]), alone)
        parts.insert(0, beside(shown[LEFT].clear(alone.size), theirs))
    return pl.concat(parts)


def _inserted(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(pl.lit("+I").alias(KIND))
