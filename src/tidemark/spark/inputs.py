"""The inputs of stateful operators: frames of rows, and what the runtime must know about them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from tidemark.catalog.tables import Changelog
from tidemark.operators.joins import JoinColumns, names_of_sides, output_of
from tidemark.operators.outlets import columns_beside
from tidemark.spark.frame import KIND, SEEN, Frame, like
from tidemark.spark.moments import WATERMARK
from tidemark.spark.outlets import late_schemas
from tidemark.spark.stateful.added import Added, Constant
from tidemark.spark.stateful.deferred import Deferred, Rows, made
from tidemark.spark.types import to_spark

if TYPE_CHECKING:
    from pyspark.sql.types import StructField, StructType

    from tidemark.physical import Input, Operator
    from tidemark.spark.builder import Builder
    from tidemark.spark.stateful.operator import StatefulInput
    from tidemark.spark.stateful.packed_rows import PackedRows
    from tidemark.spark.stateful.reports import SourceWatermark


def build_input(builder: Builder, input_: Input) -> Frame:
    """The rows of an input, with a marker of their end unless something else announces it."""
    frame = builder.build(input_.stage).checked()
    if input_.end is None:
        return frame
    from tidemark.spark.stateful.end_of_input import with_watermark

    data = frame.data.selectExpr(*frame.kept, f"timestamp_millis(0) AS {WATERMARK}")
    source = builder.followed(input_.stage)
    data = with_watermark(data, WATERMARK, builder.end_folder(input_.end), source)
    return frame.over(data.drop(WATERMARK))


@dataclass(frozen=True, slots=True)
class GivenRows:
    """The rows of an input as rows of Spark, with their columns."""

    rows: Rows
    schema: StructType

    @classmethod
    def of(
        cls,
        frame: Frame,
        projections: Sequence[str],
        added: Sequence[Added] = (),
        packed: PackedRows | None = None,
    ) -> Self:
        """What SQL selects of a frame, with `added` columns. If the same rows are `packed`, none
        are made until something needs rows of Spark."""
        everything = [*projections, *(column.sql for column in added)]
        packed = packed or frame.packed
        if packed is None:
            data = frame.data.selectExpr(*everything)
            return cls(data, data.schema)
        return cls(Deferred(lambda: frame.data.selectExpr(*everything)), _with_added(packed, added))

    def without(self, names: Collection[str]) -> Self:
        from pyspark.sql.types import StructType

        rows = Deferred(lambda: made(self.rows).drop(*names))
        schema = StructType([field for field in self.schema if field.name not in names])
        return replace(self, rows=rows, schema=schema)


def _with_added(packed: PackedRows, added: Sequence[Added]) -> StructType:
    from pyspark.sql.types import StructField, StructType

    fields = (StructField(column.name, to_spark(column.type)) for column in added)
    return StructType([*packed.row_schema.fields, *fields])


def stateful_input(
    builder: Builder,
    input_: Input,
    below: Frame,
    given: GivenRows,
    keys: tuple[str, ...],
    time: str | None,
    packed: PackedRows | None = None,
    added: Sequence[Added] = (),
) -> StatefulInput:
    """Rows for the runtime, made of those `below` with the same names, with the names of their key
    columns and event time; and the same rows in packed form without the `added` columns, if workers
    make them so.
    """
    from tidemark.spark.stateful.operator import StatefulInput

    return StatefulInput(
        given.rows,
        given.schema,
        keys,
        time,
        _watermark(builder, input_, given.schema.names),
        chained=input_.chained,
        shows_time=input_.shown,
        packed=packed,
        added=tuple(added),
        late=late_schemas(input_, given.schema),
        passed=below.late,
        names=_called(below, input_),
    )


def _called(below: Frame, input_: Input) -> dict[str, str]:
    """What the query calls the columns, if it calls no two the same."""
    names = input_.stage.edge.names
    return dict(zip(below.columns, names, strict=True)) if len({*names}) == len(names) else {}


def _watermark(builder: Builder, input_: Input, names: Sequence[str]) -> SourceWatermark | None:
    from tidemark.spark.stateful.reports import SourceWatermark

    known = input_.watermark
    if known is None:
        return None
    folder = None if known.end is None else builder.end_folder(known.end)
    own = None if known.time is None else names[known.time]
    column = WATERMARK if known.followed else own
    beside = None if known.marks is None else builder.partition_watermarks(known.marks)
    source = None if known.declared else builder.followed(input_.stage, known.marks)
    return SourceWatermark(known.behind_ms, known.declared, folder, column, beside, source)


def keyed(keys: tuple[str, ...], everyone: str) -> tuple[tuple[str, ...], tuple[Added, ...]]:
    """The key columns of rows, and what to add to them for these. Rows without a key all share one,
    in a column `everyone`.
    """
    if keys:
        return keys, ()
    return (everyone,), (Constant(everyone, True),)


@dataclass(frozen=True, slots=True)
class InputSide:
    """One input of a join, with column names that are unique across both sides."""

    frame: Frame
    keys: tuple[str, ...]
    input: StatefulInput


@dataclass(frozen=True, slots=True)
class Sides:
    """Both inputs of a join, the names of their columns, and which ones are emitted."""

    left: InputSide
    right: InputSide
    names: tuple[str, ...]
    output: tuple[str, ...]

    @classmethod
    def of(cls, builder: Builder, operator: Operator) -> Sides:
        names = names_of_sides(operator)
        width = operator.inputs[0].width
        left, right = (
            _side(builder, input_, own, f"_tm_all_{side}")
            for input_, own, side in zip(
                operator.inputs, (names[:width], names[width:]), ("left", "right"), strict=True
            )
        )
        return cls(left, right, names, output_of(operator, names))

    @property
    def columns(self) -> JoinColumns:
        return JoinColumns(self.left.keys, self.right.keys, self.names, self.output)

    @property
    def inputs(self) -> list[StatefulInput]:
        return [self.left.input, self.right.input]

    def schema(self, *, kinds: bool = False) -> StructType:
        """The emitted columns, followed by the row kind if there are kinds."""
        fields = [*self.left.frame.schema.fields, *self.right.frame.schema.fields]
        return schema_of(fields, self.output, kinds=kinds)


def _side(builder: Builder, input_: Input, names: tuple[str, ...], everyone: str) -> InputSide:
    names = (*names, *columns_beside(input_))
    frame = named(build_input(builder, input_), names)
    keys, added = keyed(tuple(names[key] for key in input_.keys), everyone)
    rows = GivenRows.of(frame, ["*"], added)
    time = None if input_.time is None else names[input_.time]
    given = stateful_input(builder, input_, frame, rows, keys, time, frame.packed, added)
    return InputSide(frame, keys, given)


def named(frame: Frame, names: tuple[str, ...], *, stamped: bool = False) -> Frame:
    """The rows with other column names, and without the watermark, which the operator gets
    separately; if they are `stamped`, with the one before each row.
    """
    if frame.packed is not None:
        return replace(like(frame, names, frame.changelog), stamped=stamped)
    data = frame.data.drop(WATERMARK, *[SEEN] * (not stamped))
    plain = replace(frame, rows=data, packed=None, followed=False, stamped=stamped)
    return like(plain, names, frame.changelog)


def has_kinds(frame: Frame) -> bool:
    return frame.changelog is not Changelog.APPEND


def schema_of(
    fields: Sequence[StructField], only: tuple[str, ...], *, kinds: bool = False
) -> StructType:
    """The fields with these names, all of them nullable."""
    from pyspark.sql.types import StringType, StructField, StructType

    types = {field.name: field.dataType for field in fields}
    found = [StructField(name, types[name], True) for name in only]
    return StructType([*found, *[StructField(KIND, StringType(), False)] * kinds])
