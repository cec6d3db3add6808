"""The Spark settings needed to compute like Flink, and how a local Spark is started."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.errors import SetupError
from tidemark.spark import class_archive, java_names, machine
from tidemark.spark.defaults import spark_defaults, spark_home
from tidemark.spark.interpreter import quick_to_start, use_this_python, worker_settings
from tidemark.spark.local_files import set_permissions_in_java
from tidemark.spark.logs import quiet_spark_config, silence_query_context
from tidemark.spark.own_session import MARK, beside, is_own
from tidemark.spark.warm_workers import start_workers
from tidemark.spark.worker_packages import use_packages_of_workers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PYSPARK = "pyspark>=4.2,<4.4"
# Can be set on a running session. The user's own settings win.
RUNTIME: Mapping[str, str] = {
    # Integers wrap around and a failed function returns NULL, as in Flink. Where Flink fails (CAST,
    # division by zero), the SQL for Spark raises an error itself.
    "spark.sql.ansi.enabled": "false",
    # A cast or a division can fail, but must fail only for rows that reach it. Spark must not
    # evaluate it with a constant or another column that equals one of its columns in the rows that
    # a filter keeps, because it does so for all other rows too; nor before earlier operands of an
    # AND, whether to compute it once or because those cost more.
    "spark.sql.optimizer.excludedRules": (
        "org.apache.spark.sql.catalyst.optimizer.ConstantPropagation"
    ),
    "spark.sql.constraintPropagation.enabled": "false",
    "spark.sql.subexpressionElimination.skipForShortcutExpr": "true",
    "spark.sql.optimizer.avoidDoubleFilterEval": "false",
    # Spark has a TIME type, but does not enable it by default.
    "spark.sql.timeType.enabled": "true",
    # The last value of a repeated map key wins.
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    # Otherwise a size is computed for every row; batches are bounded by their number of rows.
    "spark.sql.execution.arrow.maxBytesPerBatch": "2147483647",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Rows between workers of one machine are in files, and only their names are shuffled. Going by
    # the size of those, Spark would run all key groups of a batch in one task, on one core.
    "spark.sql.adaptive.coalescePartitions.minPartitionSize": "1b",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # A bounded stream continues to its end even if a source, such as the ticker, never ends:
    # otherwise Spark would run one batch, but never the one that emits the last rows.
    "spark.sql.streaming.triggerAvailableNowWrapper.enabled": "true",
    # A job that another session has stopped must not look running after a restart.
    "spark.sql.streaming.stopTimeout": "60s",
}

_JAVA_OPTIONS = "spark.driver.defaultJavaOptions"

# A local Spark's driver is not reachable from outside, and needs no resolvable host name. It is the
# executor too: rows pass through it in values of megabytes, and a stream's state is outside its
# heap. The throughput collector uses half as much CPU for that as the default one. The quick JIT
# compiler compiles a little later than by default, and the thorough one much later: what runs for
# every row is still compiled soon, and thousands of planner methods leave the cores to the query.
_COMPILERS = (
    "-XX:CompileThresholdScaling=3 -XX:Tier4InvocationThreshold=50000"
    " -XX:Tier4MinInvocationThreshold=6000 -XX:Tier4CompileThreshold=150000"
    " -XX:Tier4BackEdgeThreshold=400000"
)
ON_THIS_MACHINE: Mapping[str, str] = {
    "spark.driver.host": "localhost",
    "spark.driver.bindAddress": "127.0.0.1",
    _JAVA_OPTIONS: f"-XX:+UseParallelGC {_COMPILERS}",
    # The default one starts some twenty processes for each micro-batch here, to follow links and to
    # set permissions; this one renames files itself.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}
# Java's default is a quarter of the memory; Spark's, one gigabyte, fills up within a batch.
_LEAST_MEMORY, _MOST_MEMORY = 1 << 30, 4 << 30


def own_settings(master: str) -> dict[str, str]:
    """Additional settings of a Spark session that Tidemark starts itself.

    On a cluster the executors must find the driver, which is left to Spark and the user.
    """
    return {
        **RUNTIME,
        **MARK,
        **quiet_spark_config(),
        "spark.app.name": "tidemark",
        "spark.ui.enabled": "false",
        # With it, Spark runs two stateful operators in one task, which then waits forever.
        "spark.sql.shuffle.partitions": str(max(2, machine.cores())),
        **(_on_this_machine() if master.startswith("local") else {}),
        "spark.sql.warehouse.dir": os.path.join(_temporary(), "tidemark-warehouse"),
        "spark.executorEnv.POLARS_MAX_THREADS": "1",
        # Spark sets it for functions over columns, but not for stateful operators, and starts a
        # daemon for each set of variables.
        "spark.executorEnv.SPARK_SIMPLIFIED_TRACEBACK": "1",
    }


def _on_this_machine() -> dict[str, str]:
    memory = min(max(machine.memory() // 4, _LEAST_MEMORY), _MOST_MEMORY)
    return {**ON_THIS_MACHINE, **worker_settings(), "spark.driver.memory": f"{memory >> 20}m"}


def _temporary() -> str:
    import tempfile

    return tempfile.gettempdir()


def start(config: Mapping[str, str]) -> SparkSession:
    """A Spark session: local unless `config`, SPARK_REMOTE or spark-defaults say otherwise."""
    use_this_python()
    remote = config.get("spark.remote") or os.environ.get("SPARK_REMOTE")
    java = _java() if remote is None else None
    try:
        from pyspark.sql import SparkSession
    except ImportError as problem:
        raise SetupError(
            f"cannot import PySpark: {problem}", hint=f"pip install '{PYSPARK}'"
        ) from None
    builder = SparkSession.builder
    wanted = started_with(config, spark_defaults(), remote)
    use_packages_of_workers(wanted)
    for key, value in wanted.items():
        builder = builder.config(key, value)
    local = (remote or wanted["spark.master"]).startswith("local")
    if local and java is not None:
        builder = builder.config(_JAVA_OPTIONS, _quick_to_start_java(java, wanted))
    try:
        with quick_to_start() if local else nullcontext():
            session: SparkSession = builder.getOrCreate()
    except Exception as problem:
        raise SetupError(
            f"Spark did not start: {_first_line(problem)}",
            hint="`tidemark doctor` checks Java and the packages that Spark needs",
        ) from problem
    if java is not None:
        java_names.look_up(session)
    if local and java is not None and os.name == "posix":
        set_permissions_in_java(session)
    if local and java is not None:
        start_workers(session)
    silence_query_context()
    return session


def started_with(
    config: Mapping[str, str], defaults: Mapping[str, str], remote: str | None = None
) -> dict[str, str]:
    """All settings of a Spark that is about to start.

    User settings win: `config`, then the environment, then spark-defaults.
    """
    if remote is not None:
        return {**own_settings(remote), **config}
    environment = {"spark.master": m} if (m := os.environ.get("MASTER")) else {}
    chosen = {"spark.master": "local[*]", **defaults, **environment, **config}
    return {**own_settings(chosen["spark.master"]), **chosen}


def _java() -> Path:
    java = machine.java()
    if java is None:
        home = os.environ.get("JAVA_HOME")
        raise SetupError(
            "Spark needs Java, and none was found" + (f" in JAVA_HOME ({home})" if home else ""),
            hint="install Java 17 or newer, or set JAVA_HOME; check with `tidemark doctor`",
        )
    return java


def _quick_to_start_java(java: Path, wanted: Mapping[str, str]) -> str:
    """The options of a local driver; those that a user has chosen stay as they are."""
    options = wanted[_JAVA_OPTIONS]
    if options != ON_THIS_MACHINE[_JAVA_OPTIONS] or "spark.driver.extraClassPath" in wanted:
        return options
    return f"{options} {class_archive.java_options(java, spark_home())}".rstrip()


def _first_line(problem: Exception) -> str:
    return str(problem).strip().split("\n", 1)[0] or type(problem).__name__


def running() -> SparkSession | None:
    """The user's session, if a Spark that Tidemark did not start runs in this process."""
    if "pyspark.sql" not in sys.modules:
        return None
    from pyspark.sql import SparkSession

    active: SparkSession | None = SparkSession.getActiveSession()
    if active is None:
        active = _of_another_thread()
    return None if active is None or is_own(active) else active


def _of_another_thread() -> SparkSession | None:
    """The classic session that `getOrCreate` would change; only its own thread has it active."""
    from pyspark.sql import SparkSession

    session: SparkSession | None = SparkSession._instantiatedSession
    is_running = session is not None and session.sparkContext._jsc is not None
    return session if is_running else None


def session_beside(users: SparkSession, config: Mapping[str, str]) -> SparkSession:
    """A session to run on that does not change the user's, unless that one is Tidemark's
    already.
    """
    if is_own(users) and not config:
        return users
    own = beside(users, RUNTIME)
    for key, value in config.items():
        own.conf.set(key, value)
    return own
