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
        return (*kinds, *followed, *((SEEN,) if self.stamped else ()))

    @property
    def kept(self) -> tuple[str, ...]:
        """All columns that a node must hand on."""
        return (*self.columns, *self.extra)


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
    texts += [WATERMARK] * frame.followed + [SEEN] * frame.stamped
    return Frame(frame.data.selectExpr(*texts), names, changelog, frame.followed, frame.stamped)
