"""What is made once, and taken by one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class MadeOnce(Generic[T]):
    """Items that the first to ask for them makes, and all others find here."""

    def __init__(self) -> None:
        self._items: list[T] | None = None

    def of(self, make: Callable[[], Iterable[T]]) -> Iterator[T]:
        if self._items is not None:
            yield from self._items
            return
        self._items = []
        for item in make():
            self._items.append(item)
            yield item
