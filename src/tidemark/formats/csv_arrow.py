"""CSV lines as whole columns by Arrow's parser, where it surely does as Flink does.

It is several times as quick as splitting strings, and knows other rules: for what follows a quote,
for line ends, for empty lines, for lines with other numbers of fields. So the bytes of a block must
show that each line is a record, with quotes only around fields. Lines that Arrow may see in another
way are left to others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl
import pyarrow as pa
from pyarrow import csv

from tidemark import types as t
from tidemark.formats.csv_cells import CellReader, Cells, cell_reader
from tidemark.formats.csv_exact import Scanner, without_line_end
from tidemark.formats.csv_plain import PlainLines, has_plain_style
from tidemark.formats.csv_quick import NOT_ABLE, QuickLines, QuickRecords
from tidemark.formats.csv_style import BLANKS, Style
from tidemark.formats.csv_values import NESTED
from tidemark.formats.decoded import Block
from tidemark.formats.leaf_values import Flags

_LARGEST = (1 << 31) - 2  # bytes of a block of Arrow
# Numbers that Arrow reads as Java does, if they are finite and not hexadecimal. One that it refuses
# is read as a string.
_NUMBERS: Mapping[type[t.DataType], pa.DataType] = {
    t.TinyInt: pa.int8(),
    t.SmallInt: pa.int16(),
    t.Int: pa.int32(),
    t.BigInt: pa.int64(),
    t.Float: pa.float32(),
    t.Double: pa.float64(),
}
# If a larger share of the lines has another number of fields, this way does not pay.
_MOST_OTHERS = 0.02


class ArrowCsv:
    """Reads the fields at some places of lines that have `fields`."""

    def __init__(self, fields: Sequence[t.Field], style: Style, places: Sequence[int]) -> None:
        self._width, self._places = len(fields), places
        self._fields = [fields[place] for place in places]
        self._style = style
        self._scanner = Scanner(style)
        able = not any(isinstance(each.type, NOT_ABLE) for each in self._fields)
        self._able = able and bool(places) and has_plain_style(style)
        self._readers = [cell_reader(each.type, style) for each in self._fields if self._able]
        # After a number that Arrow refuses there are probably more.
        self._as_numbers = any(type(each.type) in _NUMBERS for each in self._fields)

    def read(self, block: Block, few: int) -> QuickLines | None:
        """What the lines of a block contain, where that is sure. None if this way cannot be taken,
        or if there are fewer lines than `few`.
        """
        if not self._able or isinstance(block, pa.Array) or len(memoryview(block)) > _LARGEST:
            return None
        lines = PlainLines.of(memoryview(block), self._style)
        if lines is None or lines.count < few:
            return None
        if self._as_numbers and not lines.has_hexadecimal():
            if (found := self._read(lines, numbers=True)) is not None:
                return found
            self._as_numbers = False
        return self._read(lines, numbers=False)

    def _read(self, lines: PlainLines, *, numbers: bool) -> QuickLines | None:
        parsed = _Parsed(self._style, lines, self._width_of(lines))
        kinds = {
            place: _NUMBERS.get(type(field.type), pa.string()) if numbers else pa.string()
            for place, field in zip(self._places, self._fields, strict=True)
        }
        try:
            table = parsed.columns(kinds, self._width)
        except pa.ArrowInvalid:  # not a number, not UTF-8, or too many others
            return None
        if table.num_rows + len(parsed.others) != lines.count:
            return None  # a field has line ends
        done = np.ones(lines.count, np.bool_)
        done[parsed.others] = False
        index = np.flatnonzero(done)
        columns, sure = self._values([*_series(table)])
        if self._width > 1:
            sure &= ~lines.empty()[index]  # which Arrow reads as lines of empty fields
        done[index] = sure
        records = QuickRecords(columns, pl.Series(index)).only(sure)
        return QuickLines([records], done, np.zeros(lines.count, np.bool_))

    def _width_of(self, lines: PlainLines) -> int:
        """How many fields lines have: one extra blank field is allowed."""
        found = self._scanner.fields(without_line_end(lines.first))
        return self._width + (found is not None and len(found) == self._width + 1)

    def _values(self, cells: Sequence[pl.Series]) -> tuple[list[pl.Series], Flags]:
        """The columns, and the lines whose fields are all right."""
        sure = np.ones(len(cells[0]), np.bool_)
        columns = []
        for field, reader, cell in zip(self._fields, self._readers, cells, strict=False):
            if isinstance(field.type, NESTED):
                cell = self._text(cell)
            values, right = _values(cell, reader)
            if right is not None:
                sure &= right
            columns.append(values.alias(field.name))
        for extra in cells[len(columns) :]:
            sure &= (self._text(extra).str.strip_chars(BLANKS) == "").to_numpy()
        return columns, sure

    def _text(self, cell: pl.Series) -> pl.Series:
        """What is in the file, also where Arrow has read it as NULL."""
        return cell.fill_null(self._style.null or "")


class _Parsed:
    """Lines as Arrow takes them apart, except for those that have another number of fields."""

    def __init__(self, style: Style, lines: PlainLines, width: int) -> None:
        self._style, self._lines, self._width = style, lines, width
        self._most = int(_MOST_OTHERS * lines.count)
        self.others: list[int] = []

    def columns(self, kinds: Mapping[int, pa.DataType], width: int) -> pa.Table:
        """The fields at some places, and those beyond a width. Raises ArrowInvalid."""
        kinds = {**kinds, **dict.fromkeys(range(width, self._width), pa.string())}
        style, null = self._style, self._style.null
        return csv.read_csv(
            pa.BufferReader(pa.py_buffer(self._lines.data)),
            csv.ReadOptions(
                use_threads=False,
                block_size=len(self._lines.data) + 1,
                column_names=[str(place) for place in range(self._width)],
            ),
            csv.ParseOptions(
                delimiter=style.delimiter,
                quote_char=style.quote or False,
                ignore_empty_lines=False,
                invalid_row_handler=self._other,
            ),
            csv.ConvertOptions(
                column_types={str(place): kind for place, kind in kinds.items()},
                include_columns=[str(place) for place in kinds],
                null_values=[] if null is None else [null],
                strings_can_be_null=null is not None,
            ),
        )

    def _other(self, row: csv.InvalidRow) -> str:
        self.others.append(row.number - 1)
        return "skip" if len(self.others) <= self._most else "error"


def _series(table: pa.Table) -> Iterator[pl.Series]:
    for column in table.columns:
        series = pl.from_arrow(column)
        assert isinstance(series, pl.Series)
        yield series


def _values(cell: pl.Series, reader: CellReader) -> Cells:
    """The values of cells that Arrow has read as strings, or as numbers already."""
    if cell.dtype == pl.String:
        return reader.read(cell)
    if cell.dtype.is_float():
        return cell, cell.is_finite().fill_null(True).to_numpy()
    return cell, None
