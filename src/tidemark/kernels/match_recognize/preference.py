"""The automaton of a pattern with alternatives and groups, by the SQL standard: of all ways to
match from a row, the most preferred one counts, whichever is complete first.

An earlier alternative is preferred to a later one; one more repetition to none if it is greedy, and
none to one more if it is reluctant. The first decision in which two ways differ counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tidemark.kernels.match_recognize.spec import (
    Alternatives,
    FirstOfKey,
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
    out. `labels` are the variables of rows, and whether the rows are excluded.
    """

    ways: tuple[tuple[Way, ...], ...]
    ends: tuple[bool, ...]
    labels: tuple[tuple[int, bool], ...]
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


@dataclass(slots=True)
class _Building:
    """Nodes, made from the end of the pattern to its beginning."""

    nodes: list[_Take | _Fork | _First] = field(default_factory=list)
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

    def _node(self, node: _Take | _Fork | _First) -> int:
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
        pending, ends = [first], [False]
        ways: list[tuple[Way, ...]] = [()]
        for node in pending:
            takes, may_end = self._closure(node, begins=len(ways) == _FIRST_STATE)
            for take, _ in takes:
                if take.then not in number:
                    number[take.then] = _FIRST_STATE + len(pending)
                    pending.append(take.then)
            ways.append(tuple(Way(t.label, number[t.then], only) for t, only in takes))
            ends.append(may_end)
        return PreferenceAutomaton(tuple(ways), tuple(ends), tuple(self.labels))

    def _closure(self, node: int, begins: bool) -> tuple[list[tuple[_Take, bool]], bool]:
        """What can follow without a row in between, up to the end if that can follow; and of each
        whether only the first row of a key can, which a match `begins` with.

        A node that is reached again is reached in a way that is preferred less. So a repetition
        never goes on without a row either.
        """
        takes: list[tuple[_Take, bool]] = []
        seen: set[tuple[int, bool]] = set()
        stack = [(node, False)]
        while stack:
            current, only_first = stack.pop()
            if not seen.isdisjoint([(current, only_first), (current, False)]):
                continue
            seen.add((current, only_first))
            found = self.nodes[current]
            match found:
                case _Take():
                    takes.append((found, only_first))
                case _First(then):
                    stack += [(then, True)] * begins
                case _Fork([]) if not only_first:
                    return takes, True
                case _Fork(targets):
                    stack += [(target, only_first) for target in reversed(targets)]
        return takes, False


def _preferred(shape: RepeatedPart, again: int, then: int) -> list[int]:
    return [again, then] if shape.greedy else [then, again]
