"""A scenario that is ready to be played."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from chaos.data import Step
from chaos.sinks import Sink
from servers.processes import ServerProcess


@dataclass(frozen=True)
class Played:
    script: str
    feed: Callable[[int, Step], None]
    sinks: Mapping[str, Sink]
    servers: Mapping[str, ServerProcess] = field(default_factory=dict)
