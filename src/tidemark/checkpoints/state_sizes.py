"""What a running job occasionally records beside its contract: the size of its operators' state.

Operators report by key group, and only on the groups that had something to do. So the numbers of
each group are kept until it reports again, even after restarts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tidemark.checkpoints import files
from tidemark.storage import Location

NAME = "progress.json"


@dataclass(frozen=True, slots=True)
class Group:
    """An operator's state in one key group."""

    rows: int = 0
    bytes: int = 0
    waiting: int = 0


@dataclass(slots=True)
class StateSizes:
    """After which micro-batch it was recorded, and each operator's state by key group."""

    batch: int = -1
    operators: dict[str, dict[str, Group]] = field(default_factory=dict)

    def add(self, batch: int, operators: Mapping[str, Mapping[str, Group]]) -> None:
        self.batch = max(self.batch, batch)
        for name, groups in operators.items():
            self.operators.setdefault(name, {}).update(groups)

    def total(self, operator: str) -> Group | None:
        """The operator's state; None if it has never reported."""
        groups = self.operators.get(operator)
        if groups is None:
            return None
        return Group(
            sum(group.rows for group in groups.values()),
            sum(group.bytes for group in groups.values()),
            sum(group.waiting for group in groups.values()),
        )


def read(job: Location) -> StateSizes:
    """The last record; empty if there is none, or it cannot be read: it is not part of the
    contract.
    """
    try:
        content: dict[str, Any] = json.loads(files.read_text(job / NAME) or "{}")
        groups = {
            operator: {label: Group(**group) for label, group in kept.items()}
            for operator, kept in content.get("operators", {}).items()
        }
        return StateSizes(content.get("batch", -1), groups)
    except (ValueError, TypeError, AttributeError):
        return StateSizes()


def write(job: Location, sizes: StateSizes) -> None:
    files.write_text(job / NAME, json.dumps(asdict(sizes)) + "\n")
