"""The input of operators over windows and groups, and how their kernels are given time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.functions import spark_text
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START
from tidemark.operators.aggregate_calls import result_name
from tidemark.operators.outlets import columns_beside, handing_out
from tidemark.operators.times import GIVEN, emitting_stamps, given_time
from tidemark.operators.windows import ALWAYS
from tidemark.spark.frame import KIND, SEEN, Frame, names_of
from tidemark.spark.inputs import GivenRows, build_input, has_kinds, keyed, stateful_input
from tidemark.spark.stateful.added import Added, ClockMillis, Constant
from tidemark.spark.types import to_spark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql.types import StructField, StructType

    from tidemark.kernels.contenders import Contenders
    from tidemark.kernels.protocol import Kernel
    from tidemark.physical import Operator
    from tidemark.plan.nodes import AggregateCall, Edge
    from tidemark.spark.builder import Builder
    from tidemark.spark.stateful.operator import StatefulInput

_ALL = "_tm_all"
# Columns by which all rows are in one window, which never ends.
ALWAYS_OPEN = tuple(Constant(name, bound) for name, bound in zip(GIVEN, ALWAYS, strict=True))


@dataclass(frozen=True, slots=True)
class WindowInput:
    """The rows under names that no column of the output can have. `given` bounds of windows are in
    the columns `GIVEN`; a row that is stamped brings along the watermark before it."""

    operator: Operator
    schema: StructType
    names: tuple[str, ...]
    keys: tuple[str, ...]
    retracts: bool
    is_stamped: bool
    rows: StatefulInput = field(repr=False)

    @classmethod
    def of(
        cls,
        builder: Builder,
        operator: Operator,
        given: tuple[int, int] | None = None,
        more: Sequence[Added] = (),
    ) -> WindowInput:
        """The first input of the operator, with `more` columns."""
        input_ = operator.inputs[0]
        below = build_input(builder, input_)
        own_names = tuple(f"_tm_in{place}" for place in range(input_.width))
        names = (*own_names, *columns_beside(input_))
        projections = [
            f"{spark_text.name(old)} AS {new}"
            for old, new in zip(below.columns, names, strict=True)
        ]
        projections += [*[KIND] * has_kinds(below), *[SEEN] * below.stamped, *below.passed]
        bounds = zip(given or (), GIVEN, strict=given is not None)
        keys, for_keys = keyed(tuple(names[key] for key in input_.keys), _ALL)
        added = [*(ClockMillis(to, names[place]) for place, to in bounds), *more, *for_keys]
        time = None if input_.time is None else names[input_.time]
        packed = None if below.packed is None else below.packed.called(names)
        seen = GivenRows.of(below, projections, added, packed)
        called = replace(below, columns=names)
        rows = stateful_input(builder, input_, called, seen, keys, time, packed, added)
        return cls(operator, seen.schema, own_names, keys, has_kinds(below), below.stamped, rows)

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The keys that the query knows of."""
        return self.keys if self.operator.inputs[0].keys else ()

    def fields(self, names: Sequence[str]) -> list[StructField]:
        return [self.schema[name] for name in names]

    def contending(self, contenders: Contenders) -> StatefulInput:
        """The rows; if none of them is late, only the contenders among them."""
        return self.rows if self.is_stamped else contending(self.operator, self.rows, contenders)

    @property
    def is_given_batch_time(self) -> bool:
        """Whether the kernel just goes by the watermark of the micro-batch."""
        return not self.is_stamped and not self.operator.held_back_ms

    def given_time(self, kernel: Kernel) -> Kernel:
        """The kernel, given the watermark before each row, or one that holds back. If the operator
        has an outlet, it hands out late rows there."""
        handed = handing_out(emitting_stamps(kernel, self.operator), self.operator)
        return given_time(handed, self.operator, stamped=self.is_stamped)


def contending(operator: Operator, rows: StatefulInput, contenders: Contenders) -> StatefulInput:
    """The rows of a batch, of which only the contenders are exchanged, if the operator wants it."""
    from tidemark.runtime.combining import Combine

    if not operator.combines:
        return rows
    combine = Combine(contenders, if_fewer=operator.phases == "auto", filters=True)
    return replace(rows, combine=combine)


def bound_fields(time: t.DataType) -> list[StructField]:
    """The columns of the start, the end and the time of windows, which is of this type."""
    from pyspark.sql.types import StructField, TimestampNTZType, TimestampType

    from tidemark.kernels.windows.window_time import WINDOW_TIME

    of_time = TimestampType() if isinstance(time, t.TimestampLtz) else TimestampNTZType()
    bounds = [StructField(name, TimestampNTZType()) for name in (WINDOW_START, WINDOW_END)]
    return [*bounds, StructField(WINDOW_TIME, of_time)]


def kind_fields(edge: Edge) -> list[StructField]:
    """The column of row kinds, if rows of the edge have any."""
    from pyspark.sql.types import StringType, StructField

    return [StructField(KIND, StringType())] * (edge.changelog is not Changelog.APPEND)


def emitted(
    builder: Builder,
    input_: WindowInput,
    kernel: Kernel,
    fields: Sequence[StructField],
    rows: StatefulInput | None = None,
) -> Frame:
    """What the kernel emits of the input, or of some of its rows: these fields, which are those of
    the operator's edge."""
    from pyspark.sql.types import LongType, StructField, StructType

    operator = input_.operator
    stamps = [StructField(SEEN, LongType())] * operator.stamps
    schema = StructType([*fields, *kind_fields(operator.edge), *stamps])
    given = [input_.rows if rows is None else rows]
    packed = builder.run_kernel(operator, input_.given_time(kernel), given, schema)
    frame = Frame.of(packed, names_of(operator.edge), operator.edge.changelog)
    return replace(frame, stamped=operator.stamps)


def called(values: Sequence[str], edge: Edge) -> list[str]:
    """Values as the columns of an edge, in Spark SQL."""
    names = names_of(edge)
    return [
        f"{value} AS {spark_text.name(name)}" for value, name in zip(values, names, strict=True)
    ]


def result_fields(calls: Sequence[AggregateCall]) -> list[StructField]:
    """A column for each call."""
    from pyspark.sql.types import StructField

    return [StructField(result_name(n), to_spark(call.type)) for n, call in enumerate(calls)]
