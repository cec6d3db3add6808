"""The automaton of a pattern with alternatives and groups, by the SQL standard: of all ways to
match from a row, the most preferred one counts, whichever is complete first.

An earlier alternative is preferred to a later one; one more repetition to none if it is greedy, and
none to one more if it is reluctant. The first decision in which two ways differ counts.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from tidemark.kernels.match_recognize.spec import (
    Alternatives,
    FirstOfKey,
    LastOfKey,
    One,
    PartsInOrder,
    RepeatedPart,
    Shape,
)

# FINAL, the state of a match, is 0; see `automaton`.
_FIRST_STATE = 1


@dataclass(frozen=True, slots=True)
class Way:
    """A row with this label leads to a state, if it is the first one of its key or need not be."""

    label: int
    target: int
    only_first: bool = False


@dataclass(frozen=True, slots=True)
class PreferenceAutomaton:
    """The ways out of each state, the most preferred first, and whether an attempt may end there
    instead. It ends only if no way leads to a match: what is preferred less than the end is left
    out. Where it `ends_last`, it may end only with the last row of the key. `labels` are the
    variables of rows, and whether the rows are excluded.
    """

    ways: tuple[tuple[Way, ...], ...]
    ends: tuple[bool, ...]
    labels: tuple[tuple[int, bool], ...]
    ends_last: tuple[bool, ...]
    start: int = _FIRST_STATE

    @classmethod
    def of(cls, shape: Shape) -> PreferenceAutomaton:
        building = _Building()
        first = building.part(shape, building.end())
        return building.resolved(first)


@dataclass(frozen=True, slots=True)
class _Take:
    label: int
    then: int


@dataclass(slots=True)
class _Fork:
    """Goes on without a row, at one of several nodes; the end has none."""

    targets: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _First:
    """Goes on without a row, if the next one is the first of its key."""

    then: int


@dataclass(frozen=True, slots=True)
class _Last:
    """Goes on without a row, if the one before is the last of the key."""

    then: int


_Node = _Take | _Fork | _First | _Last


@dataclass(frozen=True, slots=True)
class _Followers:
    """What can follow without a row in between: rows, each with whether it must be the first one of
    its key, and the end, which may require that the row before is the last one.
    """

    takes: list[tuple[_Take, bool]]
    end: bool
    last_end: bool


@dataclass(slots=True)
class _Building:
    """Nodes, made from the end of the pattern to its beginning."""

    nodes: list[_Node] = field(default_factory=list)
    labels: list[tuple[int, bool]] = field(default_factory=list)

    def end(self) -> int:
        return self._node(_Fork())

    def part(self, shape: Shape, then: int) -> int:
        """The node at which a part begins that is followed by another node."""
        match shape:
            case One(variable, excluded):
                return self._node(_Take(self._label((variable, excluded)), then))
            case FirstOfKey():
                return self._node(_First(then))
            case LastOfKey():
                return self._node(_Last(then))
            case PartsInOrder(parts):
                for part in reversed(parts):
                    then = self.part(part, then)
                return then
            case Alternatives(parts):
                return self._node(_Fork([self.part(part, then) for part in parts]))
            case RepeatedPart():
                return self._repeated(shape, then)

    def _repeated(self, shape: RepeatedPart, then: int) -> int:
        entry = then
        if shape.most is None:
            loop = _Fork()
            entry = self._node(loop)
            loop.targets = _preferred(shape, self.part(shape.part, entry), then)
        else:
            for _ in range(shape.most - shape.least):
                again = self.part(shape.part, entry)
                entry = self._node(_Fork(_preferred(shape, again, then)))
        for _ in range(shape.least):
            entry = self.part(shape.part, entry)
        return entry

    def _node(self, node: _Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _label(self, label: tuple[int, bool]) -> int:
        if label not in self.labels:
            self.labels.append(label)
        return self.labels.index(label)

    # --- states: the nodes that follow a row ------------------------------------------------------

    def resolved(self, first: int) -> PreferenceAutomaton:
        # The state before the first row is one of its own if anchors make it different.
        anchored = any(isinstance(node, _First) for node in self.nodes)
        number = {} if anchored else {first: _FIRST_STATE}
        pending, ends, ends_last = [first], [False], [False]
        ways: list[tuple[Way, ...]] = [()]
        for node in pending:
            after = self._closure(node, begins=len(ways) == _FIRST_STATE)
            for take, _ in after.takes:
                if take.then not in number:
                    number[take.then] = _FIRST_STATE + len(pending)
                    pending.append(take.then)
            ways.append(tuple(Way(t.label, number[t.then], only) for t, only in after.takes))
            ends.append(after.end)
            ends_last.append(after.last_end)
        ended = tuple(ends), tuple(self.labels), tuple(ends_last)
        return PreferenceAutomaton(tuple(ways), *ended)

    def _closure(self, node: int, begins: bool) -> _Followers:
        """What can follow a node, up to the end if that can follow; a match `begins` with it or
        not.

        A node that is reached again is reached in a way that is preferred less. So a repetition
        never goes on without a row either. An end that requires the last row of the key leaves out
        nothing: no row follows that one, and if it is another one, there is no such end.
        """
        takes: list[tuple[_Take, bool]] = []
        last_end = False
        seen: set[tuple[int, bool, bool]] = set()
        stack = [(node, False, False)]
        while stack:
            current, only_first, only_last = stack.pop()
            weaker = itertools.product({only_first, False}, {only_last, False})
            if not seen.isdisjoint((current, *each) for each in weaker):
                continue
            seen.add((current, only_first, only_last))
            found = self.nodes[current]
            match found:
                case _Take():
                    takes += [(found, only_first)] * (not only_last)
                case _First(then):
                    stack += [(then, True, only_last)] * begins
                case _Last(then):
                    stack += [(then, only_first, True)] * (not begins)
                case _Fork([]) if not only_first and not only_last:
                    return _Followers(takes, True, last_end)
                case _Fork([]):
                    last_end |= only_last
                case _Fork(targets):
                    stack += [(target, only_first, only_last) for target in reversed(targets)]
        return _Followers(takes, False, last_end)


def _preferred(shape: RepeatedPart, again: int, then: int) -> list[int]:
    return [again, then] if shape.greedy else [then, again]
