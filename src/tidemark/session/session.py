"""`tidemark.connect()` and the session that it returns."""

from __future__ import annotations

import hashlib
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tidemark.catalog.loading import module_of
from tidemark.catalog.options import (
    ENGINE,
    IGNORE_UNCLAIMED,
    MAX_PARALLELISM,
    SAVEPOINT,
    SessionOptions,
)
from tidemark.catalog.tables import Changelog, TemporalFunction
from tidemark.catalog.user_functions import TypeLike, declare
from tidemark.checkpoints.resuming import with_jobs_of
from tidemark.connectors import registry
from tidemark.dialect import parse_script, quoted_path
from tidemark.dialect import statements as s
from tidemark.errors import NeedsSpark, Source, SqlError, TidemarkError
from tidemark.physical import Settings
from tidemark.plan.handed_out import is_reader, readers_of
from tidemark.plan.nodes import Node, Sink
from tidemark.plan.planner import Plan
from tidemark.plan.windows.emit import EmitRules
from tidemark.session import (
    columns_in_workers,
    local_runs,
    lookups_in_workers,
    plan_files,
    sinks,
    sources,
)
from tidemark.session.changes import ChangeStream, Put
from tidemark.session.failures import diagnose
from tidemark.session.job_names import JobNames
from tidemark.session.job_tables import asks_for_jobs, jobs_shown
from tidemark.session.plan_files import StoredPlan
from tidemark.session.registration import lookup_table_of, table_of
from tidemark.session.result import JobResult, QueryResult, Result, TableOutput
from tidemark.session.workspace import Planned, Workspace
from tidemark.spark import settings, sharing
from tidemark.spark.file_systems import access_of
from tidemark.spark.frame import KIND
from tidemark.spark.jobs import Job, Run
from tidemark.spark.launch import Launcher, Reader
from tidemark.spark.remote import is_remote
from tidemark.spark.shipped_modules import ship
from tidemark.storage import Location

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from tidemark.kernels.aggregates.folded import Accumulating
    from tidemark.session.metrics.server import MetricsServer
    from tidemark.spark.first_start import FirstStart
    from tidemark.spark.frame import Frame


def connect(
    spark: SparkSession | None = None,
    *,
    options: Mapping[str, str] | None = None,
    spark_config: Mapping[str, str] | None = None,
    checkpoint: str | Path | None = None,
    engine: Literal["spark", "local"] | None = None,
) -> Session:
    """A session with a catalog of its own.

    Without `spark`, a local Spark starts when the first query runs, unless one is already running
    in this process. If you pass a session, it is not changed: queries run on another one of the
    same Spark.
    `options` are session options as in `SET 'key' = 'value'`; `checkpoint` is a folder from which
    jobs resume, a local path or a URI such as `s3a://bucket/folder`. The engine "local" runs
    statements over bounded tables in this process, without Spark, as `SET 'tidemark.engine' =
    'local'` does.

    >>> import tidemark
    >>> session = tidemark.connect()
    >>> session.sql("SELECT UPPER('tide') AS word").rows()
    [{'word': 'TIDE'}]
    """
    if engine is not None:
        options = {**(options or {}), ENGINE: engine}
    return Session(spark, options, spark_config, checkpoint)


class Session:
    """Runs Flink SQL on Spark. See `connect`."""

    def __init__(
        self,
        spark: SparkSession | None = None,
        options: Mapping[str, str] | None = None,
        spark_config: Mapping[str, str] | None = None,
        checkpoint: str | Path | None = None,
    ) -> None:
        self.workspace = Workspace(options, runs=True)
        self.jobs: list[Job] = []
        self._given = spark
        self._config = dict(spark_config or {})
        self._checkpoint = None if checkpoint is None else Location.of(checkpoint)
        self._names = JobNames(self.workspace.options)
        self._spark: SparkSession | None = None
        self._zone: str | None = None
        self._metrics: MetricsServer | None = None

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def spark(self) -> SparkSession:
        """The Spark session that queries run on; started on first access."""
        if self._spark is None:
            config = {**self.workspace.options.spark(), **self._config}
            if self._given is None:
                self._given = settings.running()
            if self._given is None:
                self._spark = sharing.join(self, config)
            else:
                self._spark = settings.session_beside(self._given, config)
            self._zone = self._spark.conf.get("spark.sql.session.timeZone")
        return self._spark

    # --- SQL -----------------------------------------------------------------------------------

    def sql(self, text: str, name: str = "<sql>") -> Result:
        """Run all statements of a script and return the last result. Jobs run in the background."""
        results = deque(self.run(text, name), maxlen=1)
        if not results:
            raise TidemarkError("the script contains no statements")
        return results[0]

    def run(self, text: str, name: str = "<sql>") -> Iterator[Result]:
        """Run the statements one by one, each when its result is requested."""
        script = parse_script(text, name)
        for statement in script.statements:
            yield self._execute(self.workspace.apply(statement, script.source))

    def table(self, name: str) -> Result:
        """All rows of a table or view, by its name or its path: `orders`, `db.orders`.

        A name that contains a dot is written in backquotes, as in SQL.

        >>> session.table("orders").to_dataframe()  # doctest: +SKIP
        """
        script = parse_script(f"SELECT * FROM {quoted_path(name)}")
        return self._execute(self.workspace.apply(script.statements[0], script.source))

    def _execute(self, planned: Planned) -> Result:
        if isinstance(planned.statement, s.CompilePlan) and planned.compiled is not None:
            self._store(planned.statement, planned.compiled, planned.source)
        if asks_for_jobs(planned.statement):
            shown = jobs_shown(planned.statement, planned.source, self.jobs)
            return TableOutput(planned.statement, shown)
        if planned.plan is not None and planned.options is not None:
            with self._using(planned.options):
                return self._insert(planned.statement, planned.plan)
        if planned.plan is not None:
            if isinstance(planned.statement, s.Query):
                return self._query(planned.statement, planned.plan)
            return self._insert(planned.statement, planned.plan)
        if planned.result is not None:
            return TableOutput(planned.statement, planned.result)
        if isinstance(planned.statement, s.Set) and planned.statement.option is not None:
            option = planned.statement.option
            self._set_on_spark(option.key, option.value)
        return Result(planned.statement, planned.message)

    def _store(self, statement: s.CompilePlan, plan: StoredPlan, source: Source) -> None:
        if statement.if_not_exists and plan_files.exists(statement.path):
            return
        replaces = self.workspace.options.forces_recompiling
        try:
            plan_files.write(statement.path, plan, statement.span, replace=replaces)
        except SqlError as error:
            raise error.located_in(source) from None

    @contextmanager
    def _using(self, options: SessionOptions) -> Iterator[None]:
        """Jobs of a plan start with the options that it was compiled with."""
        own, self.workspace.options = self.workspace.options, options
        try:
            yield
        finally:
            self.workspace.options = own

    def set(self, key: str, value: str) -> str | None:
        """Set a session option, as `SET 'key' = 'value'` does. Returns a note if it has no effect
        here.
        """
        note = self.workspace.options.set(key, value)
        self._set_on_spark(key, value)
        return note

    def _set_on_spark(self, key: str, value: str) -> None:
        if key.startswith("spark.") and self._spark is not None:
            self.spark.conf.set(key, value)

    # --- running -------------------------------------------------------------------------------

    def launcher(self) -> Launcher:
        """A launcher of plans with the current options of the session."""
        spark, options = self.spark, self.workspace.options
        functions = self.workspace.catalogs.all_functions()
        ship(spark, map(module_of, [*functions, *self.workspace.functions_of_plans]))
        savepoint = options.first(SAVEPOINT)
        return Launcher(
            spark,
            Settings.of(
                options,
                self._zone,
                columns_in_workers.TABLES,
            ),
            sources.read,
            columns_in_workers.read,
            lookups_in_workers.joined,
            diagnose,
            checkpoint=self._checkpoint and replace(self._checkpoint, access=access_of(spark)),
            drops_unclaimed=(options.first(IGNORE_UNCLAIMED) or "").lower() == "true",
            savepoint=None if savepoint is None else Location.of(savepoint, access_of(spark)),
            interval_ms=options.interval_ms,
            key_groups=int(options.get(MAX_PARALLELISM) or 0) or None,
        )

    @property
    def _is_local(self) -> bool:
        """Whether statements run in this process instead of on Spark."""
        return (self.workspace.options.get(ENGINE) or "").lower() == "local"

    @property
    def _local_settings(self) -> Settings:
        if self._checkpoint is not None:
            raise NeedsSpark("a checkpoint")
        zone = self._zone or local_runs.system_zone()
        return Settings.of(self.workspace.options, zone, columns_in_workers.TABLES_READ_HERE)

    def _query(self, statement: s.Query, plan: Plan) -> Result:
        [root] = plan.roots
        name = self._names.next(root)

        # What needs Spark is found now, not when rows are asked for.
        locally = local_runs.reading(root, self._local_settings) if self._is_local else None

        def start() -> ChangeStream:
            if locally is not None:
                return started(locally)
            launcher = self.launcher()

            def run(put: Put) -> Run:
                return launcher.start(
                    root, plan, name, sinks.collector(root.edge, launcher.settings.zone, put)
                )

            # Over Spark Connect the server commits micro-batches before they come here.
            resumes = bool(launcher.resumable) and not is_remote(launcher.spark)
            return started(run, resumes=resumes)

        def started(run: Callable[[Put], Run], *, resumes: bool = False) -> ChangeStream:
            stream = ChangeStream(name, run, resumes=resumes)
            self.jobs.append(stream.job)
            return stream

        def run_windows(query: s.Query, source: Source, rules: EmitRules) -> Result:
            return self._execute(self.workspace.plan_windows(query, source, rules))

        return QueryResult(
            statement, root.edge, start, partial(self.dataframe, root), run_windows, plan.warnings
        )

    def dataframe(self, root: Node, kind_column: str = "row_kind") -> DataFrame:
        """A plan as a DataFrame, streaming if it is unbounded."""
        built = self.launcher().frame(root, streaming=not root.edge.bounded)
        return _with_user_names(built, root, kind_column)

    def collect(self, root: Node, streaming: bool, start: FirstStart) -> Iterator[pa.Table]:
        """The rows of a bounded plan, computed as a stream or as a batch whatever the session's
        mode.
        """
        launcher = replace(self.launcher(), always_stream=streaming, start_of_jobs=start)
        plan = Plan((root,), "streaming" if streaming else "batch")

        def run(put: Put) -> Run:
            return launcher.start(
                root, plan, "verify", sinks.collector(root.edge, launcher.settings.zone, put)
            )

        stream = ChangeStream("verify", run)
        try:
            yield from stream
        finally:
            stream.close()

    def _insert(self, statement: s.Statement, plan: Plan) -> Result:
        if self._is_local:
            return self._insert_locally(statement, plan)
        if is_remote(self.spark):
            # The client lowers what is above an operator, and batches are on the server.
            plan = plan.of_single_roots
        names = [self._names.next(root) for root in plan.roots]
        plan = with_jobs_of(self.launcher().resumable, plan, names)
        named = list(zip(plan.roots, names, strict=True))
        runs = [self._start(root, plan, name) for root, name in named if not is_reader(root)]
        return self._job(statement, plan, named, runs)

    def _insert_locally(self, statement: s.Statement, plan: Plan) -> Result:
        """In this process; no root starts if another one needs Spark."""
        plan = plan.of_single_roots
        named = [(root, self._names.next(root)) for root in plan.roots]
        ready = [local_runs.writing(root, self._local_settings) for root, _ in named]
        return self._job(statement, plan, named, [start() for start in ready])

    def _job(
        self,
        statement: s.Statement,
        plan: Plan,
        named: Sequence[tuple[Node, str]],
        runs: Sequence[Run],
    ) -> Result:
        job = Job("+".join(name for _, name in named), [*runs])
        self.jobs.append(job)
        if (self.workspace.options.get("table.dml-sync") or "").lower() == "true":
            job.wait()
        return JobResult(statement, job, plan.bounded, plan.warnings)

    def _start(self, root: Node, plan: Plan, name: str) -> Run:
        """A root and those that are a part of its job."""
        assert isinstance(root, Sink)
        parts = list(readers_of(root, plan.roots))
        follows = any(map(sinks.follows_watermark, [root, *parts]))
        launcher = replace(self.launcher(), sink_follows=follows)
        zone = launcher.settings.zone
        readers = []
        for place, part in enumerate(parts):
            # A batch of the job is one for each of its sinks, also where they are the same.
            lasting = self._lasting_name(f"{name}/late-{place}") or uuid.uuid4().hex[:16]
            readers.append(Reader(part, sinks.writer(part, zone, lasting)))
        consume = sinks.writer(root, zone, self._lasting_name(name))
        here = sinks.on_client(root)
        return launcher.start(root, plan, name, consume, on_client=here, readers=readers)

    def _lasting_name(self, name: str) -> str | None:
        """The name by which a sink knows a job after a restart; None if the job cannot restart."""
        if self._checkpoint is None:
            return None
        place = hashlib.sha256((self._checkpoint / name).uri.encode()).hexdigest()
        return place[:16]

    def serve_metrics(self, port: int, address: str = "127.0.0.1") -> str:
        """Serve the metrics of this session's jobs to Prometheus until the session is stopped.
        Returns the URL. With 0, any free port is used.

        >>> session.serve_metrics(9249)  # doctest: +SKIP
        'http://127.0.0.1:9249/metrics'
        """
        from tidemark.session.metrics.server import serve

        if self._metrics is not None:
            self._metrics.close()
            self._metrics = None
        self._metrics = serve(lambda: self.jobs, port, address)
        return self._metrics.url

    def stop(self) -> None:
        """Stop the jobs of this session, and Spark if no other session uses the one that Tidemark
        has started."""
        if self._metrics is not None:
            self._metrics.close()
            self._metrics = None
        for job in self.jobs:
            job.stop()
        if self._spark is not None and self._given is None:
            sharing.leave(self)
        self._spark = None

    # --- Python --------------------------------------------------------------------------------

    def register(
        self,
        name: str,
        frame: DataFrame | pa.Table | pd.DataFrame | pl.DataFrame,
        *,
        watermark: str | None = None,
        primary_key: Sequence[str] | None = None,
        row_kind: str | None = None,
        in_order: bool = True,
    ) -> None:
        """Make a DataFrame of Spark, streaming or not, or rows in memory a temporary table of this
        session. Those are in frames of pandas or Polars, or in an Arrow table, and need no Spark.

        `watermark` is an expression such as `ts - INTERVAL '5' SECOND`; `row_kind` names a column
        with `+I`, `-U`, `+U` or `-D` if the frame is a changelog. Rows in memory arrive one after
        the other, so that they may be late; if they are not `in_order`, all at once.
        """
        identifier = self.workspace.catalogs.identify(s.Name((name,)))
        table = table_of(identifier, frame, watermark, primary_key, row_kind, in_order=in_order)
        self.workspace.catalogs.put(table)
        try:
            self.workspace.planner.relation(table)
        except TidemarkError:
            self.workspace.catalogs.remove(table)
            raise

    def register_lookup(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        columns: str,
        primary_key: Sequence[str] | None = None,
        options: Mapping[str, str] | None = None,
    ) -> None:
        """Make a function a temporary table of this session, for lookup joins: `JOIN name FOR
        SYSTEM_TIME AS OF o.proctime ON ...`.

        The function takes an Arrow table of distinct keys, with the columns of the primary key or,
        without one, those that the query compares. It returns all rows with these keys, with
        `columns` as in `"id BIGINT, name STRING"`, as a table of pyarrow, pandas or Polars.
        `options` are those of the connector, such as `{"lookup.cache": "NONE"}`.
        """
        identifier = self.workspace.catalogs.identify(s.Name((name,)))
        table = lookup_table_of(identifier, function, columns, primary_key, options or {})
        registry.options_of(table)
        self.workspace.catalogs.put(table)

    def create_function(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        returns: TypeLike | None = None,
        parameters: Sequence[TypeLike] | None = None,
        vectorized: bool | None = None,
        deterministic: bool | None = None,
    ) -> None:
        """Make a Python function callable from SQL in this session.

        Types that are not given are read from its annotations. A vectorized function takes and
        returns Arrow arrays.
        """
        self.workspace.declare_function(
            declare(
                name,
                function,
                returns=returns,
                parameters=parameters,
                vectorized=vectorized,
                deterministic=deterministic,
            )
        )

    def create_table_function(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        returns: TypeLike | None = None,
        parameters: Sequence[TypeLike] | None = None,
        vectorized: bool | None = None,
        deterministic: bool | None = None,
    ) -> None:
        """Make a Python function that returns or yields rows callable from SQL in this session:
        `LATERAL TABLE(name(...))`.

        `returns` is the type of a row, `ROW<word STRING, length INT>`; rows are tuples. A
        vectorized function takes Arrow arrays and returns an Arrow array with a list of rows for
        each element.
        """
        self.workspace.declare_function(
            declare(
                name,
                function,
                returns=returns,
                parameters=parameters,
                vectorized=vectorized,
                deterministic=deterministic,
                table=True,
            )
        )

    def create_aggregate_function(
        self,
        name: str,
        function: Callable[..., Any] | Accumulating,
        *,
        returns: TypeLike | None = None,
        parameters: Sequence[TypeLike] | None = None,
    ) -> None:
        """Make a Python aggregate function callable from SQL in this session.

        It is a class, or an object, with `create_accumulator`, `accumulate` and `get_value` as in
        Flink, with `retract` for input that retracts rows, and optionally with `merge`; or a
        function that takes an Arrow array per argument, with the values of a group, and returns one
        value.
        """
        self.workspace.declare_function(
            declare(name, function, returns=returns, parameters=parameters, aggregate=True)
        )

    def stand_in(self, class_name: str, function: Callable[..., Any]) -> None:
        """Call a Python function wherever a script creates one of a Java class:
        `CREATE FUNCTION f AS 'com.example.F'`.

        Types are read from its annotations or decorator. In SQL, the same is
        `SET 'tidemark.function.stand-in.com.example.F' = 'module.function'`.
        """
        self.workspace.stand_ins[class_name] = declare(class_name, function)

    def create_temporal_table_function(
        self, name: str, table: str, *, time_attribute: str, primary_key: str | Sequence[str]
    ) -> None:
        """Make a table or view callable with a time: `LATERAL TABLE(name(o.ts)) AS r`.

        With the event time of the left side it returns the version that was valid then; with its
        processing time, the version that is current when the left row arrives.
        """
        key = (primary_key,) if isinstance(primary_key, str) else tuple(primary_key)
        self.workspace.declare_temporal_function(TemporalFunction(name, table, time_attribute, key))


def _with_user_names(frame: Frame, root: Node, kind_column: str) -> DataFrame:
    kinds = [] if frame.changelog is Changelog.APPEND else [KIND]
    data = frame.data.select(*frame.columns, *kinds)
    return data.toDF(*root.edge.names, *(kind_column for _ in kinds))
