"""Session options: `SET 'key' = 'value'`, checked by name and type."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from tidemark.durations import parse_duration
from tidemark.errors import OptionError, Span, did_you_mean
from tidemark.zones import zone_names


@dataclass(frozen=True, slots=True)
class SessionOption:
    """One option: how its value is checked, and what it is for."""

    key: str
    check: Callable[[str], object]
    summary: str
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Materializing:
    """Whether rows are kept by the primary key of a sink: "none", "auto" or "force"; and whether
    the INSERT must say how conflicts are resolved.
    """

    mode: str = "auto"
    requires_clause: bool = False


AS_NEEDED: Final = Materializing()


def _text(value: str) -> str:
    return value


def _boolean(value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise ValueError("expected true or false")
    return value.lower() == "true"


def _positive(value: str) -> int:
    if not value.isdecimal() or int(value) < 1:
        raise ValueError("expected a positive integer")
    return int(value)


def _bytes(value: str) -> int:
    if not value.removeprefix("-").isdecimal() or int(value) < -1:
        raise ValueError("expected a number of bytes, or -1")
    return int(value)


def _max_parallelism(value: str) -> int:
    if _positive(value) > 32768:
        raise ValueError("expected an integer from 1 to 32768")
    return int(value)


_OFFSET = re.compile(r"(GMT|UTC|UT)?[+-](0?\d|1[0-8])(:[0-5]\d)?")


def _zone(value: str) -> str:
    if value not in zone_names() and _OFFSET.fullmatch(value) is None:
        hint = (
            did_you_mean(value, zone_names())
            or "use a name such as 'Europe/Berlin' or an offset such as 'GMT+02:00'"
        )
        raise ValueError(f"not a time zone; {hint}")
    return value


def _one_of(*choices: str) -> Callable[[str], str]:
    def check(value: str) -> str:
        if value.lower() not in choices:
            raise ValueError(f"expected one of {', '.join(choices)}")
        return value.lower()

    return check


def _cleanup_interval(value: str) -> object:
    return value if value.lower() == "half-width" else parse_duration(value)


RUNTIME_MODE = "execution.runtime-mode"
LOCAL_TIME_ZONE = "table.local-time-zone"
STATE_TTL = "table.exec.state.ttl"
CHECKPOINT_INTERVAL = "execution.checkpointing.interval"
MINI_BATCH = "table.exec.mini-batch.enabled"
MINI_BATCH_LATENCY = "table.exec.mini-batch.allow-latency"
JOB_NAME = "pipeline.name"
INTERVAL_CLEANUP = "table.exec.interval-join.min-cleanup-interval"
INTERVAL_LATE_ROWS = "tidemark.interval-join.late-rows"
FLINK_VERSION = "tidemark.flink-version"
NOT_NULL_ENFORCER = "table.exec.sink.not-null-enforcer"
NESTED_ENFORCER = "table.exec.sink.nested-constraint-enforcer"

IDLE_TIMEOUT = "table.exec.source.idle-timeout"
UPSERT_MATERIALIZE = "table.exec.sink.upsert-materialize"
REQUIRE_ON_CONFLICT = "table.exec.sink.require-on-conflict"

LOAD_PHASE = "tidemark.temporal-join.load-phase"
MAX_PARALLELISM = "pipeline.max-parallelism"
# Each by its name in Flink 2 and its earlier name.
SAVEPOINT = ("execution.state-recovery.path", "execution.savepoint.path")
IGNORE_UNCLAIMED = (
    "execution.state-recovery.ignore-unclaimed-state",
    "execution.savepoint.ignore-unclaimed-state",
)
SAVEPOINT_FOLDER = ("execution.checkpointing.savepoint-dir", "state.savepoints.dir")
CDC_DUPLICATES = "table.exec.source.cdc-events-duplicate"
AGGREGATE_PHASES = "table.optimizer.agg-phase-strategy"
BROADCAST_THRESHOLD = "table.optimizer.join.broadcast-threshold"
REUSE_SOURCES = "table.optimizer.reuse-source-enabled"
ENGINE = "tidemark.engine"
FORCE_RECOMPILE = "table.plan.force-recompile"

OPTIONS = (
    SessionOption(
        RUNTIME_MODE,
        _one_of("streaming", "batch"),
        "whether queries run as streaming or batch jobs",
        default="streaming",
    ),
    SessionOption(
        LOCAL_TIME_ZONE, _zone, "the time zone in which TIMESTAMP_LTZ values are displayed"
    ),
    SessionOption(
        ENGINE,
        _one_of("spark", "local"),
        "where queries and INSERTs run: on Spark, or in this process, without Java, for bounded "
        "tables in files",
        default="spark",
    ),
    SessionOption(JOB_NAME, _text, "the name of jobs started from now on"),
    SessionOption(
        CHECKPOINT_INTERVAL,
        parse_duration,
        "the minimum time between two micro-batches of an unbounded job",
    ),
    *(SessionOption(key, _text, "a savepoint that jobs start from") for key in SAVEPOINT),
    *(
        SessionOption(key, _boolean, "whether state without an operator in the script is dropped")
        for key in IGNORE_UNCLAIMED
    ),
    *(
        SessionOption(key, _text, "the folder in which STOP JOB ... WITH SAVEPOINT saves jobs")
        for key in SAVEPOINT_FOLDER
    ),
    SessionOption(STATE_TTL, parse_duration, "how long idle state is kept; 0 means forever"),
    SessionOption(
        "table.exec.emit.early-fire.enabled", _boolean, "whether windows emit early results"
    ),
    SessionOption(
        "table.exec.emit.early-fire.delay", parse_duration, "the interval between early results"
    ),
    SessionOption(
        "table.exec.emit.late-fire.enabled", _boolean, "whether windows emit late results"
    ),
    SessionOption(
        "table.exec.emit.late-fire.delay", parse_duration, "the interval between late results"
    ),
    SessionOption(
        "table.exec.emit.allow-lateness",
        parse_duration,
        "how late a row may be before it is dropped",
    ),
    SessionOption(
        INTERVAL_CLEANUP,
        _cleanup_interval,
        "how long interval joins keep expired rows: a duration, or half-width as before Flink 1.18",
        default="0 ms",
    ),
    SessionOption(
        LOAD_PHASE,
        parse_duration,
        "for processing-time temporal joins: left rows wait until the right side has been "
        "silent for this long, or its watermark has reached the start time of the job",
    ),
    SessionOption(
        INTERVAL_LATE_ROWS,
        _one_of("join", "drop"),
        "whether late rows of inner interval joins still join the rows kept in state, as in SQL, "
        "or are dropped, as in Flink's stream API",
        default="join",
    ),
    SessionOption(
        MAX_PARALLELISM,
        _max_parallelism,
        "the number of key groups of a new job, which limits how far it can be spread; a job "
        "that resumes keeps the number of its checkpoint",
    ),
    SessionOption(
        AGGREGATE_PHASES,
        _one_of("auto", "one_phase", "two_phase"),
        "whether rows of one key and window, and in a batch those of one group, are pre-aggregated "
        "before the shuffle, and rows of a batch that cannot be among the first of their key left "
        "out; `auto` does so if that at least halves the number of rows",
        default="auto",
    ),
    SessionOption(
        BROADCAST_THRESHOLD,
        _bytes,
        "in a batch, each worker loads one side of a join with equal keys, instead of exchanging "
        "both, if it is a table of files of at most this many bytes; -1 turns this off",
        default="10485760",
    ),
    SessionOption(
        REUSE_SOURCES,
        _boolean,
        "whether a query reads a table of JSON, CSV or raw files only once for all its operators",
        default="true",
    ),
    SessionOption(
        FLINK_VERSION,
        _one_of("2.3", "2.4"),
        "the version of Flink that results follow where versions differ: in 2.4, event-time "
        "temporal joins drop late left rows",
        default="2.3",
    ),
    SessionOption(
        "pipeline.auto-watermark-interval",
        parse_duration,
        "accepted without effect; watermarks advance with every row or micro-batch",
    ),
    SessionOption(
        NOT_NULL_ENFORCER,
        _one_of("error", "drop"),
        "whether NULL in a NOT NULL column fails the job or drops the row",
        default="error",
    ),
    SessionOption(
        NESTED_ENFORCER,
        _one_of("ignore", "rows"),
        "whether NOT NULL is also checked of the fields of rows; elements of arrays and maps are "
        "not checked, so `ROWS_AND_COLLECTIONS` is not supported",
        default="ignore",
    ),
    SessionOption(
        FORCE_RECOMPILE,
        _boolean,
        "whether COMPILE PLAN replaces an existing plan",
        default="false",
    ),
    SessionOption(
        UPSERT_MATERIALIZE,
        _one_of("none", "auto", "force"),
        "whether rows are kept by the primary key of a sink, so that rows of the query with the "
        "same key replace each other in order; `auto` does so if the query's changes are by "
        "another key",
        default="auto",
    ),
    SessionOption(
        REQUIRE_ON_CONFLICT,
        _boolean,
        "whether an INSERT whose rows may have the same primary key of the sink must have an ON "
        "CONFLICT clause, as in Flink 2.3",
        default="false",
    ),
    SessionOption(
        "table.exec.sink.keyed-shuffle",
        _one_of("none", "auto", "force"),
        "accepted without effect; changes of a key are always in one task",
    ),
    SessionOption(
        CDC_DUPLICATES,
        _boolean,
        "whether changelog sources may deliver changes more than once; for tables with a primary "
        "key, one row per key is then kept in state, and repeated changes are dropped",
        default="false",
    ),
    SessionOption("table.dml-sync", _boolean, "whether INSERT waits until its job has finished"),
    SessionOption(
        IDLE_TIMEOUT,
        parse_duration,
        "how long a partition of a Kafka table must be silent before it no longer holds back the "
        "watermark; 0 means forever",
    ),
    SessionOption(
        MINI_BATCH,
        _boolean,
        "whether rows wait to be processed together; input is always processed in micro-batches, "
        f"and `{MINI_BATCH_LATENCY}` then sets the minimum time between them",
    ),
    SessionOption(
        MINI_BATCH_LATENCY,
        parse_duration,
        f"with `{MINI_BATCH}`, the minimum time between two micro-batches of an unbounded job, "
        f"unless `{CHECKPOINT_INTERVAL}` is set",
    ),
    SessionOption(
        "table.exec.mini-batch.size",
        _positive,
        "accepted without effect; a micro-batch contains all rows available when it begins",
    ),
    SessionOption(
        "table.optimizer.distinct-agg.split.enabled",
        _boolean,
        "accepted without effect; the values of DISTINCT are kept in columns, by group and value",
    ),
    SessionOption(
        "table.exec.sink.type-length-enforcer",
        _one_of("ignore", "trim_pad", "error"),
        "accepted without effect; INSERT casts strings and bytes to the length of their column, "
        "so they are always trimmed and padded (same in Flink)",
    ),
    SessionOption(
        "table.sql-dialect",
        _one_of("default"),
        "the SQL dialect; only Flink's default dialect is supported",
    ),
)

# Settings of Flink's own runtime and SQL client: scripts that set them run unchanged, but they have
# no effect on Spark.
# fmt: off
IGNORED_PREFIXES = (
    "akka.", "blob.", "classloader.", "cleanup-strategy", "client.", "cluster.", "env.", "events.",
    "execution.", "external-resource", "flink.hadoop.", "fs.", "hadoop.", "heartbeat.",
    "high-availability", "historyserver.", "io.", "jmx.", "job-result-store.", "job.",
    "jobmanager.", "jobstore.", "kubernetes.", "metrics.", "parallelism.", "pekko.", "pipeline.",
    "plugin.", "process.", "python.", "queryable-state.", "resourcemanager.", "rest.",
    "restart-strategy", "s3.", "s3a.", "scheduler-mode", "security.", "slot.", "slotmanager.",
    "sql-client.", "sql-gateway.", "state.", "table.builtin-", "table.catalog-modification.",
    "table.catalog-store.", "table.display.", "table.exec.async-", "table.exec.delta-join.",
    "table.exec.hive.", "table.exec.iceberg.", "table.exec.local-hash-agg.",
    "table.exec.non-temporal-sort.", "table.exec.operator-fusion-", "table.exec.resource.",
    "table.exec.sink.", "table.exec.sort.", "table.exec.spill-", "table.exec.uid.",
    "table.generated-code.", "table.materialized-table.", "table.optimizer.", "table.plan.",
    "table.resources.", "table.rtas-ctas.", "task.", "taskmanager.", "traces.", "user.artifacts.",
    "web.", "workflow-scheduler.", "yarn.", "zookeeper.",
)
# The same, key by key, where other keys with the same prefix do have an effect.
IGNORED_KEYS = frozenset({
    "table.column-expansion-strategy", "table.dynamic-table-options.enabled",
    "table.exec.deduplicate.insert-update-after-sensitive-enabled",
    "table.exec.deduplicate.mini-batch.compact-changes-enabled", "table.exec.disabled-operators",
    "table.exec.legacy-cast-behaviour", "table.exec.legacy-transformation-uids",
    "table.exec.rank.topn-cache-size", "table.exec.shuffle-mode",
    "table.exec.simplify-operator-name-enabled", "table.exec.source.force-break-chain",
    "table.exec.unbounded-over.version", "table.exec.window-agg.buffer-size-limit",
    "table.exec.window.allow-retract-input", "table.legacy-nested-row-nullability", "table.planner",
})
# fmt: on

SPARK_PREFIX = "spark."
# Before the name of a Java class: the Python function that is called instead.
STAND_IN_PREFIX = "tidemark.function.stand-in."
_PREFIXES = (SPARK_PREFIX, STAND_IN_PREFIX)
_OWN_PREFIX = "tidemark."
# How similar an unknown key is to an option if it was probably meant to be that option.
_MISTYPED = 0.85

# Options that say how and where jobs run, but not what they compute.
OF_RUNNING = frozenset(
    {
        JOB_NAME,
        CHECKPOINT_INTERVAL,
        MINI_BATCH,
        MINI_BATCH_LATENCY,
        ENGINE,
        MAX_PARALLELISM,
        FORCE_RECOMPILE,
        "table.dml-sync",
        *SAVEPOINT,
        *IGNORE_UNCLAIMED,
        *SAVEPOINT_FOLDER,
    }
)

_BY_KEY = {option.key: option for option in OPTIONS}


def _is_ignored(key: str) -> bool:
    return key.startswith(IGNORED_PREFIXES) or key in IGNORED_KEYS


class SessionOptions:
    """The options of one session; `spark.*` keys are kept for Spark."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values: dict[str, str] = {}
        self._initial: dict[str, str] = {}
        for key, value in (values or {}).items():
            if not self.knows(key):
                raise self._unknown(key, None)
            self.set(key, value)
        self._initial = dict(self._values)

    def set(self, key: str, value: str, at: Span | None = None) -> str | None:
        """Set an option. Returns a note if the key has no effect here. Flink accepts any key; here,
        one that looks like a mistyped option is an error.
        """
        option = _BY_KEY.get(key)
        if option is not None:
            try:
                option.check(value)
            except ValueError as problem:
                raise OptionError(
                    f"invalid value '{value}' for option '{key}': {problem}",
                    at=at,
                    notes={key: option.summary},
                ) from None
        elif not self.knows(key):
            if key.startswith(_OWN_PREFIX) or get_close_matches(key, _BY_KEY, 1, _MISTYPED):
                raise self._unknown(key, at)
            self._values[key] = value
            return f"'{key}' is not an option that Tidemark knows, and has no effect"
        self._values[key] = value
        ignored = option is None and not key.startswith(_PREFIXES)
        return f"'{key}' configures Flink's runtime and has no effect here" if ignored else None

    def knows(self, key: str) -> bool:
        return key in _BY_KEY or key.startswith(_PREFIXES) or _is_ignored(key)

    def _unknown(self, key: str, at: Span | None) -> OptionError:
        known = {*_BY_KEY, *IGNORED_KEYS, *self._values}
        return OptionError(f"unknown option '{key}'", at=at, hint=did_you_mean(key, known))

    def reset(self, key: str | None = None, at: Span | None = None) -> None:
        """Undo SET for one key, or for all."""
        if key is None:
            self._values = dict(self._initial)
            return
        if not self.knows(key) and key not in self._values:
            raise self._unknown(key, at)
        if key in self._initial:
            self._values[key] = self._initial[key]
        else:
            self._values.pop(key, None)

    def get(self, key: str) -> str | None:
        option = _BY_KEY.get(key)
        return self._values.get(key, option.default if option else None)

    def first(self, keys: Iterable[str]) -> str | None:
        """The value of an option that has several names."""
        return next((value for value in map(self.get, keys) if value is not None), None)

    def milliseconds(self, key: str) -> int | None:
        """The value of a duration option."""
        value = self.get(key)
        return None if value is None else parse_duration(value)

    @property
    def interval_ms(self) -> int:
        """The minimum time between two micro-batches."""
        interval = self.milliseconds(CHECKPOINT_INTERVAL)
        if interval is None and self._is(MINI_BATCH, "true"):
            interval = self.milliseconds(MINI_BATCH_LATENCY)
        return interval or 0

    @property
    def batch(self) -> bool:
        return self._is(RUNTIME_MODE, "batch")

    @property
    def drops_nulls(self) -> bool:
        """Whether rows with NULL in a NOT NULL column are dropped instead of failing."""
        return self._is(NOT_NULL_ENFORCER, "drop")

    @property
    def checks_fields(self) -> bool:
        """Whether NOT NULL is checked of the fields of rows, too."""
        return self._is(NESTED_ENFORCER, "rows")

    @property
    def forces_recompiling(self) -> bool:
        return self._is(FORCE_RECOMPILE, "true")

    @property
    def materializing(self) -> Materializing:
        """How rows with the same primary key of a sink replace each other."""
        mode = (self.get(UPSERT_MATERIALIZE) or "auto").lower()
        return Materializing(mode, self._is(REQUIRE_ON_CONFLICT, "true"))

    @property
    def flink_version(self) -> str | None:
        """The version of Flink whose results queries have where versions differ."""
        return self.get(FLINK_VERSION)

    @property
    def cdc_duplicates(self) -> bool:
        """Whether sources of changelogs may deliver changes more than once."""
        return self._is(CDC_DUPLICATES, "true")

    def _is(self, key: str, choice: str) -> bool:
        return (self.get(key) or "").lower() == choice

    def items(self) -> list[tuple[str, str]]:
        return sorted(self._values.items())

    def deciding(self) -> dict[str, str]:
        """The values of options that decide what jobs compute."""
        return {k: v for k, v in self._values.items() if k in _BY_KEY and k not in OF_RUNNING}

    def with_deciding(self, values: Mapping[str, str]) -> SessionOptions:
        """These options, but for what jobs compute the given values alone."""
        deciding = self.deciding()
        kept = {key: value for key, value in self._values.items() if key not in deciding}
        return SessionOptions({**kept, **values})

    def spark(self) -> dict[str, str]:
        return {k: v for k, v in self._values.items() if k.startswith(SPARK_PREFIX)}
