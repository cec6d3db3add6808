"""Things by name, of which each is loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import TypeVar

_Thing = TypeVar("_Thing")


class LoadedByName(MutableMapping[str, _Thing]):
    """What modules of a package have, by its name: `module.ATTRIBUTE` says where."""

    def __init__(self, package: str, places: Mapping[str, str]) -> None:
        self._package = package
        self._places: dict[str, str | None] = dict(places)
        self._loaded: dict[str, _Thing] = {}

    def __getitem__(self, name: str) -> _Thing:
        place = self._places[name]
        if name not in self._loaded:
            module, _, attribute = f"{self._package}.{place}".rpartition(".")
            self._loaded[name] = getattr(import_module(module), attribute)
        return self._loaded[name]

    def __setitem__(self, name: str, thing: _Thing) -> None:
        self._places[name], self._loaded[name] = None, thing

    def __delitem__(self, name: str) -> None:
        del self._places[name]
        self._loaded.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
