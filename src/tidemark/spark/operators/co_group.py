"""coGroup, with a kernel: a function is called with the rows of each key and window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tidemark.catalog.tables import Changelog
from tidemark.functions import spark_text
from tidemark.functions.arrow_types import to_arrow
from tidemark.functions.moments import clock_of_millis
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START
from tidemark.operators.times import by_watermark
from tidemark.plan.nodes import CoGroup
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.operators.window_join import WindowSide, window_sides
from tidemark.spark.types import to_spark
from tidemark.spark.windowed import called

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from pyspark.sql.types import StructType

    from tidemark.kernels.co_group.kernel import OnClose
    from tidemark.kernels.protocol import Kernel
    from tidemark.physical import Operator
    from tidemark.plan.nodes import Edge
    from tidemark.spark.builder import Builder

_KEY: Final = "_tm_key_{}"
_GROUP: Final = "_tm_group"


def co_group(builder: Builder, operator: Operator) -> Frame:
    """The function's result for each group; without a function, the pairs, as rows of both
    sides.
    """
    from tidemark.kernels.co_group.kernel import CoGroupKernel, WindowsOfRows
    from tidemark.kernels.co_group.sessions import SharedSessions
    from tidemark.kernels.window_join import Matches, PairsInWindows

    node = operator.node
    assert isinstance(node, CoGroup)
    names, sides = window_sides(builder, operator)
    left, right = sides
    windows: Any
    if left.assignment is None or right.assignment is None:
        assert node.gap_ms is not None
        windows = SharedSessions(left.keys, right.keys, node.gap_ms)
    else:
        windows = WindowsOfRows(left.assignment, right.assignment)
    on_close: OnClose = PairsInWindows(Matches(left.keys, right.keys))
    if node.function is not None:
        on_close = _each_group(node, names, left, right)
    kernel = CoGroupKernel(windows, on_close)
    runs = by_watermark(operator, kernel, node.time_type, builder.zone)
    if node.function is None:
        return _pairs(builder, operator, runs, sides)
    packed = builder.run_kernel(operator, runs, [left.input, right.input], _schema(operator.edge))
    return Frame.of(packed, names_of(operator.edge), Changelog.APPEND)


def _schema(edge: Edge) -> StructType:
    from pyspark.sql.types import StructField, StructType

    columns = zip(names_of(edge), edge.types, strict=True)
    return StructType([StructField(name, to_spark(type_)) for name, type_ in columns])


def _pairs(
    builder: Builder, operator: Operator, kernel: Kernel, sides: tuple[WindowSide, WindowSide]
) -> Frame:
    """The pairs as two rows and the bounds of their window."""
    from pyspark.sql.types import LongType, StructField, StructType

    node = operator.node
    assert isinstance(node, CoGroup)
    left, right = sides
    bounds = [StructField(name, LongType()) for name in (WINDOW_START, WINDOW_END)]
    schema = StructType([*left.fields, *right.fields, *bounds])
    data = builder.run_kernel(operator, kernel, [left.input, right.input], schema).rows
    rows = []
    for side, own in ((left, node.left.edge), (right, node.right.edge)):
        parts = zip(side.fields, names_of(own), strict=True)
        projections = [
            f"{spark_text.name(old.name)} AS {spark_text.name(new)}" for old, new in parts
        ]
        rows.append(f"struct({', '.join(projections)})")
    values = [*rows, clock_of_millis(WINDOW_START), clock_of_millis(WINDOW_END)]
    projections = called(values, operator.edge)
    return Frame(data.selectExpr(*projections), names_of(operator.edge), Changelog.APPEND)


def _each_group(
    node: CoGroup, names: tuple[str, ...], left: WindowSide, right: WindowSide
) -> EachGroup:
    import pyarrow as pa

    assert node.function is not None
    width = len(node.left.edge.columns)
    schema = pa.schema(
        [
            (name, to_arrow(type_))
            for name, type_ in zip(names_of(node.edge), node.edge.types, strict=True)
        ]
    )
    user = tuple(node.left.edge.names[key] for key in node.left_keys)
    return EachGroup(
        user,
        (left.keys, right.keys),
        (
            dict(zip(names[:width], node.left.edge.names, strict=True)),
            dict(zip(names[width:], node.right.edge.names, strict=True)),
        ),
        node.function,
        schema,
    )


@dataclass(frozen=True, slots=True)
class EachGroup:
    """Calls a function with each key and window and its rows on both sides, as pandas frames."""

    key_names: tuple[str, ...]
    keys: tuple[tuple[str, ...], tuple[str, ...]]
    # The user's names for the columns of each side.
    columns: tuple[dict[str, str], dict[str, str]]
    function: Callable[[dict[str, Any], pd.DataFrame, pd.DataFrame], pd.DataFrame]
    schema: pa.Schema

    def __call__(self, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
        import polars as pl
        import pyarrow as pa

        made = [
            pa.Table.from_pandas(frame, schema=self.schema, preserve_index=False)
            for frame in self._results(left, right)
            if frame is not None
        ]
        output = pl.from_arrow(pa.concat_tables([self.schema.empty_table(), *made]))
        assert isinstance(output, pl.DataFrame)
        return output

    def _results(self, left: pl.DataFrame, right: pl.DataFrame) -> Iterator[pd.DataFrame | None]:
        """The function's results for all groups, earliest end first."""
        sides = [
            self._keyed(rows, keys) for rows, keys in zip((left, right), self.keys, strict=True)
        ]
        groups = self._groups(sides)
        parts = [
            _slices(side, groups, columns)
            for side, columns in zip(sides, self.columns, strict=True)
        ]
        for key, mine, theirs in zip(self._bounds_of(groups), *parts, strict=True):
            yield self.function(key, mine, theirs)

    @property
    def _on(self) -> list[str]:
        return [
            *(_KEY.format(place) for place in range(len(self.key_names))),
            WINDOW_START,
            WINDOW_END,
        ]

    def _keyed(self, rows: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
        """The rows with their keys under names that both sides have."""
        import polars as pl

        return rows.with_columns(
            pl.col(key).alias(_KEY.format(place))
            for place, key in enumerate(keys[: len(self.key_names)])
        )

    def _groups(self, sides: list[pl.DataFrame]) -> pl.DataFrame:
        import polars as pl

        found = pl.concat([side.select(self._on) for side in sides]).unique(maintain_order=True)
        return found.sort(WINDOW_END, maintain_order=True).with_row_index(_GROUP)

    def _bounds_of(self, groups: pl.DataFrame) -> Iterator[dict[str, Any]]:
        """The keys and the window's bounds, under the user's names."""
        import polars as pl

        bounds = groups.select(
            *(pl.col(_KEY.format(place)).alias(name) for place, name in enumerate(self.key_names)),
            pl.from_epoch(WINDOW_START, "ms").alias("window_start"),
            pl.from_epoch(WINDOW_END, "ms").alias("window_end"),
        )
        return bounds.iter_rows(named=True)


def _slices(
    side: pl.DataFrame, groups: pl.DataFrame, names: dict[str, str]
) -> Iterator[pd.DataFrame]:
    """The rows of each group, in order of arrival; an empty frame if there are none."""
    import numpy as np

    on = groups.columns[1:]
    numbered = side.join(groups, on=on, how="left", nulls_equal=True, maintain_order="left")
    ordered = numbered.sort(_GROUP, maintain_order=True)
    numbers = ordered[_GROUP].to_numpy()
    ends = np.searchsorted(numbers, np.arange(groups.height), side="right")
    rows = ordered.select(list(names)).rename(names).to_pandas()
    start = 0
    for end in ends:
        yield rows.iloc[start:end].reset_index(drop=True)
        start = end
