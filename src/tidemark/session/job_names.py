"""Names of jobs. A script that runs again gets the same names, by which its jobs find their
checkpoints.
"""

from __future__ import annotations

from collections import Counter

from tidemark.catalog.options import JOB_NAME, SessionOptions
from tidemark.plan.nodes import Node, Sink

QUERY = "query"


class JobNames:
    """Gives each job of a session a unique name."""

    def __init__(self, options: SessionOptions) -> None:
        self._options = options
        self._given: Counter[str] = Counter()

    def next(self, root: Node) -> str:
        what = f"insert-into-{root.table.name}" if isinstance(root, Sink) else QUERY
        name = self._options.get(JOB_NAME) or what
        self._given[name] += 1
        return f"{name}-{self._given[name]}" if self._given[name] > 1 else name
