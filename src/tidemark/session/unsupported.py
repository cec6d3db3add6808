"""What joins of DataFrames in windows cannot do."""

from __future__ import annotations

from typing import Final

from tidemark.unsupported import NEVER, Unsupported

_JOINS = "Window joins of DataFrames"

EARLY_AND_LATE_RESULTS: Final = Unsupported(
    _JOINS,
    "early and late results of window joins",
    why="a joined window is emitted once, when the watermark closes it",
    hint="remove early_fire, late_fire and allowed_lateness",
    says="are not supported",
)
OUTER_SESSIONS: Final = Unsupported(
    _JOINS,
    "a window join with how='{}' over session windows",
    why="only matching rows are in a session of both sides",
    hint="use co_group, whose function also gets groups with rows of one side only",
    each=dict.fromkeys(("left", "right", "full", "semi", "anti")),
    says=NEVER,
    title="outer, semi and anti joins over session windows",
)
