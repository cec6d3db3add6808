"""Plans as DataFrames: one small function for each kind of node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.functions import spark_text
from tidemark.plan.expressions import Expression, Ref
from tidemark.plan.nodes import (
    AssignWatermark,
    AssignWindows,
    CoGroup,
    Filter,
    GroupAggregate,
    IntervalJoin,
    Join,
    KeepLast,
    LateRows,
    Node,
    Project,
    RegularJoin,
    Scan,
    Sink,
    TemporalJoin,
    UnionAll,
    Unnest,
    Values,
    WindowAggregate,
    WindowJoin,
    WindowRank,
)
from tidemark.plan.operator_ids import Ids
from tidemark.spark import (
    co_groups,
    interval_joins,
    late_rows,
    regular_joins,
    remembering,
    session_rows,
    watermarks,
    window_joins,
    windows,
)
from tidemark.spark.assign_windows import assign_windows
from tidemark.spark.expressions import PythonFunction, Writer
from tidemark.spark.first_start import FirstStart
from tidemark.spark.frame import WATERMARK, Frame, like, names_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession
    from pyspark.sql.types import StructType

    from tidemark.kernels.clean_up import Retention
    from tidemark.kernels.protocol import Kernel
    from tidemark.spark.stateful.operator import StatefulInput
    from tidemark.spark.stateful.packed_rows import PackedRows


@dataclass(frozen=True, slots=True)
class StateSettings:
    """How the stateful operators of a plan run."""

    buckets: int = 8
    ttl_ms: int = 0
    # Where the ends of bounded sources are told; a stream needs it.
    folder: str | None = None
    # Whether rows are aggregated before they are moved, too: auto, one_phase or two_phase.
    aggregate_phases: str = "auto"
    # Where workers leave rows for each other; None if not all of them see the same folders.
    payloads: str | None = None


@dataclass(frozen=True, slots=True)
class Builder:
    """Builds the DataFrame of a plan, on one Spark session, for a stream or for a batch."""

    spark: SparkSession
    streaming: bool
    zone: str
    read: Callable[[Scan, Builder], DataFrame]
    # Turns a batch frame into a stream that delivers it once; for constants in a stream.
    once: Callable[[DataFrame], DataFrame]
    # Given where the plan remembers rows: only there does a watermark do anything.
    state: StateSettings | None = None
    start: FirstStart = field(default_factory=FirstStart)
    registered: dict[str, PythonFunction] = field(default_factory=dict)
    ends: list[str] = field(default_factory=list)
    # The stateful operators by name, with what tells what they did in a batch.
    operators: dict[str, Observation | None] = field(default_factory=dict)
    ids: Ids = field(default_factory=Ids)

    def build(self, node: Node) -> Frame:
        """The rows of a node, which may have faults that whoever takes them must look at."""
        return _BUILDERS[type(node)](self, node)

    def write(self, expression: Expression, frame: Frame) -> str:
        """The expression as Spark SQL over `frame`; functions it calls are registered."""
        writer = Writer(frame.columns, self.zone)
        text = writer.write(expression)
        for name, function in writer.python.items():
            if name not in self.registered:
                self.registered[name] = function
                register(self.spark, function)
        return text

    def end_folder(self) -> str:
        """Where the end of the next bounded source will be told."""
        from tidemark.spark.stateful.end_of_input import end_folder_ready

        assert self.state is not None
        folder = f"{self.state.folder}/end-{len(self.ends)}"
        end_folder_ready(self.spark, folder)
        self.ends.append(folder)
        return folder

    def retention(self) -> Retention | None:
        """How long the state of idle keys is kept; None keeps it."""
        from tidemark.kernels.clean_up import Retention

        assert self.state is not None
        return Retention.of(self.state.ttl_ms) if self.state.ttl_ms else None

    def run_kernel(
        self,
        what: str,
        kernel: Kernel,
        inputs: list[StatefulInput],
        schema: StructType,
        tick_ms: int | None = None,
    ) -> PackedRows:
        """A kernel as the next stateful operator of the plan; it steps every `tick_ms` at least."""
        from tidemark.spark.stateful.operator import StatefulOptions, run_stateful
        from tidemark.spark.stateful.payloads import Payloads

        assert self.state is not None
        name = self.ids.next(what)
        self.operators[name] = observation = None if self.streaming else _observation()
        wanted = [ms for ms in (tick_ms, min(TICK_MS, self.state.ttl_ms)) if ms]
        tick = min(wanted, default=None)
        payloads = Payloads(self.state.payloads)
        options = StatefulOptions(name, self.state.buckets, tick, observation, payloads)
        return run_stateful(self.spark, kernel, inputs, schema, options)


# How often operators that keep state for a time look at the clock.
TICK_MS = 1000


def _observation() -> Observation:
    from pyspark.sql import Observation

    return Observation()


def register(spark: SparkSession, function: PythonFunction) -> None:
    """Make a Python function callable by name in Spark SQL."""
    from pyspark.sql.functions import arrow_udf, udf

    from tidemark.spark.types import to_spark

    returns = to_spark(function.returns)
    implementation = function.implementation

    def call(*args: Any) -> Any:
        # A plain wrapper: annotations would make Spark guess another kind of function.
        return implementation(*args)

    call.__annotations__ = {}
    made = (arrow_udf if function.vectorized else udf)(call, returns)
    spark.udf.register(function.name, made if function.deterministic else made.asNondeterministic())


# No watermark is later than this.
END = "TIMESTAMP '9999-12-31 23:59:59.999999'"


# --- nodes -------------------------------------------------------------------------------------


def _scan(builder: Builder, node: Scan) -> Frame:
    return Frame(builder.read(node, builder), names_of(node.edge), node.edge.changelog)


def _project(builder: Builder, node: Project) -> Frame:
    join = _giving_only(node)
    if join is not None:
        frame = builder.build(join)
        return like(frame, names_of(node.edge), frame.changelog)
    below = builder.build(node.input)
    names = names_of(node.edge)
    texts = [
        f"{builder.write(expression, below)} AS {spark_text.name(name)}"
        for expression, name in zip(node.expressions, names, strict=True)
    ]
    return below.over(below.data.selectExpr(*texts, *below.extra), columns=names)


def _giving_only(node: Project) -> Node | None:
    """The join below a projection that computes nothing, as one that gives just these columns:
    Spark would copy each row once more for it."""
    join = node.input
    places = [e.index for e in node.expressions if isinstance(e, Ref)]
    only_picks = len({*places}) == len(node.expressions) > 0
    if not only_picks or not isinstance(join, Join):
        return None
    given = join.output or range(len(join.edge.columns))
    return replace(join, output=tuple(given[place] for place in places))


def _filter(builder: Builder, node: Filter) -> Frame:
    below = builder.build(node.input)
    condition = builder.write(node.condition, below)
    if below.followed:
        # Rows that are filtered out move the watermark too. A condition that did not ask for its
        # column would be moved below it by Spark; no row is later than the end.
        condition = f"({condition}) OR {WATERMARK} > {END}"
    return below.over(below.data.where(condition))


def _union(builder: Builder, node: UnionAll) -> Frame:
    names, changelog = names_of(node.edge), node.edge.changelog
    frames = [like(builder.build(side), names, changelog) for side in node.branches]
    followed = all(frame.followed for frame in frames)
    if any(frame.faulty for frame in frames):
        frames = [frame.with_fault("CAST(NULL AS STRING)") for frame in frames]
    first = replace(frames[0], followed=followed, stamped=False)
    united = first.data.select(*first.kept)
    for frame in frames[1:]:
        united = united.union(frame.data.select(*first.kept))
    return first.over(united)


def _values(builder: Builder, node: Values) -> Frame:
    names = names_of(node.edge)
    one_row = builder.spark.range(1, numPartitions=1)
    if names:
        empty = Frame(one_row, (), Changelog.APPEND)
        rows = ", ".join(
            "struct(" + ", ".join(builder.write(value, empty) for value in row) + ")"
            for row in node.rows
        )
        aliases = ", ".join(spark_text.name(name) for name in names)
        one_row = one_row.selectExpr(f"inline(array({rows})) AS ({aliases})")
    data = builder.once(one_row) if builder.streaming else one_row
    return Frame(data, names, Changelog.APPEND)


def _unnest(builder: Builder, node: Unnest) -> Frame:
    below = builder.build(node.input)
    names = names_of(node.edge)
    added = names[len(below.columns) :]
    collection = _elements(builder.write(node.collection, below), node.collection.type)
    explode = "posexplode" + ("_outer" if node.outer else "")
    opened = below.data.selectExpr(*below.kept, f"{explode}({collection}) AS (_tm_at, _tm_element)")
    fields = _element_fields(node.collection.type)
    if node.ordinality:
        fields = [*fields, "_tm_at + 1"]
    texts = [f"{text} AS {spark_text.name(name)}" for text, name in zip(fields, added, strict=True)]
    renamed = [
        f"{spark_text.name(old)} AS {spark_text.name(new)}"
        for old, new in zip(below.columns, names, strict=False)
    ]
    return below.over(opened.selectExpr(*renamed, *texts, *below.extra), columns=names)


def _elements(text: str, type_: t.DataType) -> str:
    """The collection as an array: a map's entries, a multiset's elements as often as they occur."""
    if isinstance(type_, t.Map):
        return f"map_entries({text})"
    if isinstance(type_, t.Multiset):
        return f"flatten(transform(map_entries({text}), e -> array_repeat(e.key, e.value)))"
    return text


def _element_fields(type_: t.DataType) -> list[str]:
    if isinstance(type_, t.Map):
        return ["_tm_element.key", "_tm_element.value"]
    assert isinstance(type_, t.Array | t.Multiset)
    if isinstance(type_.element, t.Row):
        names = spark_text.safe_names([field.name for field in type_.element.fields])
        return [f"_tm_element.{spark_text.name(name)}" for name in names]
    return ["_tm_element"]


def _assign_windows(builder: Builder, node: AssignWindows) -> Frame:
    if node.keeps_rows:
        return session_rows.rows_of_sessions(builder, node)
    return assign_windows(builder, node)


def _watermark(builder: Builder, node: AssignWatermark) -> Frame:
    """Rows must have an event time. Spark follows the watermark where something waits for it."""
    below = builder.build(node.input)
    time = spark_text.name(below.columns[node.edge.names.index(node.column)])
    message = spark_text.string(
        f"event time `{node.column}` is NULL; every row of a stream needs an event time:  "
    )
    row = ", ".join(spark_text.name(name) for name in below.columns)
    fault = f"CASE WHEN {time} IS NULL THEN concat({message}, to_json(struct({row}))) END"
    frame = below.with_fault(fault)
    if builder.state is None or not (builder.streaming or node.stamps):
        return frame
    return watermarks.watermarked(builder, node, frame)


def _sink(builder: Builder, node: Sink) -> Frame:
    below = builder.build(node.input)
    return like(below, names_of(node.edge), below.changelog)


_BUILDERS: dict[type[Any], Callable[[Builder, Any], Frame]] = {
    Scan: _scan,
    Project: _project,
    Filter: _filter,
    UnionAll: _union,
    Values: _values,
    Unnest: _unnest,
    AssignWatermark: _watermark,
    KeepLast: remembering.keep_last,
    TemporalJoin: remembering.temporal_join,
    IntervalJoin: interval_joins.interval_join,
    RegularJoin: regular_joins.regular_join,
    WindowJoin: window_joins.window_join,
    CoGroup: co_groups.co_group,
    AssignWindows: _assign_windows,
    WindowAggregate: windows.window_aggregate,
    WindowRank: windows.window_rank,
    GroupAggregate: windows.group_aggregate,
    LateRows: late_rows.late_rows,
    Sink: _sink,
}
