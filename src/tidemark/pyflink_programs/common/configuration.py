"""PyFlink's `Configuration`: options by their keys, as strings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Configuration:
    """Options that an environment is made of."""

    def __init__(self, other: Configuration | None = None) -> None:
        self._values: dict[str, str] = {} if other is None else other.to_dict()

    @classmethod
    def from_dict(cls, map: Mapping[str, str]) -> Configuration:
        made = cls()
        for key, value in map.items():
            made.set_string(key, value)
        return made

    def set_string(self, key: str, value: str) -> Configuration:
        self._values[key] = value
        return self

    def set_integer(self, key: str, value: int) -> Configuration:
        return self.set_string(key, str(value))

    def set_float(self, key: str, value: float) -> Configuration:
        return self.set_string(key, str(value))

    def set_boolean(self, key: str, value: bool) -> Configuration:
        return self.set_string(key, str(value).lower())

    def get_string(self, key: str, default_value: str) -> str:
        return self._values.get(key, default_value)

    def get_integer(self, key: str, default_value: int) -> int:
        return int(self._values.get(key, default_value))

    def get_float(self, key: str, default_value: float) -> float:
        return float(self._values.get(key, default_value))

    def get_boolean(self, key: str, default_value: bool) -> bool:
        return self._values.get(key, str(default_value)).lower() == "true"

    def key_set(self) -> set[str]:
        return set(self._values)

    def contains_key(self, key: str) -> bool:
        return key in self._values

    def to_dict(self) -> dict[str, str]:
        return dict(self._values)

    def add_all_to_dict(self, target_dict: dict[str, str]) -> None:
        target_dict.update(self._values)

    def add_all(self, other: Configuration, prefix: str | None = None) -> Configuration:
        for key, value in other.to_dict().items():
            self.set_string(f"{prefix or ''}{key}", value)
        return self

    def remove_config(self, key: str) -> bool:
        return self._values.pop(key, None) is not None

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Configuration) and self._values == other._values

    def __hash__(self) -> int:
        return hash(frozenset(self._values.items()))

    def __str__(self) -> str:
        return str(self._values)
