"""The regular join row by row, as Flink's operators do it: slow, and plain enough to trust."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

LEFT, RIGHT = 0, 1


@dataclass(frozen=True)
class Row:
    """A row of one side with its kind; `name` is what a side may be unique by."""

    side: int
    key: str | None
    name: int
    value: int
    kind: str = "+I"

    @property
    def adds(self) -> bool:
        return self.kind in ("+I", "+U")


# What comes out: the values of both sides, None where one is missing, and the kind.
Told = tuple[int | None, int | None, str]


@dataclass
class Stored:
    row: Row
    partners: int
    written: int


@dataclass
class RegularReference:
    how: str = "inner"
    unique: tuple[bool, bool] = (False, False)
    condition: Callable[[Row, Row], bool] = lambda left, right: True
    ttls: tuple[int | None, int | None] = (None, None)
    clock: int = 0
    stored: tuple[list[Stored], list[Stored]] = field(default_factory=lambda: ([], []))

    def outer(self, side: int) -> bool:
        return self.how in (("left", "full"), ("right", "full"))[side]

    def counts(self, side: int) -> bool:
        return self.outer(side) or (side == LEFT and self.how in ("semi", "anti"))

    def arrive(self, row: Row, clock: int = 0) -> list[Told]:
        self.clock = clock
        partners = [s for s in self.standing(1 - row.side) if self.joins(row, s.row)]
        if row.adds:
            out = self.added(row, partners)
            self.store(row, len(partners))
        else:
            self.remove(row)
            out = self.taken_back(row, partners)
        return out

    def added(self, row: Row, partners: list[Stored]) -> list[Told]:
        padded = self.outer(LEFT) or self.outer(RIGHT)
        kind = "+I" if padded else row.kind
        out = self.by_itself(row, partners, kind)
        for partner in partners:
            if partner.partners == 0:
                out += self.met(partner.row, row.kind)
            out += self.pair(row, partner.row, kind)
            self.touch(partner, 1)
        return out

    def taken_back(self, row: Row, partners: list[Stored]) -> list[Told]:
        kind = "-D" if self.outer(row.side) else row.kind
        out = self.by_itself(row, partners, kind)
        for partner in partners:
            out += self.pair(row, partner.row, kind)
            if partner.partners == 1:
                out += self.lost(partner.row, row.kind)
            self.touch(partner, -1)
        return out

    def by_itself(self, row: Row, partners: list[Stored], kind: str) -> list[Told]:
        if self.how in ("semi", "anti"):
            shown = row.side == LEFT and bool(partners) == (self.how == "semi")
            return [(row.value, None, row.kind)] if shown else []
        return [self.alone(row, kind)] if not partners and self.outer(row.side) else []

    def met(self, partner: Row, kind: str) -> list[Told]:
        """An existing row gets its first match."""
        if not self.counts(partner.side):
            return []
        return [self.alone(partner, kind if self.how == "semi" else "-D")]

    def lost(self, partner: Row, kind: str) -> list[Told]:
        """An existing row loses its only match."""
        if not self.counts(partner.side):
            return []
        return [self.alone(partner, kind if self.how == "semi" else "+I")]

    def alone(self, row: Row, kind: str) -> Told:
        return (row.value, None, kind) if row.side == LEFT else (None, row.value, kind)

    def pair(self, row: Row, other: Row, kind: str) -> list[Told]:
        left, right = (row, other) if row.side == LEFT else (other, row)
        shown = self.how not in ("semi", "anti")
        return [(left.value, right.value, kind)] if shown else []

    def joins(self, row: Row, other: Row) -> bool:
        left, right = (row, other) if row.side == LEFT else (other, row)
        return left.key == right.key is not None and self.condition(left, right)

    # --- state -----------------------------------------------------------------------------

    def standing(self, side: int) -> list[Stored]:
        rows = self.stored[side]
        ttl = self.ttls[side]
        if ttl is not None:
            rows[:] = [s for s in rows if s.written + ttl > self.clock]
        return rows

    def store(self, row: Row, partners: int) -> None:
        if self.unique[row.side]:
            self.remove(row)
        self.standing(row.side).append(Stored(row, partners, self.clock))

    def remove(self, row: Row) -> None:
        rows = self.standing(row.side)
        for stored in rows:
            other = stored.row
            if (other.key, other.name) == (row.key, row.name) and (
                self.unique[row.side] or other.value == row.value
            ):
                rows[:] = [s for s in rows if s is not stored]
                return

    def touch(self, partner: Stored, change: int) -> None:
        if self.counts(partner.row.side):
            partner.partners += change
            partner.written = self.clock

    def left_in_the_end(self) -> list[Told]:
        """The final result of all rows, without the changes."""
        left, right = (self.standing(side) for side in (LEFT, RIGHT))
        pairs = [(a, b) for a in left for b in right if self.joins(a.row, b.row)]
        if self.how in ("semi", "anti"):
            met = [any(a is mine for mine, _ in pairs) for a in left]
            chosen = zip(left, met, strict=True)
            return [(a.row.value, None, "+I") for a, m in chosen if m == (self.how == "semi")]
        out: list[Told] = [(a.row.value, b.row.value, "+I") for a, b in pairs]
        for side, rows in ((LEFT, left), (RIGHT, right)):
            lonely = [s for s in rows if not any(s is pair[side] for pair in pairs)]
            out += [self.alone(s.row, "+I") for s in lonely if self.outer(side)]
        return out
