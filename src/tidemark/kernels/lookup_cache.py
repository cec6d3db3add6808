"""The rows of keys that have been looked up, for as long as they may be used."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import polars as pl

_WRITTEN, _USED = "_tm_written", "_tm_used"
# Reading rows in more pieces than these takes longer than copying them.
_MOST_PIECES = 64


@dataclass(frozen=True, slots=True)
class CacheLimits:
    """How long keys stay, how many do, and whether keys without rows do."""

    after_write_ms: int | None = None
    after_access_ms: int | None = None
    max_keys: int | None = None
    keeps_missing: bool = True


@dataclass(frozen=True, slots=True)
class LookupCache:
    """Keys with the times of their lookup and last use, and the rows that were found for them.

    A value: what changes it returns another one. Keys have no NULLs.
    """

    limits: CacheLimits
    entries: pl.DataFrame
    rows: pl.DataFrame
    keys: tuple[str, ...] = field(default=())

    @classmethod
    def empty(cls, limits: CacheLimits, rows: pl.DataFrame, keys: tuple[str, ...]) -> LookupCache:
        """A cache of rows with the columns of an empty frame."""
        times = {_WRITTEN: pl.Int64(), _USED: pl.Int64()}
        schema = {**{key: rows.schema[key] for key in keys}, **times}
        return cls(limits, pl.DataFrame(schema=schema), rows.clear(), keys)

    def without_expired(self, now_ms: int) -> LookupCache:
        limits, lives = self.limits, pl.lit(value=True)
        if limits.after_write_ms is not None:
            lives &= pl.col(_WRITTEN) + limits.after_write_ms > now_ms
        if limits.after_access_ms is not None:
            lives &= pl.col(_USED) + limits.after_access_ms > now_ms
        entries = self.entries.filter(lives)
        return self if entries.height == self.entries.height else self._only(entries)

    def known(self, keys: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The rows of the keys that are cached, and the other keys."""
        rows = self.rows.join(keys, on=self.keys, how="semi", maintain_order="left")
        return rows, self._unknown(keys)

    def after(self, keys: pl.DataFrame, found: pl.DataFrame, now_ms: int) -> LookupCache:
        """With the use of some keys, of which those that were not known have `found` rows."""
        new = self._unknown(keys)
        if not self.limits.keeps_missing:
            new = new.join(found, on=self.keys, how="semi", maintain_order="left")
        now = pl.lit(now_ms, pl.Int64)
        added = new.select(*self.keys, now.alias(_WRITTEN), now.alias(_USED))
        entries = _appended(self._used(keys, now_ms), added)
        grown = replace(self, entries=entries, rows=_appended(self.rows, found))
        most = self.limits.max_keys
        if most is None or entries.height <= most:
            return grown
        # The keys used last are the last entries.
        return grown._only(entries.tail(most))

    def _unknown(self, keys: pl.DataFrame) -> pl.DataFrame:
        # Entries are compared with the few keys, not the other way: Polars hashes the right side.
        known = self.entries.join(keys, on=self.keys, how="semi")
        return keys.join(known, on=self.keys, how="anti", maintain_order="left")

    def _used(self, keys: pl.DataFrame, now_ms: int) -> pl.DataFrame:
        """The entries, of which those of the keys are the last ones. If nothing depends on when
        keys were used, they stay as they are.
        """
        if self.limits.after_access_ms is None and self.limits.max_keys is None:
            return self.entries
        used = self.entries.join(keys, on=self.keys, how="semi", maintain_order="left")
        others = self.entries.join(keys, on=self.keys, how="anti", maintain_order="left")
        return pl.concat([others, used.with_columns(pl.lit(now_ms, pl.Int64).alias(_USED))])

    def _only(self, entries: pl.DataFrame) -> LookupCache:
        rows = self.rows.join(entries, on=self.keys, how="semi", maintain_order="left")
        return replace(self, entries=entries, rows=rows)


def _appended(rows: pl.DataFrame, more: pl.DataFrame) -> pl.DataFrame:
    """All rows, in not too many pieces, without a copy for each batch."""
    together = pl.concat([rows, more])
    return together.rechunk() if together.n_chunks() > _MOST_PIECES else together
