"""The state of all operators of a plan, for checkpoints: each node knows what it keeps."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Final

from tidemark.plan.nodes import Node
from tidemark.plan.nodes.state import KeptColumn, Rows
from tidemark.plan.operator_ids import kind_of, operators

__all__ = ["FILTERS", "KeptColumn", "KeptState", "LayoutOptions", "Rows", "kept_state"]

# The filters that rows have passed: those of the only input, or of the left and the right one.
FILTERS: Final = ("filters of the rows", "filters of the left rows", "filters of the right rows")
_IDLE_KEYS: Final = "idle keys"
_FILTERS_OF: Final = ((), FILTERS[:1], FILTERS[1:])  # by how many inputs it has


@dataclass(frozen=True, slots=True)
class KeptState:
    """The state of one operator: what it means, and which columns of each input it keeps."""

    id: str
    kind: str
    meaning: dict[str, Any]
    rows: tuple[Rows, ...]
    format: int = 1

    @property
    def forgets(self) -> bool:
        """Whether keys that are idle for a time are forgotten."""
        return _IDLE_KEYS in self.meaning

    @property
    def hash(self) -> str:
        """Equal for operators that can resume from each other's state."""
        content = json.dumps([self.kind, self.meaning], sort_keys=True)
        return hashlib.blake2b(content.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class LayoutOptions:
    """The options of a session that change how state is laid out."""

    zone: str
    ttl_ms: int = 0


def kept_state(root: Node, options: LayoutOptions) -> tuple[KeptState, ...]:
    """The state of each operator of a plan, in the order of their ids."""
    return tuple(_kept(id_, node, options) for id_, node in operators(root))


def _kept(id_: str, node: Node, options: LayoutOptions) -> KeptState:
    kind, state = kind_of(node), node.state
    assert kind is not None and state is not None
    meaning = dict(state.meaning)
    # Not how long they are kept: that may change.
    expire = [ttl > 0 for ttl in node.ttls_ms(options.ttl_ms)]
    if any(expire):
        sides = ["forgotten" if one else "kept" for one in expire]
        meaning[_IDLE_KEYS] = sides[0] if all(expire) else sides
    if state.follows_a_clock:
        meaning["time zone"] = options.zone
    for name, passed in zip(_FILTERS_OF[len(node.passed)], node.passed, strict=True):
        if passed:
            meaning[name] = [
                {"condition": json.loads(each.condition), "words": each.words} for each in passed
            ]
    # JSON has no tuples: values that are compared must look the same before and after.
    return KeptState(id_, kind, json.loads(json.dumps(meaning)), state.rows, state.format)
