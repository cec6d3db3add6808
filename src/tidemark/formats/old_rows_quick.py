"""Events with `data` and `old` as whole columns: each is one or more rows, and of updates those
before them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from tidemark import types as t
from tidemark.formats.changelog_json import QuickChange, QuickEvents
from tidemark.formats.json_structs import PartialRow
from tidemark.formats.leaf_values import Flags
from tidemark.formats.old_rows_words import OldRowsEvents

Indices = npt.NDArray[np.int64]

_FLAT = r"\{[^{}\[\]]*\}"
_OLD = r'"old"\s*:\s*'
# Records whose old rows contain no objects or arrays.
_FLAT_ROW = f"{_OLD}{_FLAT}"
_FLAT_ROWS = rf"{_OLD}\[\s*(?:{_FLAT}\s*,?\s*)*\]"


@dataclass(frozen=True, slots=True)
class OldRowsColumns:
    """Events by their columns. An event that is not included is left out, whatever it contains."""

    kind: OldRowsEvents
    fields: Sequence[t.Field]
    included: Mapping[str, re.Pattern[str]]  # by part of the event
    metadata: Mapping[str, Callable[[pl.DataFrame], pl.Series]]

    def changes(self, events: pl.DataFrame, text: pl.Series) -> QuickEvents:
        included, left_out = self._chosen(events)
        type_ = events["type"]
        if self.kind.skipped is not None:
            left_out |= included & _are(type_, self.kind.skipped)
        images = _Images.of_lists if self.kind.lists else _Images.of_rows
        data, old = images(events["data"]), images(events["old"])
        good = included & data.whole
        insert, update, delete = self.kind.types
        inserted, deleted = good & _are(type_, insert), good & _are(type_, delete)
        updated = good & _are(type_, update) & old.whole & (old.size >= data.size)
        updated &= self._flat(text, updated)
        rows = data.rows(self.fields)
        return QuickEvents(
            [
                data.changes("+I", rows, inserted),
                data.changes("-U", self._before(data, old, rows), updated),
                data.changes("+U", rows, updated),
                data.changes("-D", rows, deleted),
            ],
            pl.Series(left_out | inserted | deleted | updated),
            {key: read(events) for key, read in self.metadata.items()},
        )

    def _chosen(self, events: pl.DataFrame) -> tuple[Flags, Flags]:
        """Which events are included, and which are not; the others lack a name."""
        included = np.ones(events.height, np.bool_)
        left_out = np.zeros(events.height, np.bool_)
        for part, pattern in self.included.items():
            names = events[part]
            matching = [each for each in names.drop_nulls().unique() if pattern.fullmatch(each)]
            fits = names.is_in(matching).fill_null(False).to_numpy()
            left_out |= included & ~fits & names.is_not_null().to_numpy()
            included = included & fits
        return included, left_out

    def _flat(self, text: pl.Series, events: Flags) -> Flags:
        """Which of the events name a field only as one of an old row, and not below it."""
        where = np.flatnonzero(events)
        some = text.gather(pl.Series(where))
        once = some.str.count_matches('"old"', literal=True) == 1
        flat = some.str.contains(_FLAT_ROWS if self.kind.lists else _FLAT_ROW)
        result = np.zeros(len(events), np.bool_)
        result[where] = (once & flat).to_numpy()
        return result

    def _before(self, data: _Images, old: _Images, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows before updates: what no old row of an event contains is as after it."""
        before = PartialRow(tuple(self.fields)).parts_of(old.items)
        at = np.minimum(old.first[data.event] + data.position, max(0, len(old.event) - 1))
        columns = []
        for name, (values, there) in zip(rows.columns, before, strict=True):
            named = np.zeros(len(old.size), np.bool_)
            named[old.event[there.fill_null(False).to_numpy()]] = True
            changed = pl.Series(named[data.event])
            columns.append(
                rows[name]
                if not named.any()
                else pl.select(pl.when(changed).then(values.gather(at)).otherwise(rows[name]))
                .to_series()
                .alias(name)
            )
        return pl.DataFrame(columns)


def _are(type_: pl.Series, wanted: str) -> Flags:
    return (type_ == wanted).fill_null(False).to_numpy()


@dataclass(frozen=True, slots=True)
class _Images:
    """The rows of events, one after the other."""

    items: pl.Series
    size: Indices  # how many an event has
    first: Indices  # where those of an event begin
    event: Indices  # of each row
    whole: Flags  # the events that have rows, and none is null

    @classmethod
    def of_lists(cls, lists: pl.Series) -> _Images:
        size = lists.list.len().fill_null(0).to_numpy().astype(np.int64)
        items = lists.list.explode(empty_as_null=False, keep_nulls=False)
        event = np.repeat(np.arange(len(size)), size)
        whole = lists.is_not_null().to_numpy().copy()
        whole[event[items.is_null().to_numpy()]] = False
        return cls(items, size, np.cumsum(size) - size, event, whole)

    @classmethod
    def of_rows(cls, rows: pl.Series) -> _Images:
        event = np.arange(rows.len())
        return cls(rows, np.ones_like(event), event, event, rows.is_not_null().to_numpy())

    @property
    def position(self) -> Indices:
        """Of each row among those of its event."""
        return np.arange(len(self.event)) - self.first[self.event]

    def rows(self, fields: Sequence[t.Field]) -> pl.DataFrame:
        rows = self.items.struct.unnest()
        rows.columns = [each.name for each in fields]
        return rows

    def changes(self, kind: str, rows: pl.DataFrame, events: Flags) -> QuickChange:
        """The rows of some of the events."""
        chosen = events[self.event]
        where = pl.Series(chosen)
        return QuickChange(
            kind,
            rows.filter(where),
            pl.Series(self.event[chosen]),
            pl.Series(self.position[chosen]),
        )
