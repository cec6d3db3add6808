"""Where functions of DataFrames run: those of Spark there, frames in memory in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from tidemark.errors import PlanError
from tidemark.session.rows_in_memory import is_of_spark, library_of
from tidemark.session.session import Session, connect

if TYPE_CHECKING:
    from tidemark.session.result import Result

F = TypeVar("F")


def session_of(*frames: Any) -> Session:
    """A session for frames that are all of Spark, or all in memory."""
    of_spark = [frame for frame in frames if is_of_spark(frame)]
    if not of_spark:
        return connect(engine="local")
    if len(of_spark) < len(frames):
        raise PlanError(
            "one side is a DataFrame of Spark, the other one is in memory",
            hint="make both DataFrames of Spark: spark.createDataFrame(rows)",
        )
    return connect(of_spark[0].sparkSession)


def on_spark(frame: Any) -> Session:
    """A session for a function that Spark calls."""
    if not is_of_spark(frame):
        raise PlanError(
            f"streams are joined on Spark, and this is a frame of {library_of(frame)}",
            hint="make it a DataFrame of Spark: spark.createDataFrame(rows)",
        )
    return connect(frame.sparkSession)


def columns_of(frame: Any) -> list[str]:
    names = frame.column_names if hasattr(frame, "column_names") else frame.columns
    return list(map(str, names))


def as_given(result: Result, frame: F) -> F:
    """The rows in a frame of the same library."""
    rows: Any
    if is_of_spark(frame):
        rows = result.to_dataframe()
    elif library_of(frame) == "pandas":
        rows = result.to_pandas()
    elif library_of(frame) == "polars":
        rows = result.to_polars()
    else:
        rows = result.to_arrow()
    return cast("F", rows)
