"""How the rows of a plan leave it, batch by batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.spark.frame import Frame
from tidemark.spark.jobs import Deliver

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from tidemark.spark.upkeep import Upkeep


@dataclass(frozen=True, slots=True)
class Handover:
    """What of a plan's frame is handed over, batch by batch, and to whom."""

    data: DataFrame
    deliver: Deliver
    # Counts the plan's rows in `data`, in Spark SQL.
    rows: str = "count(1)"
    # Whether `deliver` says when all rows are computed, before anybody sees one of them.
    computes_first: bool = False
    # Whether Spark only sees packed columns in `data`.
    packed: bool = False
    # What is done between the batches of a stream.
    upkeep: Upkeep | None = None


# Says how the rows of a frame want to be handed over.
Consume = Callable[[Frame], Handover]
