"""The search for the most preferred match from each row.

As in `search`, all attempts take one row in each round. Attempts from the same row are kept in the
order of preference. When one of them may end, those that are preferred less are given up, and it is
the best match so far; it is the match when all that are preferred more have failed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from tidemark.errors import DataError
from tidemark.kernels.match_recognize.ahead import IS_LAST
from tidemark.kernels.match_recognize.attempts import Attempts, Flags
from tidemark.kernels.match_recognize.automaton import FINAL
from tidemark.kernels.match_recognize.preference import PreferenceAutomaton
from tidemark.kernels.match_recognize.search import FoundMatches, expired, first_of_each
from tidemark.kernels.match_recognize.sequences import Sequences
from tidemark.kernels.match_recognize.spec import (
    ALL_ROWS,
    Classifier,
    MatchCondition,
    Pick,
    Shape,
    Variable,
)
from tidemark.kernels.match_recognize.traced import Labels, Tracing

_MOST_WAYS: Final = 1 << 20
_MOST_ATTEMPTS: Final = 10_000  # from one row


@dataclass(frozen=True)
class PreferredSearch:
    """Looks for the matches of a pattern with alternatives and groups."""

    variables: tuple[Variable, ...]
    shape: Shape
    subsets: tuple[tuple[int, ...], ...] = ()
    within_ms: int | None = None

    @cached_property
    def automaton(self) -> PreferenceAutomaton:
        return PreferenceAutomaton.of(self.shape)

    @cached_property
    def _labels(self) -> Labels:
        return Labels.of(self.automaton.labels, len(self.variables), self.subsets)

    @property
    def back(self) -> int:
        """How many rows it looks back: the first row of a key is the one before which none is."""
        return int(any(way.only_first for ways in self.automaton.ways for way in ways))

    @property
    def ahead(self) -> int:
        """How many rows it looks ahead: the last row of a key is the one after which none is."""
        return int(any(self.automaton.ends_last))

    @property
    def may_be_empty(self) -> bool:
        """Whether no row at all matches, if nothing that is preferred does."""
        return self.automaton.ends[self.start]

    @property
    def ends_with_input(self) -> bool:
        """A match that waits for a preferred one is the match when no more rows come."""
        return True

    @property
    def start(self) -> int:
        return self.automaton.start

    def noting(self) -> Tracing:
        return Tracing(self._labels)

    def over(self, sequences: Sequences, attempts: Attempts) -> FoundMatches:
        """Continue attempts to the end of their sequences."""
        looked = np.full(sequences.rows.height, -1)
        best, still_open = [attempts[:0]], [attempts[:0]]
        while len(attempts):
            following = attempts.next
            at_end = following >= sequences.end[attempts.start]
            still_open.append(attempts[at_end])
            attempts, following = attempts[~at_end], following[~at_end]
            looked[attempts.start] = following
            attempts = attempts[~expired(sequences, attempts, following, self.within_ms)]
            attempts = self._distinct(self._after_a_row(sequences, attempts))
            ended, attempts = self._ended(sequences, attempts)
            best.append(ended)
        # A match that is found later is preferred to those before it.
        matches = Attempts.together(best)[::-1]
        matches = matches[first_of_each(matches.start)]
        return FoundMatches(matches.in_state(FINAL), Attempts.together(still_open), looked)

    def _after_a_row(self, sequences: Sequences, attempts: Attempts) -> Attempts:
        """All attempts with their next row, in the order of preference."""
        taken, order = [attempts[:0]], [attempts.start[:0]]
        for state in np.unique(attempts.state).tolist():
            here = np.flatnonzero(attempts.state == state)
            those = attempts[here]
            holds: dict[int, Flags] = {}
            for place, way in enumerate(self.automaton.ways[state]):
                if way.label not in holds:
                    holds[way.label] = self._holds(sequences, those, way.label)
                takes = holds[way.label]
                if way.only_first:
                    takes = takes & (those.next == sequences.begin[those.start])
                if takes.any():
                    taken.append(those[takes].taking(way.label, way.target))
                    order.append(here[takes] * _MOST_WAYS + place)
        together = Attempts.together(taken)
        return together[np.argsort(np.concatenate(order))]

    def _holds(self, sequences: Sequences, attempts: Attempts, label: int) -> Flags:
        variable = self.variables[self.automaton.labels[label][0]]
        return sequences.holds(variable, label, attempts)

    def _ended(self, sequences: Sequences, attempts: Attempts) -> tuple[Attempts, Attempts]:
        """The matches, and the attempts that go on because they are preferred."""
        ends, ways = np.array(self.automaton.ends), np.array(list(map(len, self.automaton.ways)))
        may_end, goes_on = ends[attempts.state], (ways > 0)[attempts.state]
        if IS_LAST in sequences.rows.columns:
            last = sequences.flags(IS_LAST)[attempts.next - 1]
            may_end = may_end | (np.array(self.automaton.ends_last)[attempts.state] & last)
            goes_on = goes_on & ~last
        # An anchor may lead nowhere.
        some = may_end | goes_on
        attempts, may_end, goes_on = attempts[some], may_end[some], goes_on[some]
        if not may_end.any():
            return attempts[:0], attempts
        # Of each row the first attempt that may end; those after it are given up.
        place = np.flatnonzero(may_end)
        first = place[first_of_each(attempts.start[place])]
        number = np.cumsum(np.append(True, attempts.start[1:] != attempts.start[:-1])) - 1
        limit = np.full(number[-1] + 1, len(attempts))
        limit[number[first]] = first
        return attempts[first], attempts[goes_on & (np.arange(len(attempts)) <= limit[number])]

    # --- attempts that cannot differ any more -----------------------------------------------------

    def _distinct(self, attempts: Attempts) -> Attempts:
        """Without attempts that are in the same state as a preferred one from the same row, and
        for which all conditions will read the same rows.
        """
        if not len(attempts) or (attempts.start[1:] != attempts.start[:-1]).all():
            return attempts
        if self._reads is not None:
            columns = [attempts.start, attempts.state]
            for variable, first, offsets in self._reads:
                columns += [attempts.nth(variable, first, o) for o in range(offsets + 1)]
            _, kept = np.unique(np.stack(columns, axis=1), axis=0, return_index=True)
            attempts = attempts[np.sort(kept)]
        self._check_number(attempts)
        return attempts

    @cached_property
    def _reads(self) -> list[tuple[int, bool, int]] | None:
        """Which rows of attempts conditions read: of which variable, from its first or last row,
        up to which offset. Those of all rows are the same for attempts from one row. None if a
        condition reads more than single rows.
        """
        found: dict[tuple[int, bool], int] = {}
        for variable in self.variables:
            if not isinstance(variable.condition, MatchCondition):
                continue
            for value in variable.condition.values:
                if isinstance(value, Pick) and value.variable != ALL_ROWS:
                    key = (value.variable, value.first)
                    found[key] = max(found.get(key, 0), value.offset)
                elif isinstance(value, Classifier) or value.variable != ALL_ROWS:
                    return None
        return [(variable, first, offset) for (variable, first), offset in found.items()]

    def _check_number(self, attempts: Attempts) -> None:
        changes = np.flatnonzero(attempts.start[1:] != attempts.start[:-1]) + 1
        most = np.diff(np.concatenate([[0], changes, [len(attempts)]])).max()
        if most > _MOST_ATTEMPTS:
            raise DataError(
                f"MATCH_RECOGNIZE: rows can match the pattern in more than {_MOST_ATTEMPTS:,} ways",
                notes={"why": "each of them may be the preferred one, so all are kept"},
                hint="make conditions exclude each other, or bound the quantifiers",
            )
