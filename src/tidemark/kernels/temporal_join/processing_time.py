"""The processing-time temporal join: each left row with the current version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from tidemark.kernels.arrivals import end_of, number
from tidemark.kernels.columns import SEQUENCE
from tidemark.kernels.joined import JoinType, join_rows, user_columns
from tidemark.kernels.keys import Keys, last_of_each
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.segments import Compaction
from tidemark.kernels.sorting import stable_order_by
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, longs
from tidemark.kernels.temporal_join.clean_up import NO_TIMER, CleanUp, Retention, any_of, largest
from tidemark.kernels.temporal_join.versions import ENDS, VersionIndex, as_versions


@dataclass(frozen=True, slots=True)
class ProcessingTimeTemporalJoinKernel:
    """Join each left row with the latest right version that arrived before it.

    Left rows are joined at once and never kept. An insert or update of the right side replaces the
    key's version, a delete removes it.
    """

    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    how: JoinType = "inner"
    retention: Retention | None = None
    compaction: Compaction = field(default_factory=Compaction)

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        clean_up = self.retention and CleanUp(self.retention, self.right_keys, self.compaction)
        if clean_up:
            state = self._purged(state, inputs[1], clean_up, processing_time)
        numbered = number(state, inputs)
        left, right = numbered[0], as_versions(numbered[1])
        keys = Keys.of(
            self.right_keys,
            left.rename(dict(zip(self.left_keys, self.right_keys, strict=True))),
            right,
        )
        left_key = keys.number(left, self.left_keys)
        versions = self._known(state, keys, right)
        match = self._match(versions, keys, left, left_key)
        output = join_rows(user_columns(left), user_columns(versions).drop(ENDS), match, self.how)
        if clean_up:
            matched = left_key[match >= 0]
            state = self._accessed(state, clean_up, keys, matched, right, processing_time)
        latest = state.keyed("latest").append(
            last_of_each(right, self.right_keys),
            self.compaction,
            self._worth_keeping,
        )
        state = replace(
            state.with_tables(latest=latest),
            watermark=max(state.watermark, watermark),
            sequence=end_of(state, numbered),
        )
        metrics = Metrics.of(state, tuple(f.height for f in inputs), (0, 0), output.height, 0)
        return Step(state, output, metrics)

    def _known(self, state: State, keys: Keys, right: pl.DataFrame) -> pl.DataFrame:
        """All versions that a left row of this step may match, by key and arrival."""
        stored = state.keyed("latest").probe(keys.hashes, right.clear())
        versions = pl.concat([stored, right])
        key = keys.number(versions, keys.names)
        known = np.flatnonzero(key >= 0)
        return versions[known[stable_order_by(key[known], longs(versions, SEQUENCE)[known])]]

    def _match(
        self, versions: pl.DataFrame, keys: Keys, left: pl.DataFrame, left_key: Longs
    ) -> Longs:
        """Per left row the position of the version that is current when it arrives, or -1."""
        key = keys.number(versions, keys.names)
        index = VersionIndex(key, longs(versions, SEQUENCE), len(keys))
        found = index.find(left_key, longs(left, SEQUENCE))
        ended = np.append(versions[ENDS].to_numpy(), True)
        return np.where(ended[found], -1, found)

    def _worth_keeping(self, rows: pl.DataFrame, oldest: bool) -> pl.DataFrame:
        newest = last_of_each(rows, self.right_keys)
        return newest.filter(~pl.col(ENDS)) if oldest else newest

    def _purged(self, state: State, right: pl.DataFrame, clean_up: CleanUp, now: int) -> State:
        """The state without the versions of keys whose clean-up timer has fired."""
        shape = as_versions(number(state, [right])[0]).clear()
        gone, state = clean_up.expired(state, shape, now)
        ends = pl.concat([shape, gone], how="diagonal").with_columns(
            pl.lit(state.sequence, pl.Int64).alias(SEQUENCE), pl.lit(True).alias(ENDS)
        )
        latest = state.keyed("latest").append(ends, self.compaction, self._worth_keeping)
        return replace(state.with_tables(latest=latest), sequence=state.sequence + 1)

    def _accessed(
        self,
        state: State,
        clean_up: CleanUp,
        keys: Keys,
        matched: Longs,
        right: pl.DataFrame,
        now: int,
    ) -> State:
        """Matches and upserts renew a key's timer; a delete removes it."""
        key, sequence = keys.number(right, keys.names), longs(right, SEQUENCE)
        ends = right[ENDS].to_numpy()
        deleted = largest(len(keys), key[ends], sequence[ends])
        upserted = largest(len(keys), key[~ends], sequence[~ends])
        timer, waiting = clean_up.timers(state, keys)
        accessed = any_of(len(keys), matched, key)
        new = np.full_like(timer, now + clean_up.retention.longest)
        after_delete = np.where(upserted > deleted, new, NO_TIMER)
        renewed = np.where(deleted >= 0, after_delete, clean_up.retention.renewed(timer, now))
        after = np.where(accessed, renewed, timer)
        return clean_up.note(state, keys, (timer, waiting), (after, waiting))
