"""Jobs that are played: what they read and write, and which operators are between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from chaos.scenarios.database import debezium_to_database
from chaos.scenarios.files import files
from chaos.scenarios.played import Played
from chaos.scenarios.topics import topics, upserts
from chaos.world import World

Scenario = Callable[[World, Path, ExitStack], Played]

SCENARIOS: Mapping[str, Scenario] = {
    "files": files,
    "topics": topics,
    "upserts": upserts,
    "database": debezium_to_database,
}
