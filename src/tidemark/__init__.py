"""Flink SQL's streaming joins and windows, unchanged, on Apache Spark, from Python.

>>> import tidemark
>>> tidemark.connect().sql("SELECT 1 + 1 AS two").rows()
[{'two': 2}]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidemark.catalog.user_functions import udaf, udf, udtf
    from tidemark.errors import TidemarkError
    from tidemark.rows import Change
    from tidemark.session.checkpoints import Checkpoint
    from tidemark.session.co_groups import co_group, window_join
    from tidemark.session.dataframes import temporal_join, window_aggregate
    from tidemark.session.interval_joins import interval_join, stream
    from tidemark.session.result import Result
    from tidemark.session.session import Session, connect
    from tidemark.session.workspace import Workspace
    from tidemark.spark.jobs import Job
    from tidemark.spark.progress import OperatorProgress, Progress
    from tidemark.spark.worker_packages import worker_packages

__version__ = "0.1.0"

# Loaded when first used: importing the package must be cheap.
_HOMES = {
    "Change": "tidemark.rows",
    "Checkpoint": "tidemark.session.checkpoints",
    "Job": "tidemark.spark.jobs",
    "OperatorProgress": "tidemark.spark.progress",
    "Progress": "tidemark.spark.progress",
    "Result": "tidemark.session.result",
    "Session": "tidemark.session.session",
    "TidemarkError": "tidemark.errors",
    "Workspace": "tidemark.session.workspace",
    "co_group": "tidemark.session.co_groups",
    "connect": "tidemark.session.session",
    "interval_join": "tidemark.session.interval_joins",
    "stream": "tidemark.session.interval_joins",
    "temporal_join": "tidemark.session.dataframes",
    "udaf": "tidemark.catalog.user_functions",
    "udf": "tidemark.catalog.user_functions",
    "udtf": "tidemark.catalog.user_functions",
    "window_aggregate": "tidemark.session.dataframes",
    "window_join": "tidemark.session.co_groups",
    "worker_packages": "tidemark.spark.worker_packages",
}

__all__ = [
    "Change",
    "Checkpoint",
    "Job",
    "OperatorProgress",
    "Progress",
    "Result",
    "Session",
    "TidemarkError",
    "Workspace",
    "__version__",
    "co_group",
    "connect",
    "interval_join",
    "stream",
    "temporal_join",
    "udaf",
    "udf",
    "udtf",
    "window_aggregate",
    "window_join",
    "worker_packages",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tidemark' has no attribute {name!r}")
