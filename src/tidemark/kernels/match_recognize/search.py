"""The search for matches: all attempts take their next rows at once.

An attempt consists of adjacent rows, so attempts depend on each other only in what is skipped
after a match. So all of them, of whatever key and first row, take one row in each round; most end
in the first one. What is skipped is decided afterwards (`skipping`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidemark.kernels.match_recognize.attempts import Attempts, Flags
from tidemark.kernels.match_recognize.automaton import FINAL, Automaton, Taking
from tidemark.kernels.match_recognize.counted import Counting
from tidemark.kernels.match_recognize.sequences import Sequences
from tidemark.kernels.match_recognize.spec import Variable
from tidemark.kernels.tables import Longs


@dataclass(frozen=True, slots=True)
class FoundMatches:
    """The match of each first row, the attempts that are still open, and for each position the last
    row that an attempt from there has looked at (-1: none).

    As long as there are open attempts from the first row of a match, there may be a better one.
    """

    matches: Attempts
    open: Attempts
    looked: Longs


@dataclass(frozen=True, slots=True)
class PatternSearch:
    """Looks for the matches of a pattern. Attempts end `within_ms` after the time of their first
    row.
    """

    variables: tuple[Variable, ...]
    automaton: Automaton
    subsets: tuple[tuple[int, ...], ...] = ()
    within_ms: int | None = None

    @property
    def back(self) -> int:
        return 0

    @property
    def ahead(self) -> int:
        return 0

    @property
    def may_be_empty(self) -> bool:
        return False

    @property
    def ends_with_input(self) -> bool:
        """As in Flink, an attempt that is open at the end of all rows stays so."""
        return False

    @property
    def start(self) -> int:
        return self.automaton.start

    def noting(self) -> Counting:
        return Counting(len(self.variables), self.subsets)

    def over(self, sequences: Sequences, attempts: Attempts) -> FoundMatches:
        """Continue attempts to the end of their sequences.

        Attempts from the same row are adjacent, in the order in which Flink tries them: the first
        to match is the match of this row.
        """
        height = sequences.rows.height
        looked, matched = np.full(height, -1), np.zeros(height, dtype=np.bool_)
        matches, still_open = [attempts[:0]], [attempts[:0]]
        while len(attempts):
            following = attempts.next
            at_end = following >= sequences.end[attempts.start]
            still_open.append(attempts[at_end])
            attempts, following = attempts[~at_end], following[~at_end]
            looked[attempts.start] = following
            attempts = attempts[~expired(sequences, attempts, following, self.within_ms)]
            ended, attempts = self._round(sequences, attempts)
            first = ended[first_of_each(ended.start)]
            matched[first.start] = True
            matches.append(first)
            attempts = attempts[~matched[attempts.start]]
        return FoundMatches(Attempts.together(matches), Attempts.together(still_open), looked)

    def _round(self, sequences: Sequences, attempts: Attempts) -> tuple[Attempts, Attempts]:
        """The attempts that match with their next row, and those that continue after it."""
        ended, continued = _Taken(), _Taken()
        for state in np.unique(attempts.state).tolist():
            here = np.flatnonzero(attempts.state == state)
            those = attempts[here]
            truth = _Truth(self.variables, sequences, those)
            for place, edge in enumerate(self.automaton.edges[state]):
                takes = truth.all(edge.tests)
                if edge.target != FINAL:
                    continued.add(those, here, edge, place, takes)
                for tests in edge.ends[:1] if _always(edge) else edge.ends:
                    ended.add(those, here, edge, place, takes & truth.all(tests))
        branches = self.automaton.branches
        return ended.sorted(attempts, branches), continued.sorted(attempts, branches)


def expired(
    sequences: Sequences, attempts: Attempts, following: Longs, within_ms: int | None
) -> Flags:
    """Which attempts end because their next row comes too long after the first one."""
    if within_ms is None:
        return np.zeros(len(attempts), dtype=np.bool_)
    passed = sequences.time[following] - sequences.time[attempts.start]
    return np.asarray(passed >= within_ms)


def _always(edge: Taking) -> bool:
    return bool(edge.ends) and not edge.ends[0]


class _Truth:
    """Which variables the next rows of some attempts can be, each tested once."""

    def __init__(
        self, variables: tuple[Variable, ...], sequences: Sequences, attempts: Attempts
    ) -> None:
        self._variables, self._sequences, self._attempts = variables, sequences, attempts
        self._known: dict[int, Flags] = {}

    def all(self, tests: frozenset[tuple[int, bool]]) -> Flags:
        result = np.ones(len(self._attempts), dtype=np.bool_)
        for variable, wanted in tests:
            result &= self._of(variable) == wanted
        return result

    def _of(self, place: int) -> Flags:
        if place not in self._known:
            variable = self._variables[place]
            self._known[place] = self._sequences.holds(variable, place, self._attempts)
        return self._known[place]


class _Taken:
    """Attempts after one more row, gathered state by state and edge by edge."""

    def __init__(self) -> None:
        self._attempts: list[Attempts] = []
        self._order: list[Longs] = []

    def add(self, attempts: Attempts, here: Longs, edge: Taking, place: int, takes: Flags) -> None:
        if takes.any():
            self._attempts.append(attempts[takes].taking(edge.variable, edge.target))
            self._order.append(here[takes] * _MOST_EDGES + place)

    def sorted(self, before: Attempts, branches: bool) -> Attempts:
        """The attempts in the order of those before, and of their edges. Without branches there
        is only one from each row, so order does not matter.
        """
        if not self._attempts:
            return before[:0]
        together = Attempts.together(self._attempts)
        return together[np.argsort(np.concatenate(self._order))] if branches else together


_MOST_EDGES = 1 << 20


def first_of_each(values: Longs) -> Longs:
    """The positions at which values occur first."""
    return np.sort(np.unique(values, return_index=True)[1])
