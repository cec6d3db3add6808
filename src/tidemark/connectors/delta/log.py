"""The log of a Delta table: what each version added and removed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.connectors.delta.tables import DeltaPlace
from tidemark.errors import DataError


@dataclass(frozen=True, slots=True)
class Commit:
    """A version, as far as it is about rows: what only moves rows to other files is left out."""

    version: int
    adds: Sequence[Mapping[str, Any]]
    removes: Sequence[Mapping[str, Any]]
    changes_table: bool  # its columns or its protocol
    reader_features: Sequence[str]
    operation: str | None


def commits(place: DeltaPlace, first: int, last: int) -> Iterator[Commit]:
    for version in range(first, last + 1):
        content = place.commit(version).read()
        if content is None:
            raise DataError(
                f"version {version} of {place} is not in its log any more",
                notes={"why": "the log was cleaned up before the version was read"},
                hint="start the job without its checkpoint; it reads the newest version first",
            )
        yield _commit(version, content)


def _commit(version: int, content: bytes) -> Commit:
    actions = [json.loads(line) for line in content.splitlines() if line.strip()]
    adds, removes = (
        [a[kind] for a in actions if kind in a and a[kind].get("dataChange", True)]
        for kind in ("add", "remove")
    )
    protocols = [action["protocol"] for action in actions if "protocol" in action]
    about = [action["commitInfo"] for action in actions if "commitInfo" in action]
    return Commit(
        version,
        adds,
        removes,
        any("metaData" in action or "protocol" in action for action in actions),
        [name for protocol in protocols for name in protocol.get("readerFeatures") or ()],
        about[0].get("operation") if about else None,
    )
