"""DataFrames for the edges of a plan, and the row kinds they may have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tidemark.catalog.tables import Changelog
from tidemark.functions import spark_text
from tidemark.plan.nodes import Edge
from tidemark.spark.moments import WATERMARK
from tidemark.spark.stateful.deferred import Deferred, Rows, made
from tidemark.spark.stateful.late_columns import LATE, OUTLET

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from tidemark.spark.stateful.packed_rows import PackedRows

KIND = "_tm_kind"
SEEN = "_tm_seen"  # the watermark before the row, in milliseconds
PLACE = "_tm_place"  # the file that a row is from
FAULT = "_tm_fault"  # why the job must fail because of the row; NULL for a valid one


@dataclass(frozen=True, slots=True)
class Frame:
    """A DataFrame whose columns correspond to those of an edge, by position. If not all rows are
    inserts, a last column `_tm_kind` has the row kinds.
    """

    rows: Rows
    columns: tuple[str, ...]
    changelog: Changelog
    # Whether Spark follows a watermark below; its column then travels with the rows.
    followed: bool = False
    # Whether rows have the watermark before them.
    stamped: bool = False
    # Whether rows have the file that they are from.
    placed: bool = False
    # Whether rows have a column with their fault, for which `checked` fails.
    faulty: bool = False
    # The columns of late rows that operators have handed out, by the number of their outlet. These
    # rows go along with the others, packed, in rows of their own whose columns are NULL.
    late: Mapping[int, StructType] = field(default_factory=dict)
    # The same rows as packed by the operator that emits them.
    packed: PackedRows | None = None
    # The seed of the job's first start, which a restart keeps and a new beginning does not.
    seed: str = ""

    @classmethod
    def of(cls, packed: PackedRows, columns: tuple[str, ...], changelog: Changelog) -> Frame:
        """The rows that an operator emits, under these names."""
        named = packed.called(columns)
        rows = Deferred(lambda: named.rows)
        return cls(rows, columns, changelog, late=named.late, packed=named)

    @property
    def data(self) -> DataFrame:
        return made(self.rows)

    @property
    def spark(self) -> SparkSession:
        return (self.packed or self).data.sparkSession

    @property
    def schema(self) -> StructType:
        """That of the rows; nothing is made for it if they are packed."""
        return self.data.schema if self.packed is None else self.packed.row_schema

    def over(self, data: DataFrame, **changes: Any) -> Frame:
        """The frame for the edge after a transformation of the rows."""
        return replace(self, rows=data, packed=None, **changes)

    @property
    def extra(self) -> tuple[str, ...]:
        """The columns besides those of the edge that a node must pass on."""
        kinds = () if self.changelog is Changelog.APPEND else (KIND,)
        followed = (WATERMARK,) if self.followed else ()
        stamps = (SEEN,) if self.stamped else ()
        place = (PLACE,) if self.placed else ()
        faults = (FAULT,) if self.faulty else ()
        return (*kinds, *followed, *stamps, *place, *faults, *self.passed)

    @property
    def passed(self) -> tuple[str, ...]:
        """The columns of late rows that go along."""
        return (LATE, OUTLET) if self.late else ()

    @property
    def kept(self) -> tuple[str, ...]:
        """All columns that a node must pass on."""
        return (*self.columns, *self.extra)

    def of_rows(self, text: str) -> str:
        """SQL of an expression that is not evaluated for late rows that go along."""
        return f"CASE WHEN {LATE} IS NULL THEN {text} END" if self.late else text

    def exploding(self, array: str) -> str:
        """SQL of an array to explode, with an element for each late row that goes along."""
        return f"CASE WHEN {LATE} IS NULL THEN {array} ELSE array(NULL) END" if self.late else array

    def with_late(self, late: Mapping[int, StructType]) -> Frame:
        """The rows, with columns for these late rows."""
        if self.late or not late:
            return replace(self, late=late)
        nulls = f"CAST(NULL AS BINARY) AS {LATE}", f"CAST(NULL AS INT) AS {OUTLET}"
        return self.over(self.data.selectExpr(*self.kept, *nulls), late=late)

    def alone(self) -> Frame:
        """The rows without late ones that go along."""
        if not self.late:
            return self
        packed = None if self.packed is None else self.packed.alone
        rows = Deferred(lambda: self.data.where(f"{LATE} IS NULL").drop(LATE, OUTLET))
        return replace(self, rows=rows, late={}, packed=packed)

    def with_fault(self, text: str) -> Frame:
        """The rows with the value of the SQL, a STRING, as their fault unless they have one.

        Spark moves filters below expressions, puts constants of a filter into them, and so
        evaluates them for rows that the filter drops. A check that fails inside an expression would
        fail for such rows. A fault is a value: computing it has no effect.
        """
        kept = [name for name in self.kept if name != FAULT]
        fault = f"coalesce({FAULT}, {text})" if self.faulty else text
        return self.over(self.data.selectExpr(*kept, f"{fault} AS {FAULT}"), faulty=True)

    def checked(self) -> Frame:
        """The rows without the fault column: the first row with a fault fails the job.

        For where rows leave Spark's expressions.
        """
        if not self.faulty:
            return self
        good = self.data.where(passes_unless(FAULT))
        return self.over(good.drop(FAULT), faulty=False)


def passes_unless(fault: str) -> str:
    """SQL of a condition that all rows meet; if the SQL of a fault has a value, it fails the job.

    Spark moves no filter across a nondeterministic expression, which is what `rand` is for; it is
    not evaluated for valid rows. Spark would take a bare `rand() >= 0` for TRUE.
    """
    raised = f"CASE WHEN {fault} IS NOT NULL AND rand() + 1 > 0 THEN raise_error({fault}) END"
    return f"({raised}) IS NULL"


def names_of(edge: Edge) -> tuple[str, ...]:
    """The names of an edge's columns in Spark."""
    return spark_text.safe_names(edge.names)


def schema_of(edge: Edge, *, placed: bool = False, stamped: bool = False) -> StructType:
    """The schema of packed rows with the columns of an edge."""
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    from tidemark.spark.types import to_spark

    pairs = zip(names_of(edge), edge.types, strict=True)
    columns = [StructField(name, to_spark(type_)) for name, type_ in pairs]
    kinds = [] if edge.changelog is Changelog.APPEND else [StructField(KIND, StringType())]
    stamps = [StructField(SEEN, LongType())] * stamped
    return StructType([*columns, *kinds, *stamps, *[StructField(PLACE, StringType())] * placed])


def like(frame: Frame, names: tuple[str, ...], changelog: Changelog) -> Frame:
    """The frame with other column names, and with row kinds if the others have them."""
    if frame.packed is not None and frame.changelog is changelog:
        return Frame.of(frame.packed, names, changelog)
    projections = [
        f"{spark_text.name(old)} AS {spark_text.name(new)}"
        for old, new in zip(frame.columns, names, strict=True)
    ]
    if changelog is not Changelog.APPEND:
        projections.append(KIND if frame.changelog is not Changelog.APPEND else f"'+I' AS {KIND}")
    projections += [WATERMARK] * frame.followed + [SEEN] * frame.stamped + [FAULT] * frame.faulty
    projections += frame.passed
    data = frame.data.selectExpr(*projections)
    return frame.over(data, columns=names, changelog=changelog, placed=False)
