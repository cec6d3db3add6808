"""Which task of Spark this is."""

from __future__ import annotations


def task_number() -> int:
    """The number of the task among those of its stage; 0 outside of Spark."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())
