"""CSV records as whole columns: lines that are a record by themselves, or with the next ones.

Such a line is a record if it begins one. What precedes it decides that, so the caller leaves out
the lines that are part of a longer record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tidemark import types as t
from tidemark.formats.csv_cells import cell_reader
from tidemark.formats.csv_exact import BEFORE_RECORDS, Scanner
from tidemark.formats.csv_style import BLANKS, Style
from tidemark.formats.csv_values import NESTED
from tidemark.formats.leaf_values import Flags, replaced

NOT_ABLE = (t.Map, t.Multiset)


@dataclass(frozen=True, slots=True)
class QuickRecords:
    """Records that were read, and the lines that they begin on."""

    columns: list[pl.Series]
    lines: pl.Series

    def only(self, chosen: Flags) -> QuickRecords:
        if chosen.all():
            return self
        where = pl.Series(chosen)
        return QuickRecords([each.filter(where) for each in self.columns], self.lines.filter(where))


@dataclass(frozen=True, slots=True)
class QuickLines:
    parts: list[QuickRecords]
    done: Flags  # the lines that were read, or are not a record
    inside: Flags  # the lines of records that were read, except for their first ones


class QuickCsv:
    """Reads the fields at some places of records that have `fields`."""

    def __init__(self, fields: Sequence[t.Field], style: Style, places: Sequence[int]) -> None:
        self._width, self._places = len(fields), places
        self._fields = [fields[place] for place in places]
        self._style = style
        self._scanner = Scanner(style)
        self._able = not any(isinstance(field.type, NOT_ABLE) for field in self._fields)
        self._readers = [cell_reader(each.type, style) for each in self._fields if self._able]
        # How many fields a record has at least. Missing ones are NULL if errors are ignored.
        self._least = 1 if style.ignores_errors else len(places)
        self._pattern = _pattern(style, len(fields), self._least)
        self._special = rf"[{'' if style.escape is None else _escaped(style.escape)}\r\n]"

    def read(self, lines: pl.Series) -> QuickLines | None:
        """What the lines contain; None if this way cannot be taken at all."""
        if not self._able or lines.is_empty():
            return None
        columns, sure = self._records(lines)
        left_out = self._without_record(lines)
        single = QuickRecords(columns, pl.int_range(lines.len(), eager=True)).only(sure & ~left_out)
        done = sure | left_out
        inside = np.zeros(lines.len(), np.bool_)
        longer = self._longer(lines, done, inside)
        if longer is None:
            return QuickLines([single], done, inside)
        done[longer.lines.to_numpy()] = True
        single = single.only(~inside[single.lines.to_numpy()])
        return QuickLines([single, longer], done | inside, inside)

    def read_rest(self, lines: pl.Series, found: QuickLines) -> QuickLines:
        """The same, where some of the lines were read, and each is known to be a record."""
        rest = pl.Series(np.flatnonzero(~found.done))
        columns, sure = self._records(lines.gather(rest))
        done = found.done.copy()
        done[rest.to_numpy()] = sure
        return QuickLines(
            [*found.parts, QuickRecords(columns, rest).only(sure)], done, found.inside
        )

    def _without_record(self, lines: pl.Series) -> Flags:
        """The comments, and if there may be any, the empty lines."""
        if not self._style.comments:
            return np.zeros(lines.len(), np.bool_)
        # A line with a quote may be a part of a longer record.
        quote = "" if self._style.quote is None else _escaped(self._style.quote)
        return _flags(lines.str.contains(rf"^[ \r]*(?:#[^{quote}\n]*)?\n?$"))

    # --- lines ---

    def _records(self, texts: pl.Series) -> tuple[list[pl.Series], Flags]:
        """The fields of strings, and which strings are a record with these."""
        if self._style.comments:
            texts = texts.str.strip_chars_start("".join(BEFORE_RECORDS))
        cells, sure = self._cells(texts)
        if self._style.comments:
            sure &= ~_flags(texts.str.starts_with("#"))
        columns = []
        for field, reader, cell in zip(self._fields, self._readers, cells, strict=True):
            values, right = reader.read(cell)
            if right is not None:
                sure &= right
            columns.append(values.alias(field.name))
        return columns, sure

    def _cells(self, texts: pl.Series) -> tuple[list[pl.Series], Flags]:
        """The strings in the fields, and which records have as many fields as there should be.

        To split them is far quicker than to search for fields, which only those need that have more
        than quotes around whole fields.
        """
        cells, sure = self._split(texts)
        if not sure.all():
            rest = np.flatnonzero(~sure)
            where = pl.Series(rest)
            found, sure[rest] = self._found(texts.gather(where))
            cells = [replaced(a, where, b) for a, b in zip(cells, found, strict=True)]
        null = self._style.null
        if null is not None:
            cells = [
                cell
                if isinstance(field.type, NESTED)
                else pl.select(pl.when(cell != null).then(cell)).to_series()
                for field, cell in zip(self._fields, cells, strict=True)
            ]
        return cells, sure

    def _split(self, texts: pl.Series) -> tuple[list[pl.Series], Flags]:
        bare = texts.str.strip_suffix("\n").str.strip_suffix("\r")
        split = bare.str.split_exact(self._style.delimiter, self._width + 1).struct.unnest()
        *cells, extra, more = split.get_columns()
        # One extra blank field is allowed: it is a delimiter at the end of the line.
        sure = _flags(more.is_null() & (extra.is_null() | (extra.str.strip_chars(BLANKS) == "")))
        sure &= _flags(cells[self._least - 1].is_not_null())
        sure &= ~_flags(bare.str.contains(self._special))
        quote = self._style.quote
        if quote is not None:
            quotes = bare.str.count_matches(quote, literal=True)
            if (quotes > 0).any():
                cells, whole = _without_quotes(cells, quote)
                # Each quote begins or ends one of the fields.
                sure &= _flags(quotes == whole * 2)
        return [cells[place] for place in self._places], sure

    def _found(self, texts: pl.Series) -> tuple[list[pl.Series], Flags]:
        groups = texts.str.extract_groups(self._pattern).struct.unnest()
        *cells, end = groups.get_columns()
        wanted = [self._text(cells[place]) for place in self._places]
        return wanted, _flags(end.is_not_null())

    def _text(self, field: pl.Series) -> pl.Series:
        quote = self._style.quote
        if quote is not None:
            quoted = field.str.starts_with(quote)
            if quoted.any():
                inside = field.str.strip_prefix(quote).str.strip_suffix(quote)
                if inside.str.contains(quote, literal=True).any():
                    inside = inside.str.replace_all(quote * 2, quote, literal=True)
                field = pl.select(pl.when(quoted).then(inside).otherwise(field)).to_series()
        return self._unescaped(field)

    def _unescaped(self, field: pl.Series) -> pl.Series:
        escape = self._style.escape
        where = None if escape is None else field.str.contains(escape, literal=True).arg_true()
        if where is None or where.is_empty():
            return field
        strings = field.gather(where)
        known = {each: self._scanner.unescaped(each) for each in strings.unique()}
        return replaced(field, where, pl.Series([known[each] for each in strings], dtype=pl.String))

    # --- records of several lines ---

    def _longer(self, lines: pl.Series, done: Flags, inside: Flags) -> QuickRecords | None:
        """The records from a line with an open quote to the one that closes it.

        Their lines, except for the first ones, are marked as inside.
        """
        quote = self._style.quote
        if quote is None or self._scanner.by_lines or self._style.escape is not None or done.all():
            return None
        rest = np.flatnonzero(~done)
        quotes = lines.gather(pl.Series(rest)).str.count_matches(quote, literal=True)
        odd = rest[_flags(quotes % 2 == 1)]
        opening, closing = odd[: len(odd) // 2 * 2 : 2], odd[1::2]
        if not len(opening):
            return None
        size = closing - opening + 1
        at = np.repeat(opening - np.cumsum(size) + size, size) + np.arange(size.sum())
        record = np.repeat(np.arange(len(size)), size)
        joined = (
            pl.DataFrame({"record": record, "text": lines.gather(pl.Series(at))})
            .group_by("record", maintain_order=True)
            .agg(pl.col("text").str.join(ignore_nulls=False))
        )
        columns, sure = self._records(joined["text"])
        inside[at[sure[record] & (at != opening[record])]] = True
        return QuickRecords(columns, pl.Series(opening)).only(sure)


def _flags(values: pl.Series) -> Flags:
    return values.fill_null(False).to_numpy().copy()


def _without_quotes(cells: list[pl.Series], quote: str) -> tuple[list[pl.Series], pl.Series]:
    """The fields without the quotes around them, and how many of a record had these."""
    bare = []
    whole = pl.Series(np.zeros(cells[0].len(), np.int64))
    for cell in cells:
        begins = cell.str.starts_with(quote)
        if begins.any():
            quoted = (begins & cell.str.ends_with(quote) & (cell != quote)).fill_null(False)
            inside = cell.str.strip_prefix(quote).str.strip_suffix(quote)
            cell = pl.select(pl.when(quoted).then(inside).otherwise(cell)).to_series()
            whole = whole + quoted.cast(pl.Int64)
        bare.append(cell)
    return bare, whole


def _pattern(style: Style, width: int, least: int) -> str:
    """A record with so many of its fields or more; its last group is there only if it matches."""
    delimiter = _escaped(style.delimiter)
    field = f"({_field(style)})"
    # One extra empty field is allowed: it is a delimiter at the end of the line.
    pattern = f"{field}(?:{delimiter})?"
    for before in range(width - 1, 0, -1):
        rest = f"{delimiter}{pattern}"
        pattern = f"{field}{rest}" if before < least else f"{field}(?:{rest})?"
    return rf"^{pattern}(\r?\n?)$"


def _field(style: Style) -> str:
    escape = "" if style.escape is None else _escaped(style.escape)
    escaped = f"|{escape}[^\r\n]" if escape else ""
    delimiter = _escaped(style.delimiter)
    if style.quote is None:
        return rf"(?:[^\r\n{delimiter}{escape}]{escaped})*"
    quote = _escaped(style.quote)
    first, more = rf"[^\r\n{delimiter}{escape}{quote}]", rf"[^\r\n{delimiter}{escape}]"
    plain = f"(?:(?:{first}{escaped})(?:{more}{escaped})*)?"
    inside = f"{quote}(?:[^{quote}{escape}]{escaped})*{quote}"
    # What follows a quote is decided by one character, which makes the search three times as fast.
    return f"{inside}(?:{inside})*|{plain}"


def _escaped(character: str) -> str:
    return rf"\x{{{ord(character):x}}}"
