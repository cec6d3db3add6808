"""DataFrames that stand for edges of a plan, and the row kinds they may carry."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tidemark.catalog.tables import Changelog
from tidemark.functions import spark_text
from tidemark.plan.nodes import Edge

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from tidemark.spark.stateful.packed_rows import PackedRows

KIND = "_tm_kind"
WATERMARK = "_tm_watermark"
SEEN = "_tm_seen"  # what the watermark was before the row, in milliseconds
PLACE = "_tm_place"  # the file that a row is from
FAULT = "_tm_fault"  # why the job must fail because of the row; null of a good one


@dataclass(frozen=True, slots=True)
class Frame:
    """A DataFrame whose columns stand for those of an edge, by position. Where rows are not
    all inserts, a last column `_tm_kind` tells."""

    data: DataFrame
    columns: tuple[str, ...]
    changelog: Changelog
    # Whether Spark follows a watermark below; its column then travels with the rows.
    followed: bool = False
    # Whether rows bring along the watermark that was before them.
    stamped: bool = False
    # Whether rows bring along the file that they are from.
    placed: bool = False
    # Whether rows bring along what is wrong with them, which `checked` fails for.
    faulty: bool = False
    # The same rows as the operator packed them that gives them.
    packed: PackedRows | None = None

    @classmethod
    def of(cls, packed: PackedRows, columns: tuple[str, ...], changelog: Changelog) -> Frame:
        """The rows that an operator gives, under these names."""
        named = packed.called(columns)
        return cls(named.rows, columns, changelog, packed=named)

    def over(self, data: DataFrame, **changes: Any) -> Frame:
        """What stands for the edge now that something was done with the rows."""
        return replace(self, data=data, packed=None, **changes)

    @property
    def extra(self) -> tuple[str, ...]:
        """The columns beside those of the edge that a node must hand on."""
        kinds = () if self.changelog is Changelog.APPEND else (KIND,)
        followed = (WATERMARK,) if self.followed else ()
        stamps = (SEEN,) if self.stamped else ()
        place = (PLACE,) if self.placed else ()
        return (*kinds, *followed, *stamps, *place, *((FAULT,) if self.faulty else ()))

    @property
    def kept(self) -> tuple[str, ...]:
        """All columns that a node must hand on."""
        return (*self.columns, *self.extra)

    def with_fault(self, text: str) -> Frame:
        """The rows with the SQL text's value, a STRING, as their fault unless they have one.

        Spark moves filters below expressions, puts constants of a filter into them, and so
        evaluates them for rows that the filter drops. A check that fails inside an expression
        would fail for such rows. A fault is a value, and nothing happens when Spark computes it.
        """
        kept = [name for name in self.kept if name != FAULT]
        fault = f"coalesce({FAULT}, {text})" if self.faulty else text
        return self.over(self.data.selectExpr(*kept, f"{fault} AS {FAULT}"), faulty=True)

    def checked(self) -> Frame:
        """The rows that are there, without faults: the first one that has some fails the job.

        For where rows leave Spark's expressions. Spark moves no filter across one whose value
        may change, which is what `rand` is for; it is not asked for good rows.
        """
        if not self.faulty:
            return self
        fails = f"CASE WHEN {FAULT} IS NOT NULL AND rand() >= 0 THEN raise_error({FAULT}) END"
        good = self.data.where(f"({fails}) IS NULL")
        return self.over(good.drop(FAULT), faulty=False)


def names_of(edge: Edge) -> tuple[str, ...]:
    """What the columns of an edge are called in Spark."""
    return spark_text.safe_names(edge.names)


def like(frame: Frame, names: tuple[str, ...], changelog: Changelog) -> Frame:
    """The frame under other names, and with row kinds if the others have them."""
    if frame.packed is not None and frame.changelog is changelog:
        return Frame.of(frame.packed, names, changelog)
    texts = [
        f"{spark_text.name(old)} AS {spark_text.name(new)}"
        for old, new in zip(frame.columns, names, strict=True)
    ]
    if changelog is not Changelog.APPEND:
        texts.append(KIND if frame.changelog is not Changelog.APPEND else f"'+I' AS {KIND}")
    texts += [WATERMARK] * frame.followed + [SEEN] * frame.stamped + [FAULT] * frame.faulty
    data = frame.data.selectExpr(*texts)
    return frame.over(data, columns=names, changelog=changelog, placed=False)
