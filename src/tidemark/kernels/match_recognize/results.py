"""The rows that are emitted for matches: one for each, or all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.columns import HASH
from tidemark.kernels.match_recognize.attempts import Attempts
from tidemark.kernels.match_recognize.sequences import Sequences
from tidemark.kernels.match_recognize.spec import (
    EmittedAt,
    IsMatched,
    MatchNumber,
    MatchTime,
    OfMatch,
    OwnColumn,
    RunningValue,
    Value,
)
from tidemark.kernels.segments import Compaction
from tidemark.kernels.sorting import stable_order, stable_order_by
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, distinct, longs

_NUMBER: Final = "_tm_matches"  # how many matches a key has had
NO_NUMBER: Final = -1


@dataclass(frozen=True, slots=True)
class EmittedMatches:
    """Matches in the order in which they are emitted, the times at which they are, and their
    numbers among the matches of their keys. Those without a number are unmatched rows.
    """

    matches: Attempts
    times: Longs
    numbers: Longs

    def with_unmatched(self, rows: Attempts, times: Longs) -> EmittedMatches:
        """The same and unmatched rows, each an attempt that has taken none, by their times."""
        matches = Attempts.together([self.matches, rows])
        all_times = np.concatenate([self.times, times])
        numbers = np.concatenate([self.numbers, np.full(len(rows), NO_NUMBER)])
        order = stable_order_by(all_times, matches.start)
        return EmittedMatches(matches[order], all_times[order], numbers[order])


@dataclass(frozen=True, slots=True)
class Results:
    """A row has the keys, then the measures under their names."""

    keys: tuple[str, ...]
    measures: tuple[tuple[str, Value], ...]
    all_rows: bool = False

    @property
    def numbers_matches(self) -> bool:
        return any(isinstance(value, MatchNumber) for _, value in self.measures)

    def of(self, emitted: EmittedMatches, sequences: Sequences) -> pl.DataFrame:
        """The rows of matches."""
        matches = emitted.matches
        if not self.all_rows:
            every = np.arange(len(matches))
            return self._rows(emitted, matches, every, sequences)
        unrolled = matches.unrolled()
        shown = np.flatnonzero(~unrolled.excluded)
        empty = np.flatnonzero(matches.next == matches.start)
        of = np.concatenate([unrolled.of[shown], empty])
        running = Attempts.together([unrolled.running[shown], matches[empty]])
        order = stable_order(of)
        return self._rows(emitted, running[order], of[order], sequences)

    def _rows(
        self, emitted: EmittedMatches, running: Attempts, of: Longs, sequences: Sequences
    ) -> pl.DataFrame:
        """A row for each attempt of `running`, which is a part of the match at the place `of`."""
        after_each: list[RunningValue] = []
        of_match: list[RunningValue] = []
        for _, value in self.measures:
            if isinstance(value, OfMatch):
                of_match.append(value.value)
            elif not isinstance(value, EmittedAt | MatchTime | MatchNumber | OwnColumn | IsMatched):
                after_each.append(value)
        values = iter(sequences.values(running, after_each).get_columns())
        finals = iter(sequences.values(emitted.matches, of_match).get_columns())
        columns = [sequences.rows[key].gather(running.start) for key in self.keys]
        for name, value in self.measures:
            match value:
                case EmittedAt():
                    column = pl.Series(emitted.times[of])
                case MatchTime(zone):
                    time = pl.Series(emitted.times[of] * 1000)
                    column = time.cast(pl.Datetime("us", zone))
                case MatchNumber():
                    column = pl.Series(emitted.numbers[of], dtype=pl.Int64)
                case OwnColumn(name_of_row):
                    place = np.maximum(running.next - 1, running.start)
                    column = sequences.rows[name_of_row].gather(place)
                case IsMatched():
                    column = pl.Series(emitted.numbers[of] != NO_NUMBER)
                case OfMatch():
                    column = next(finals).gather(of)
                case _:
                    column = next(values)
            columns.append(column.alias(name))
        return pl.DataFrame(columns)


@dataclass(frozen=True, slots=True)
class Numbering:
    """Numbers the matches of each key from 1 on, which takes a number per key in the state."""

    keys: tuple[str, ...]
    compaction: Compaction = field(default_factory=Compaction)

    def numbered(self, state: State, keys: pl.DataFrame, key: Longs) -> tuple[Longs, State]:
        """The numbers of matches of the keys at the places `key` of `keys`, in their order."""
        by = [HASH, *self.keys]
        some = distinct(key)
        like = keys.select(by).clear().with_columns(pl.lit(None, pl.Int64).alias(_NUMBER))
        known = state.keyed("numbers").probe(distinct(longs(keys[some], HASH)), like)
        joined = (
            keys[some]
            .select(by)
            .join(_newest(known, by), on=by, how="left", nulls_equal=True, maintain_order="left")
        )
        before = np.zeros(keys.height, dtype=np.int64)
        before[some] = longs(joined.with_columns(pl.col(_NUMBER).fill_null(0)), _NUMBER)
        order = stable_order(key)
        nth = np.empty(key.size, dtype=np.int64)
        nth[order] = np.arange(key.size) - np.searchsorted(key[order], key[order])
        numbers = before[key] + nth + 1
        after = before.copy()
        np.maximum.at(after, key, numbers)
        lines = joined.with_columns(pl.Series(_NUMBER, after[some], pl.Int64))
        table = state.keyed("numbers").append(
            lines, self.compaction, lambda rows, _: _newest(rows, by)
        )
        return numbers, state.with_tables(numbers=table)


def _newest(lines: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    return lines.unique(by, keep="last", maintain_order=True)
