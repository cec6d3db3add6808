"""Rows of a table and of its changes, as frames with the columns that a plan asks for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Protocol, TypeAlias

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.connectors.base import ColumnsRequest, Part
from tidemark.connectors.cdc import snapshot_files
from tidemark.connectors.cdc.captured import CapturedColumns
from tidemark.connectors.cdc.metadata import OfRows, metadata
from tidemark.errors import DataError
from tidemark.kernels.columns import KIND, PLACE
from tidemark.storage import Location

if TYPE_CHECKING:
    import polars as pl


Rows: TypeAlias = tuple[Mapping[str, "pl.Series"], "pl.Series", OfRows]


class ChangesRead(Protocol):
    """ChangesRead of a part of the log."""

    truncated: int  # how often the table was truncated, when all rows are read

    def rows(self) -> Iterator[Rows]:
        """The values by column, the row kinds, and what makes metadata of them."""
        ...


class PartColumns(ABC):
    """Reads parts of a table as frames with the columns of a request: files of its snapshot, its
    changes, or the table as it is.
    """

    def __init__(
        self, request: ColumnsRequest, captured: CapturedColumns, changelog: Changelog
    ) -> None:
        self._request = request
        self._made = CdcFrames(request, captured, changelog)

    @abstractmethod
    def changes(self, part: Part) -> ChangesRead: ...

    @abstractmethod
    def of_now(self) -> Iterator[pl.DataFrame]: ...

    def __call__(self, part: Part) -> Iterator[pl.DataFrame]:
        for frame, skipped in self._frames(part):
            if self._request.count is not None:
                self._request.count(frame.height, skipped)
            if frame.height:
                yield frame

    def _frames(self, part: Part) -> Iterator[tuple[pl.DataFrame, int]]:
        if part.details:
            changes = self.changes(part)
            for rows, kinds, of_rows in changes.rows():
                yield self._made.made(rows, kinds, of_rows), 0
            if changes.truncated:
                yield self._made.nothing, changes.truncated
            return
        for values in self._table(part):
            yield self._made.of_snapshot(values), 0

    def _table(self, part: Part) -> Iterator[pl.DataFrame]:
        if part.file:
            return snapshot_files.read(Location(part.file, self._request.access))
        return self.of_now()


class CdcFrames:
    """Makes frames with the columns of a request."""

    def __init__(
        self, request: ColumnsRequest, captured: CapturedColumns, changelog: Changelog
    ) -> None:
        self._request, self._captured = request, captured
        self._appends = changelog is Changelog.APPEND

    def of_snapshot(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows that were there from the beginning."""
        import numpy as np

        kinds = _repeated("+I", rows.height)
        of_rows = metadata(self._captured.names, kinds, np.zeros(rows.height, np.int64))
        return self.made({column: rows[column] for column in rows.columns}, kinds, of_rows)

    @property
    def nothing(self) -> pl.DataFrame:
        import polars as pl

        return self.of_snapshot(pl.DataFrame())

    def made(
        self, values: Mapping[str, pl.Series], kinds: pl.Series, of_rows: OfRows
    ) -> pl.DataFrame:
        """The columns as the plan names them. What is not read is NULL."""
        import polars as pl

        request, height = self._request, len(kinds)
        made = []
        for column, type_ in self._captured.columns.items():
            if column in values:
                made.append(values[column])
            elif column in self._captured.columns_read and height:
                raise DataError(
                    f"the snapshot of {self._captured} was taken without column `{column}`",
                    hint="start the job without its checkpoint",
                )
            else:
                made.append(_nulls(type_, height))
        made += [of_rows(key) for key in request.metadata]
        named = [value.alias(name) for value, name in zip(made, request.columns, strict=True)]
        if not self._appends:
            named.append(kinds.alias(KIND))
        if request.placed:
            named.append(_repeated(f"table {self._captured}", height).alias(PLACE))
        return pl.DataFrame(named or [kinds])


def _repeated(value: str, count: int) -> pl.Series:
    import polars as pl

    return pl.repeat(value, count, dtype=pl.String, eager=True)


def _nulls(type_: t.DataType, count: int) -> pl.Series:
    import polars as pl

    from tidemark.columns import polars_type

    return pl.repeat(None, count, dtype=polars_type(type_), eager=True)
