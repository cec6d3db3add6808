"""Canal events as whole columns: each is several rows, and of updates those before them."""

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

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CanalColumns:
    """Events by their columns. An event that is not included is left out, whatever it contains."""

    fields: Sequence[t.Field]
    included: Mapping[str, re.Pattern[str]]  # by part of the event
    metadata: Mapping[str, Callable[[pl.DataFrame], pl.Series]]

    def changes(self, events: pl.DataFrame) -> QuickEvents:
        included, left_out = self._chosen(events)
        type_ = events["type"]
        left_out |= included & _are(type_, "CREATE")
        data, old = _Images.of(events["data"]), _Images.of(events["old"])
        good = included & data.whole
        inserted, deleted = good & _are(type_, "INSERT"), good & _are(type_, "DELETE")
        updated = good & _are(type_, "UPDATE") & old.whole & (old.size >= data.size)
        images = data.rows(self.fields)
        return QuickEvents(
            [
                data.changes("+I", images, inserted),
                data.changes("-U", self._before(data, old, images), updated),
                data.changes("+U", images, updated),
                data.changes("-D", images, deleted),
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

    def _before(self, data: _Images, old: _Images, images: pl.DataFrame) -> pl.DataFrame:
        """The rows before updates: what no old row of an event contains is as after it."""
        before = PartialRow(tuple(self.fields)).parts_of(old.items)
        at = np.minimum(old.first[data.event] + data.position, max(0, len(old.event) - 1))
        columns = []
        for name, (values, there) in zip(images.columns, before, strict=True):
            named = np.zeros(len(old.size), np.bool_)
            named[old.event[there.fill_null(False).to_numpy()]] = True
            changed = pl.Series(named[data.event])
            columns.append(
                images[name]
                if not named.any()
                else pl.select(pl.when(changed).then(values.gather(at)).otherwise(images[name]))
                .to_series()
                .alias(name)
            )
        return pl.DataFrame(columns)


def _are(type_: pl.Series, wanted: str) -> Flags:
    return (type_ == wanted).fill_null(False).to_numpy()


@dataclass(frozen=True, slots=True)
class _Images:
    """The rows in the lists of events, one after the other."""

    items: pl.Series
    size: Indices  # of each list
    first: Indices  # where each list begins
    event: Indices  # of each row
    whole: Flags  # the lists that are there, with all their rows

    @classmethod
    def of(cls, lists: pl.Series) -> _Images:
        size = lists.list.len().fill_null(0).to_numpy().astype(np.int64)
        items = lists.list.explode(empty_as_null=False, keep_nulls=False)
        event = np.repeat(np.arange(len(size)), size)
        whole = lists.is_not_null().to_numpy().copy()
        whole[event[items.is_null().to_numpy()]] = False
        return cls(items, size, np.cumsum(size) - size, event, whole)

    @property
    def position(self) -> Indices:
        """Of each row in its list."""
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
