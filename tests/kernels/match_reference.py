"""MATCH_RECOGNIZE row by row: slow, and close to the words of Flink's documentation.

An attempt is the rows of each variable so far. A row may extend the variable that is being matched,
or begin a later one if all between may be left out. A greedy variable with a range of lengths comes
first: what follows it cannot take a row that it would take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

END = 2**63 - 1


@dataclass(frozen=True)
class Row:
    key: str | None
    time: int
    x: int
    number: int = 0


# Whether a row can be one of a variable, given the rows of all variables so far.
Test = Callable[[Sequence[Sequence[Row]], Row], bool]


@dataclass(frozen=True)
class Part:
    """A variable of the pattern."""

    test: Test
    least: int = 1
    most: int | None = 1
    greedy: bool = True

    @property
    def comes_first(self) -> bool:
        return self.greedy and self.most != 1 and max(self.least, 1) != self.most


@dataclass
class Attempt:
    """The rows of each variable, from the first row on."""

    first: Row
    place: int  # the variable that is being matched
    rows: tuple[tuple[Row, ...], ...]

    @property
    def path(self) -> list[tuple[int, bool, Row]]:
        return [(place, False, row) for place, rows in enumerate(self.rows) for row in rows]

    @property
    def all_rows(self) -> list[Row]:
        return [row for rows in self.rows for row in rows]


@dataclass
class Matcher:
    """The rows of one key."""

    parts: Sequence[Part]
    skip: tuple[str, int]
    within: int | None
    attempts: list[Attempt] = field(default_factory=list)
    waiting: list[Attempt] = field(default_factory=list)

    def row(self, row: Row, at: int | None = None) -> Iterator[tuple[Attempt, int]]:
        at = row.time if at is None else at
        yield from self.expire(row.time, at)
        matched: list[Attempt] = []
        following: list[Attempt] = []
        for attempt in [*self.attempts, Attempt(row, 0, ((),) * len(self.parts))]:
            for after, ends, goes_on in self._moves(attempt, row):
                if ends and all(after.first != other.first for other in matched):
                    matched.append(after)
                if goes_on:
                    following.append(after)
        done = [match.first for match in matched]
        self.attempts = [attempt for attempt in following if attempt.first not in done]
        self.waiting += matched
        yield from self._emit(at)

    def expire(self, now: int, at: int) -> Iterator[tuple[Attempt, int]]:
        if self.within is None:
            return
        for attempt in list(self.attempts):
            limit = attempt.first.time + self.within
            if limit <= now:
                self.attempts.remove(attempt)
                yield from self._emit(limit if at == END else at)

    def _moves(self, attempt: Attempt, row: Row) -> Iterator[tuple[Attempt, bool, bool]]:
        """The attempt after the row, whether it may end there, and whether it may go on."""
        for place in range(attempt.place, len(self.parts)):
            part, count = self.parts[place], len(attempt.rows[place])
            if self._may_be(attempt, row, place) and (part.most is None or count < part.most):
                rows = list(attempt.rows)
                rows[place] = (*rows[place], row)
                later = self.parts[place + 1 :]
                enough = count + 1 >= part.least and all(each.least == 0 for each in later)
                forbidden = any(
                    each.comes_first and self._passes(attempt, row, place + number)
                    for number, each in enumerate(self.parts[place:-1])
                )
                full = part.most == count + 1 and not later
                yield Attempt(attempt.first, place, tuple(rows)), enough and not forbidden, not full
            # To begin a later variable, this one must have its rows and leave the row alone.
            if count < part.least or (part.comes_first and self._passes(attempt, row, place)):
                return

    def _may_be(self, attempt: Attempt, row: Row, place: int) -> bool:
        return self._passes(attempt, row, place)

    def _passes(self, attempt: Attempt, row: Row, place: int) -> bool:
        return self.parts[place].test(
            [(*rows, row) if n == place else rows for n, rows in enumerate(attempt.rows)], row
        )

    def _emit(self, at: int) -> Iterator[tuple[Attempt, int]]:
        while self.waiting:
            match = min(self.waiting, key=lambda each: each.first.number)
            if any(attempt.first.number < match.first.number for attempt in self.attempts):
                return
            reach = self._reach(match)
            self.waiting = [m for m in self.waiting if m.first.number > reach]
            self.attempts = [a for a in self.attempts if a.first.number > reach]
            yield match, at

    def _reach(self, match: Attempt) -> int:
        """The number of the last first row that is skipped."""
        to, place = self.skip
        if to == "next row":
            return match.first.number
        if to == "past last row":
            return match.all_rows[-1].number
        return match.rows[place][0 if to == "first" else -1].number - 1


@dataclass
class Delayed:
    """The rows of one key, each of which is matched when as many rows after it are known as it
    looks `ahead`, or at the end. `after` has these for each row that is matched.
    """

    matcher: Any
    ahead: int
    after: dict[int, list[Row]]
    held: list[Row] = field(default_factory=list)

    def row(self, row: Row) -> Iterator[tuple[Any, int]]:
        self.held.append(row)
        if len(self.held) > self.ahead:
            yield from self._match(row.time)

    def expire(self, now: int, at: int) -> Iterator[tuple[Any, int]]:
        if at == END:
            last = self.held[-1].time
            while self.held:
                yield from self._match(last)
            yield from self.matcher.expire(now, at)

    def _match(self, at: int) -> Iterator[tuple[Any, int]]:
        row, *after = self.held
        self.held = after
        self.after[row.number] = after
        yield from self.matcher.row(row, at)


@dataclass
class Reference:
    """All keys: rows wait for the watermark. `matcher` makes that of one key."""

    matcher: Callable[[], Any]
    watermark: int = -(2**63)
    keys: dict[str | None, Any] = field(default_factory=dict)
    waiting: list[Row] = field(default_factory=list)
    late: list[Row] = field(default_factory=list)
    processed: int = 0

    def arrive(self, row: Row) -> None:
        (self.late if row.time <= self.watermark else self.waiting).append(row)

    def advance(self, watermark: int) -> Iterator[tuple[str | None, Any, int]]:
        if watermark <= self.watermark:
            return
        self.watermark = watermark
        due = sorted((r for r in self.waiting if r.time <= watermark), key=lambda r: r.time)
        self.waiting = [row for row in self.waiting if row.time > watermark]
        for row in due:
            self.processed += 1
            numbered = Row(row.key, row.time, row.x, self.processed)
            for match, at in self.keys.setdefault(row.key, self.matcher()).row(numbered):
                yield row.key, match, at
        for key, matcher in self.keys.items():
            for match, at in matcher.expire(watermark, watermark):
                yield key, match, at
