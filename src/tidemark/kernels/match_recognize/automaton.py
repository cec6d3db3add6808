"""The automaton of a pattern, as Flink builds it: which rows may follow which.

Flink's automaton has epsilon transitions with conditions. Here they are resolved once: a state has
the edges that a row can take from it, in Flink's order, each with what must hold for the row.

A greedy variable takes a row before the next one may. Flink does not follow both ways and prefer
the longer one; it forbids the next variable to take, or to be passed over for, a row that the
greedy one would take. Without that, all ways are followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from tidemark.kernels.match_recognize.spec import Variable

FINAL: Final = 0

# What must hold: variables whose conditions are true or, negated, not true for the row.
Tests = frozenset[tuple[int, bool]]
ALWAYS: Final[Tests] = frozenset()


@dataclass(frozen=True, slots=True)
class Taking:
    """A row becomes one of `variable` and leads to `target`, if all `tests` hold. If those of
    `ends` hold too, the match may also end with this row; None if it cannot.
    """

    variable: int
    target: int
    tests: Tests
    ends: tuple[Tests, ...] = ()


@dataclass(frozen=True, slots=True)
class Automaton:
    """The edges of each state, and the state before the first row."""

    edges: tuple[tuple[Taking, ...], ...]
    start: int

    @classmethod
    def of(cls, variables: Sequence[Variable]) -> Automaton:
        building = _Building()
        sink = FINAL
        for place in reversed(range(len(variables))):
            sink = building.variable(place, variables[place], sink)
        return cls(tuple(map(tuple, building.resolved())), sink)

    @property
    def branches(self) -> bool:
        """Whether one row may lead an attempt to several states."""
        return any(
            not _contradict(one.tests | other.tests)
            for edges in self.edges
            for place, one in enumerate(edges)
            for other in edges[:place]
        )


@dataclass(slots=True)
class _Transition:
    """Takes a row for a `variable`, or proceeds without one if that is None."""

    variable: int | None
    target: int
    tests: Tests = ALWAYS


@dataclass(slots=True)
class _Building:
    """States with epsilon transitions, made from the last variable to the first."""

    states: list[list[_Transition]] = field(default_factory=lambda: [[]])

    def variable(self, place: int, variable: Variable, sink: int) -> int:
        """The first state of a variable that is followed by `sink`."""
        least, most = variable.least, variable.most
        optional = least == 0
        if most is None:
            loop = self._state()
            self.states[loop] = [_Transition(None, sink), _taking(place, loop)]
            if variable.greedy:
                self._yields(sink, place)
            return self._times(place, loop, sink, max(least, 1), max(least, 1), optional)
        if variable.greedy and most > 1 and max(least, 1) != most:
            self._yields(sink, place)
        return self._times(place, sink, sink, max(least, 1), most, optional)

    def _times(
        self, place: int, sink: int, after: int, least: int, most: int, optional: bool
    ) -> int:
        """States for `least` to `most` rows; from those after `least` one may proceed."""
        for _ in range(most - least):
            sink = self._single(place, sink, after)
        for _ in range(least - 1):
            sink = self._single(place, sink, None)
        return self._single(place, sink, after if optional else None)

    def _single(self, place: int, sink: int, after: int | None) -> int:
        state = self._state()
        self.states[state].append(_taking(place, sink))
        if after is not None:
            self.states[state].append(_Transition(None, after))
        return state

    def _yields(self, state: int, place: int) -> None:
        """All that a state does requires that a greedy variable would not take the row."""
        for transition in self.states[state]:
            transition.tests |= {(place, False)}

    def _state(self) -> int:
        self.states.append([])
        return len(self.states) - 1

    # --- without epsilon transitions ------------------------------------------------------------

    def resolved(self) -> Iterator[list[Taking]]:
        return (list(self._edges(state)) for state in range(len(self.states)))

    def _edges(self, state: int) -> Iterator[Taking]:
        pending = [(state, ALWAYS)]
        while pending:
            current, before = pending.pop()
            for transition in self.states[current]:
                tests = before | transition.tests
                if _contradict(tests):
                    continue
                if transition.variable is None:
                    pending.append((transition.target, tests))
                else:
                    ends = tuple(self._ends(transition.target, tests))
                    yield Taking(transition.variable, transition.target, tests, ends)

    def _ends(self, state: int, tests: Tests) -> Iterator[Tests]:
        """What must hold so that a row which leads to the state may be the last one."""
        pending = [(state, ALWAYS)]
        while pending:
            current, needed = pending.pop()
            if current == FINAL:
                yield needed - tests
                continue
            for transition in self.states[current]:
                more = needed | transition.tests
                if transition.variable is None and not _contradict(tests | more):
                    pending.append((transition.target, more))


def _taking(variable: int, target: int) -> _Transition:
    return _Transition(variable, target, frozenset({(variable, True)}))


def _contradict(tests: Tests) -> bool:
    return any((variable, not wanted) in tests for variable, wanted in tests)
