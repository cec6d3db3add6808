"""What a catalog outside of this process has: asked for each time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import TypeVar

from tidemark.errors import CatalogError

Held = TypeVar("Held")


@dataclass(frozen=True, eq=False)
class Foreign(MutableMapping[str, Held]):
    """Databases or tables by name; without functions that change them they are read-only."""

    catalog: str
    names: Callable[[], list[str]]
    load: Callable[[str], Held | None]
    store: Callable[[str, Held], None] | None = None
    remove: Callable[[str], None] | None = None
    move: Callable[[str, str], None] | None = None

    def __getitem__(self, name: str) -> Held:
        found = self.load(name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def __setitem__(self, name: str, value: Held) -> None:
        if self.store is None:
            raise self._read_only(name)
        self.store(name, value)

    def __delitem__(self, name: str) -> None:
        if self.remove is None:
            raise self._read_only(name)
        self.remove(name)

    def rename(self, old: str, new: str, value: Held) -> None:
        """Call what is there by another name; `value` is what it then is."""
        if self.move is None:
            raise self._read_only(old)
        self.move(old, new)

    def _read_only(self, name: str) -> CatalogError:
        return CatalogError(
            f"`{name}` cannot be changed: catalog `{self.catalog}` is read-only, as in Flink",
            hint="change it in the database system, or CREATE TEMPORARY TABLE",
        )


@dataclass(frozen=True, eq=False)
class Rehearsed(Foreign[Held]):
    """The same, but changes are only made here: a script is planned that does not run."""

    known: dict[str, Held | None] = field(default_factory=dict)  # None: dropped
    made: set[str] = field(default_factory=set)  # all that is not there yet

    def __getitem__(self, name: str) -> Held:
        if name not in self.known:
            # A database is kept, because tables in it may change.
            self.known[name] = super().__getitem__(name)
        found = self.known[name]
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        yield from (name for name in self.names() if name not in self.known)
        yield from (name for name, value in self.known.items() if value is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __setitem__(self, name: str, value: Held) -> None:
        if name not in self:
            self.made.add(name)
        self.known[name] = value

    def __delitem__(self, name: str) -> None:
        self.known[name] = None

    def rename(self, old: str, new: str, value: Held) -> None:
        self.made.add(new)
        self.known.update({old: None, new: value})
