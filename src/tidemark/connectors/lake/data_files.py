"""Data files of a table, in Parquet: their columns, and what the table says about their rows."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tidemark.connectors.base import ColumnsRequest, Part
from tidemark.connectors.columns_by_name import ROWS, column, frame_of, names_in, nulls
from tidemark.connectors.filesystem.parquet_columns import misfit_of
from tidemark.connectors.filesystem.row_groups import needed
from tidemark.connectors.formats.base import FormatField
from tidemark.connectors.lake.frames import Frames
from tidemark.connectors.made_rows import NO_COLUMN
from tidemark.connectors.statistics import StatisticsTest
from tidemark.errors import DataError
from tidemark.storage import Access, Location

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from pyarrow.parquet import ParquetFile


@dataclass(frozen=True, slots=True)
class AboutFile:
    """What a table says about the rows of a file: the values of its partition, as strings, and
    which rows are not in the table any more."""

    values: Mapping[str, str | None] = field(default_factory=dict)
    kept: np.ndarray | None = None  # a boolean for each row; None: all of them

    def written(self) -> str:
        """As a string that travels with the file."""
        import numpy as np

        found: dict[str, Any] = {"values": dict(self.values)}
        if self.kept is not None:
            packed = np.packbits(self.kept)
            found |= {"rows": len(self.kept), "kept": base64.b64encode(packed.tobytes()).decode()}
        return json.dumps(found)

    @classmethod
    def read(cls, text: str) -> AboutFile:
        import numpy as np

        found = json.loads(text) if text else {}
        if "kept" not in found:
            return cls(found.get("values", {}))
        packed = np.frombuffer(base64.b64decode(found["kept"]), np.uint8)
        return cls(found["values"], np.unpackbits(packed, count=found["rows"]).astype(bool))


@dataclass(frozen=True)
class DataFiles:
    """Reads data files as a request wants them."""

    request: ColumnsRequest
    # The values of partition columns from their strings.
    value_of: Callable[[str, Any], Any]

    @cached_property
    def frames(self) -> Frames:
        return Frames(self.request)

    def __call__(self, part: Part) -> Iterator[pl.DataFrame]:
        about = AboutFile.read(part.details)
        given = {name.lower(): value for name, value in about.values.items()}
        inside, constants = [], {}
        for each in self.frames.fields:
            text = given.get(each.name.lower())
            if each.name.lower() in given:
                constants[each.name] = None if text is None else self.value_of(text, each.type)
            elif self.frames.is_read(each):
                inside.append(each)
        for rows in self._rows(part, inside, about.kept):
            if self.request.count is not None:
                self.request.count(rows.height, 0)
            yield self.frames.made(rows, constants, part.file)

    @cached_property
    def _test(self) -> StatisticsTest:
        return StatisticsTest.of(self.request)

    def _rows(
        self, part: Part, fields: Sequence[FormatField], kept: np.ndarray | None
    ) -> Iterator[pl.DataFrame]:
        import polars as pl

        with _opened(part.file, self.request.access) as file:
            if (wrong := misfit_of(file, fields)) is not None:
                raise DataError(f"{part.file}  {wrong}")
            names = names_in(file.schema_arrow, fields)
            wanted = [name for name in names if name is not None]
            groups = needed(file, range(file.metadata.num_row_groups), fields, self._test)
            kept, start = _of_groups(kept, file, groups), 0
            for batch in file.iter_batches(ROWS, row_groups=groups, columns=wanted):
                mask = None if kept is None else kept[start : start + batch.num_rows]
                start += batch.num_rows
                # A batch without columns has no height.
                if not wanted:
                    height = batch.num_rows if mask is None else int(mask.sum())
                    yield nulls(fields, height) if fields else _of_height(height)
                    continue
                rows = frame_of(batch).select(map(column, fields, names))
                yield rows if mask is None else rows.filter(pl.Series(mask))


def _of_groups(
    kept: np.ndarray | None, file: ParquetFile, groups: Sequence[int]
) -> np.ndarray | None:
    """Which rows of these groups are kept."""
    import numpy as np

    if kept is None or not groups:
        return kept
    about = map(file.metadata.row_group, range(file.metadata.num_row_groups))
    bounds = np.cumsum([0, *(group.num_rows for group in about)])
    return np.concatenate([kept[bounds[group] : bounds[group + 1]] for group in groups])


def _of_height(rows: int) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame({NO_COLUMN: pl.repeat(None, rows, eager=True)})


@contextmanager
def _opened(file: str, access: Access) -> Iterator[ParquetFile]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with Location.of(file, access).input() as content:
            yield parquet.ParquetFile(
                content, coerce_int96_timestamp_unit="us", page_checksum_verification=True
            )
    except FileNotFoundError:
        raise DataError(
            f"{file}  the file is gone",
            notes={"why": "the table's log names it; maybe old versions were vacuumed"},
            hint="read a newer version, or start the stream anew",
        ) from None
    except pa.ArrowException as problem:
        raise DataError(
            f"{file}  cannot read the file", notes={"why": str(problem).splitlines()[0]}
        ) from None
