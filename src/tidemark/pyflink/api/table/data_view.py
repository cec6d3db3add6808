"""What is imported as `pyflink.table.data_view`: collections for accumulators.

In Flink they are kept in state of their own. Here they are parts of the accumulator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


class DataView:
    """A collection in an accumulator."""

    _content: Any

    def clear(self) -> None:
        self._content.clear()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DataView) and self._content == other._content

    def __hash__(self) -> int:
        return hash(tuple(self._content))


class ListView(DataView):
    """A list of values."""

    def __init__(self) -> None:
        self._content: list[Any] = []

    def get(self) -> Iterable[Any]:
        return self._content

    def add(self, value: Any) -> None:
        self._content.append(value)

    def add_all(self, values: Iterable[Any]) -> None:
        self._content.extend(values)


class MapView(DataView):
    """Values by key."""

    def __init__(self) -> None:
        self._content: dict[Any, Any] = {}

    def get(self, key: Any) -> Any:
        return self._content.get(key)

    def put(self, key: Any, value: Any) -> None:
        self._content[key] = value

    def put_all(self, dict_value: dict[Any, Any]) -> None:
        self._content.update(dict_value)

    def remove(self, key: Any) -> None:
        self._content.pop(key, None)

    def contains(self, key: Any) -> bool:
        return key in self._content

    def items(self) -> Iterable[tuple[Any, Any]]:
        return self._content.items()

    def keys(self) -> Iterable[Any]:
        return self._content.keys()

    def values(self) -> Iterable[Any]:
        return self._content.values()

    def is_empty(self) -> bool:
        return not self._content

    def __getitem__(self, key: Any) -> Any:
        return self.get(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.put(key, value)

    def __delitem__(self, key: Any) -> None:
        self.remove(key)

    def __contains__(self, key: Any) -> bool:
        return self.contains(key)
