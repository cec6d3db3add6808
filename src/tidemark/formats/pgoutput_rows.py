"""The rows of a changelog that changes of PostgreSQL stand for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tidemark.formats.pgoutput import (
    DELETE,
    INSERT,
    KEY,
    STRING,
    UNCHANGED,
    UPDATE,
    WHOLE,
    ChangedTable,
    Flags,
    Longs,
    TableChanges,
)

if TYPE_CHECKING:
    import polars as pl


_KINDS: Final = ("+I", "-U", "+U", "-D")


class NoOldRow(ValueError):
    """A change comes without the row before it, which is needed."""


class Untouched(ValueError):
    """A value was not touched by an update, and is therefore not in its message."""


@dataclass(frozen=True, slots=True)
class ChangedRows:
    """Rows, by their changes, and whether each is the old or the new one."""

    changes: TableChanges
    change: Longs
    is_old: Flags
    kinds: pl.Series  # +I, -U, +U or -D

    @property
    def committed_us(self) -> Longs:
        return self.changes.committed_us[self.change]

    def strings(self, column: int) -> pl.Series:
        """The values of a column, as PostgreSQL writes them. Raises Untouched."""
        import polars as pl

        old, new = self.changes.old, self.changes.new
        forms, starts, sizes = (
            np.where(self.is_old, of_old[column][self.change], of_new[column][self.change])
            for of_old, of_new in (
                (old.forms, new.forms),
                (old.starts, new.starts),
                (old.sizes, new.sizes),
            )
        )
        untouched = forms == UNCHANGED
        if untouched.any():
            # An update has the value that it did not touch in its old row, if that is there.
            known = untouched & (self.changes.before[self.change] == WHOLE)
            if (untouched & ~known).any():
                raise Untouched
            at = self.change[known]
            forms[known], starts[known] = old.forms[column][at], old.starts[column][at]
            sizes[known] = old.sizes[column][at]
        frame = pl.DataFrame(
            {
                "message": self.changes.messages.gather(pl.Series(self.change)),
                "start": starts,
                "size": sizes,
                "there": forms == STRING,
            }
        )
        value = pl.col("message").bin.slice(pl.col("start"), pl.col("size"))
        return frame.select(pl.when("there").then(value).cast(pl.String)).to_series()


def changed_rows(changes: TableChanges, keys: Collection[str], *, upserts: bool) -> ChangedRows:
    """The rows of changes: an update retracts the old row, or replaces the one with the same key.
    One that changes the key is a delete and an insert. `keys` are the columns of the key.
    """
    import polars as pl

    kinds, before = changes.kinds, changes.before
    is_update, is_delete = kinds == UPDATE, kinds == DELETE
    needs_whole = is_delete | is_update
    if not upserts and (needs_whole & (before != WHOLE)).any():
        raise NoOldRow
    moves = is_update & (_differs(changes, keys) | (before == KEY))
    has_old = is_delete | (moves if upserts else is_update)
    has_new = ~is_delete
    # Two places for each change, of which those that are used stay.
    used = np.stack([has_old, has_new], axis=1)
    deletes = is_delete | moves
    old = np.where(deletes, _KINDS.index("-D"), _KINDS.index("-U"))
    new = np.where((kinds == INSERT) | moves, _KINDS.index("+I"), _KINDS.index("+U"))
    change, side = np.nonzero(used)
    words = pl.Series(_KINDS).gather(pl.Series(np.stack([old, new], axis=1)[used]))
    return ChangedRows(changes, change.astype(np.int64), side == 0, words)


def _differs(changes: TableChanges, keys: Collection[str]) -> Flags:
    """Which updates have whole rows whose keys differ."""
    both = np.flatnonzero((changes.kinds == UPDATE) & (changes.before == WHOLE))
    differs = np.zeros(len(changes.kinds), np.bool_)
    places = places_of(changes.table, keys)
    if not places or not len(both):
        return differs
    rows = _pairs(changes, both)
    for place in places:
        old, new = rows[0].strings(place), rows[1].strings(place)
        differs[both] |= old.ne_missing(new).to_numpy()
    return differs


def _pairs(changes: TableChanges, chosen: Longs) -> tuple[ChangedRows, ChangedRows]:
    import polars as pl

    nothing = pl.Series(dtype=pl.String)
    old, new = (np.full(len(chosen), is_old) for is_old in (True, False))
    return ChangedRows(changes, chosen, old, nothing), ChangedRows(changes, chosen, new, nothing)


def places_of(table: ChangedTable, names: Collection[str]) -> list[int]:
    return [place for place, column in enumerate(table.columns) if column.name in names]
