"""A Spark session for Tidemark next to the user's own, which is not changed.

Both share the cluster. Settings, temporary views and streaming queries belong to one session.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, finalize

from tidemark.spark.java_names import look_up
from tidemark.spark.remote import is_remote
from tidemark.spark.versions import new_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PARTITIONS = "spark.sql.shuffle.partitions"
# Set in every session of Tidemark's own, so that a session from it is not wrapped again.
_OWN = "spark.tidemark.session"
MARK: Mapping[str, str] = {_OWN: "own"}
_ENOUGH_ROWS = 4096


def is_own(spark: SparkSession) -> bool:
    return spark.conf.get(_OWN, None) is not None


def beside(
    users: SparkSession, settings: Mapping[str, str], theirs: Mapping[str, str] | None = None
) -> SparkSession:
    """A new session with the settings of the user's one, or those that are given as `theirs`, and
    with `settings` where there are none.

    Users who have not set the number of shuffle partitions do not want Spark's 200 tasks in each
    micro-batch: the default is the number of cores of the cluster.
    """
    with _rdds_left_alone():
        own = new_session(users)
    if is_remote(own):
        # At interpreter exit, the threads that closing the connection waits for are gone.
        finalize(own, own.client.close)
    else:
        look_up(own)
    theirs = users.conf.getAll if theirs is None else theirs
    there = own.conf.getAll
    wanted = {**settings, **theirs, **MARK}
    if PARTITIONS not in theirs:
        wanted[PARTITIONS] = str(_cores(own))
    for key, value in wanted.items():
        if there.get(key) != value and (key not in theirs or own.conf.isModifiable(key)):
            own.conf.set(key, value)
    return own


@contextmanager
def _rdds_left_alone() -> Iterator[None]:
    """Each new session makes itself the one that `rdd.toDF()` uses."""
    from pyspark import RDD

    before = getattr(RDD, "toDF", None)
    try:
        yield
    finally:
        if before is not None:
            RDD.toDF = before


def _cores(spark: SparkSession) -> int:
    """How many tasks the cluster runs at a time, as far as Spark knows."""
    if not is_remote(spark):
        return int(spark.sparkContext.defaultParallelism)
    # A server does not report it, but splits a range into one part per core.
    return int(spark.range(_ENOUGH_ROWS).selectExpr("spark_partition_id()").distinct().count())


# The views of frames on a server; they are needed as long as anything derived from the frames is.
_VIEWS: WeakKeyDictionary[DataFrame, str] = WeakKeyDictionary()


def moved(frame: DataFrame, spark: SparkSession) -> DataFrame:
    """The frame as one of another session, which then runs it."""
    if frame.sparkSession is spark:
        return frame
    if is_remote(spark):
        if frame not in _VIEWS:
            _VIEWS[frame] = _shared(frame)
        return spark.table(_VIEWS[frame])
    view = _shared(frame)
    try:
        return spark.table(view)
    finally:
        spark.catalog.dropGlobalTempView(view.split(".")[1])


def _shared(frame: DataFrame) -> str:
    """A name under which all sessions of the frame's Spark can find it."""
    name = f"tidemark_{uuid.uuid4().hex}"
    frame.createGlobalTempView(name)
    database = frame.sparkSession.conf.get("spark.sql.globalTempDatabase", "global_temp")
    return f"{database}.{name}"
