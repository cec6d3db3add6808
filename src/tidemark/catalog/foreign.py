"""What a catalog outside of this process has: asked for each time, and never changed from here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass
from typing import TypeVar

from tidemark.errors import CatalogError

Held = TypeVar("Held")


@dataclass(frozen=True, eq=False)
class Foreign(MutableMapping[str, Held]):
    """Databases or tables by name."""

    catalog: str
    names: Callable[[], list[str]]
    load: Callable[[str], Held | None]

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
        raise self._read_only(name)

    def __delitem__(self, name: str) -> None:
        raise self._read_only(name)

    def _read_only(self, name: str) -> CatalogError:
        return CatalogError(
            f"`{name}` cannot be changed: catalog `{self.catalog}` is read-only, as in Flink",
            hint="change it in the database system, or CREATE TEMPORARY TABLE",
        )
