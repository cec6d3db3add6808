"""Patterns with alternatives and groups row by row, as the SQL standard describes them: from each row
all ways to match, the most preferred one first; after a match the search goes on where AFTER MATCH
SKIP says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tests.kernels.match_reference import END, Part, Row
from tidemark.kernels.match_recognize.spec import (
    Alternatives,
    FirstOfKey,
    LastOfKey,
    One,
    PartsInOrder,
    RepeatedPart,
    Shape,
)

Path = tuple[tuple[int, bool, Row], ...]  # the variable of each row, and whether it is excluded
OPEN = None  # a way that needs a row that has not come
NO_WAY: Path = ((-1, False, Row(None, 0, 0)),)
Ways = Iterator[Path | None]


@dataclass
class Found:
    """A match, which may be empty, or a row that is of none."""

    path: Path
    variables: int
    first: Row
    matched: bool = True

    @property
    def rows(self) -> list[list[Row]]:
        return [[r for v, _, r in self.path if v == place] for place in range(self.variables)]


@dataclass
class PreferredMatcher:
    """The rows of one key, all of them."""

    parts: Sequence[Part]
    skip: tuple[str, int]
    within: int | None
    shape: Shape
    after: dict[int, list[Row]] = field(default_factory=dict)
    shows: str = "matches"  # or "empty", or "unmatched" rows too
    rows: list[Row] = field(default_factory=list)
    covered: set[int] = field(default_factory=set)
    passed: int = 0
    here: int = 0  # where the search is
    now: int = -(2**63)

    def row(self, row: Row, at: int | None = None) -> Iterator[tuple[Found, int]]:
        self.rows.append(row)
        yield from self._search(row.time if at is None else at)

    def expire(self, now: int, at: int) -> Iterator[tuple[Found, int]]:
        if at == END and self.within is not None:
            for row in self.rows[self.here :]:
                self.now = row.time + self.within
                yield from self._search(self.now)
        self.now = now
        yield from self._search(self.rows[-1].time if at == END else at)

    def _search(self, at: int) -> Iterator[tuple[Found, int]]:
        while self.here < len(self.rows):
            best = next(self._ways(self.shape, (), lambda path: iter([path])), NO_WAY)
            if best is OPEN:
                return
            if best is NO_WAY or (best == () and self.shows == "matches"):
                self.here += 1
            else:
                found = Found(best, len(self.parts), self.rows[self.here])
                yield found, at
                self.covered.update(range(self.here, self.here + max(len(best), 1)))
                self.here = self._after(found) if best else self.here + 1
            yield from self._unmatched(at)

    def _unmatched(self, at: int) -> Iterator[tuple[Found, int]]:
        """The rows that the search has passed, if no match was of them."""
        while self.passed < self.here:
            if self.shows == "unmatched" and self.passed not in self.covered:
                yield Found((), len(self.parts), self.rows[self.passed], False), at
            self.passed += 1

    def _after(self, found: Found) -> int:
        to, place = self.skip
        if to == "next row":
            return self.here + 1
        if to == "past last row":
            return self.here + len(found.path)
        places = [self.here + n for n, (v, _, _) in enumerate(found.path) if v == place]
        return places[0 if to == "first" else -1]

    def _ways(self, shape: Shape, path: Path, then: Callable[[Path], Ways]) -> Ways:
        """The ways to match a part after a path, each with all ways to go on."""
        match shape:
            case One(variable, excluded):
                yield from self._one(variable, excluded, path, then)
            case FirstOfKey():
                if not self.here and not path:
                    yield from then(path)
            case LastOfKey():
                if path and self.after.get(path[-1][2].number) == []:
                    yield from then(path)
            case PartsInOrder(()):
                yield from then(path)
            case PartsInOrder((first, *rest)):
                following = PartsInOrder(tuple(rest))
                yield from self._ways(first, path, lambda p: self._ways(following, p, then))
            case Alternatives(parts):
                for part in parts:
                    yield from self._ways(part, path, then)
            case RepeatedPart(part, least, most, greedy):
                more = RepeatedPart(part, max(least - 1, 0), most and most - 1, greedy)
                again = most != 0 and self._ways(part, path, lambda p: self._ways(more, p, then))
                stop = least == 0 and then(path)
                for way in (again, stop) if greedy else (stop, again):
                    yield from way or ()

    def _one(self, variable: int, excluded: bool, path: Path, then: Callable[[Path], Ways]) -> Ways:
        first, place = self.rows[self.here], self.here + len(path)
        if place == len(self.rows):
            ended = self.now == END or (
                self.within is not None and path != () and first.time + self.within <= self.now
            )
            ended = ended or (path != () and self.after.get(path[-1][2].number) == [])
            if not ended:
                yield OPEN
            return
        row = self.rows[place]
        if self.within is not None and row.time - first.time >= self.within:
            return
        longer = (*path, (variable, excluded, row))
        by_variable = [[r for v, _, r in longer if v == n] for n in range(len(self.parts))]
        if self.parts[variable].test(by_variable, row):
            yield from then(longer)


def may_be_empty(shape: Shape) -> bool:
    match shape:
        case One():
            return False
        case FirstOfKey() | LastOfKey():
            return True
        case PartsInOrder(parts):
            return all(map(may_be_empty, parts))
        case Alternatives(parts):
            return any(map(may_be_empty, parts))
        case RepeatedPart(part, least, _, _):
            return least == 0 or may_be_empty(part)


def has_end(shape: Shape) -> bool:
    match shape:
        case LastOfKey():
            return True
        case PartsInOrder(parts) | Alternatives(parts):
            return any(map(has_end, parts))
        case RepeatedPart(part):
            return has_end(part)
    return False
