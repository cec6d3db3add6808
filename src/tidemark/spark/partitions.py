"""How many shuffle partitions a stream needs at least."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tidemark.plan.nodes import Node, is_stateful, walk
from tidemark.spark.own_session import PARTITIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOG = logging.getLogger(__name__)


@contextmanager
def enough_partitions(spark: SparkSession, root: Node) -> Iterator[None]:
    """While a stream is built and started, as many partitions as its operators need.

    With one partition, Spark runs two stateful operators that follow each other in one task, in
    which each waits for the other forever.
    """
    before = spark.conf.get(PARTITIONS, None)
    if before is None or int(before) > 1 or not _has_chained_operators(root):
        yield
        return
    _LOG.warning(
        "%s is 1, but this job has stateful operators that follow each other: it runs on 2",
        PARTITIONS,
    )
    spark.conf.set(PARTITIONS, "2")
    try:
        yield
    finally:
        spark.conf.set(PARTITIONS, before)


def _has_chained_operators(root: Node) -> bool:
    stateful = (node for node in walk(root) if node.is_stateful)
    return any(is_stateful(below) for node in stateful for below in node.inputs)
