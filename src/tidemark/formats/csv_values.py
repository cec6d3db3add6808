"""The fields of a CSV record to values, one by one, and what is wrong with the bad one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tidemark import types as t
from tidemark.errors import DataError
from tidemark.formats import problems, time_spelling
from tidemark.formats.csv_style import IGNORE, Style
from tidemark.formats.exact_values import NotAValue, Spelling, reader

SPELLING = Spelling(loose_dates=True, short_times=True, padded_times=True, tight_decimals=True)
# What has elements, each of which may be NULL by `csv.null-literal`, but not as a whole.
NESTED = (t.Array, t.Row)

_Convert = Callable[[str], Any]


class FieldConverter:
    """Converts the fields of records at some places to values."""

    def __init__(self, fields: Sequence[t.Field], style: Style, places: Sequence[int]) -> None:
        self._fields = fields
        self._style = style
        self._converters = [(place, _converter(fields[place].type, style)) for place in places]

    def __call__(
        self, found: Sequence[str], *, file: str | None, number: int, record: str
    ) -> list[Any]:
        values = []
        for i, convert in self._converters:
            text = found[i] if i < len(found) else None
            try:
                values.append(None if text is None else convert(text))
            except NotAValue as problem:
                raise _invalid(self._fields[i], problem, file, number, record) from None
        return values


def _invalid(
    field: t.Field, problem: NotAValue, file: str | None, number: int, record: str
) -> DataError:
    return problems.data_error(
        problems.cannot_read_field(field.name, problem.type.text()),
        why=problems.not_valid(problem.type.text()),
        file=file,
        number=number,
        value=problem.text,
        record=record,
        hint=time_spelling.hint(
            problem.text, problem.type, problems.reads_as_null(IGNORE), iso=False, option=None
        ),
    )


def _converter(type_: t.DataType, style: Style) -> _Convert:
    match type_:
        case t.Array(element=element):
            return _array(_part(element, style), style.elements)
        case t.Row(fields=fields):
            return _row(type_, [_part(field.type, style) for field in fields], style)
        case _:
            convert = _scalar(type_, style)
            return lambda text: None if text == style.null else convert(text)


def _scalar(type_: t.DataType, style: Style) -> _Convert:
    read = reader(type_, SPELLING)
    if not style.ignores_errors:
        return read

    def convert(text: str) -> Any:
        try:
            return read(text)
        except NotAValue:
            return None

    return convert


def _part(type_: t.DataType, style: Style) -> _Convert:
    """An element; an empty one is NULL unless it can be an empty string."""
    convert = _scalar(type_, style)
    nulls = {style.null} if isinstance(type_, t.CHARACTERS) else {style.null, ""}
    return lambda text: None if text in nulls else convert(text)


def _array(convert: _Convert, separator: str) -> _Convert:
    return lambda text: [convert(part) for part in text.split(separator)] if text.strip(" ") else []


def _row(type_: t.Row, converts: Sequence[_Convert], style: Style) -> _Convert:
    def convert(text: str) -> Any:
        if not text.strip(" "):
            return None
        parts = text.split(style.elements)
        if len(parts) < len(converts) and not style.ignores_errors:
            raise NotAValue(text, type_)
        missing = [None] * (len(converts) - len(parts))
        return tuple(
            None if part is None else read(part)
            for read, part in zip(converts, [*parts, *missing], strict=False)
        )

    return convert
