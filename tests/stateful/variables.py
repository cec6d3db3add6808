"""The state variables of a key group, without Spark."""

from __future__ import annotations

from typing import Any


class Variables:
    """What Spark's store does with the two variables, without Spark."""

    def __init__(self) -> None:
        self.values: dict[Any, tuple[Any, ...]] = {}
        self.calls = 0

    def get(self) -> tuple[Any, ...] | None:
        self.calls += 1
        return self.values.get("manifest")

    def update(self, value: tuple[Any, ...]) -> None:
        self.calls += 1
        self.values["manifest"] = value

    def getValue(self, key: Any) -> tuple[Any, ...] | None:  # noqa: N802
        self.calls += 1
        return self.values.get(key)

    def updateValue(self, key: Any, value: tuple[Any, ...]) -> None:  # noqa: N802
        self.calls += 1
        self.values[key] = value

    def removeKey(self, key: Any) -> None:  # noqa: N802
        self.calls += 1
        del self.values[key]
