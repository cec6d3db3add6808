"""The leaves of a JSON document to values, and what is wrong with the one that has none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark import types as t
from tidemark.errors import DataError
from tidemark.formats import problems, time_spelling
from tidemark.formats.exact_values import NotAValue, reader
from tidemark.formats.json_options import JsonOptions
from tidemark.formats.json_reasons import why_unreadable

_Convert = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class RecordPlace:
    """Where a record is, and its bytes."""

    file: str | None
    number: int
    binary: bytes

    @property
    def text(self) -> str:
        return self.binary.decode("utf-8", "replace").rstrip("\r\n")


def unreadable(place: RecordPlace, options: JsonOptions) -> DataError:
    """The error for a record that is not a document of the wanted shape."""
    return data_error(
        place,
        problems.cannot_read_record("JSON"),
        why=_why(place.binary),
        hint=options.skips,
    )


def data_error(
    place: RecordPlace, problem: str, *, why: str, hint: str | None, value: str | None = None
) -> DataError:
    return problems.data_error(
        problem,
        why=why,
        file=place.file,
        number=place.number,
        value=value,
        record=place.text,
        hint=hint,
    )


def _why(binary: bytes) -> str:
    try:
        return why_unreadable(binary.decode("utf-8").rstrip("\r\n"))
    except UnicodeDecodeError:
        return problems.NOT_UTF_8


class RowConverter:
    """Converts rows whose leaves are strings to rows of values."""

    def __init__(self, fields: Sequence[t.Field], options: JsonOptions) -> None:
        self._fields = fields
        self._options = options
        self._converters = [_converter(field.type, options) for field in fields]

    def __call__(self, row: Sequence[Any], place: RecordPlace) -> list[Any]:
        try:
            pairs = zip(self._converters, row, strict=True)
            return [None if raw is None else convert(raw) for convert, raw in pairs]
        except NotAValue as problem:
            raise self._invalid(row, problem, place) from None

    def _invalid(self, row: Sequence[Any], problem: NotAValue, place: RecordPlace) -> DataError:
        field = next(
            field
            for field, convert, raw in zip(self._fields, self._converters, row, strict=True)
            if raw is not None and _refuses(convert, raw)
        )
        type_, options = problem.type, self._options
        return data_error(
            place,
            problems.cannot_read_field(field.name, type_.text()),
            why=problems.not_valid(type_.text()),
            value=problem.text,
            hint=time_spelling.hint(
                problem.text,
                type_,
                problems.reads_as_null(options.ignore_option),
                iso=options.iso_times,
                option=options.times_option,
            ),
        )


def _refuses(convert: _Convert, raw: Any) -> bool:
    try:
        convert(raw)
    except NotAValue:
        return True
    return False


def _converter(type_: t.DataType, options: JsonOptions) -> _Convert:
    """A function from what a document contains, which is not null, to a value of the type."""
    match type_:
        case t.Array(element=element):
            convert = _nullable(element, options)
            return lambda items: [convert(item) for item in items]
        case t.Map(value=value):
            return _map(_nullable(value, options))
        case t.Multiset():
            return _map(_nullable(t.Int(), options))
        case t.Row(fields=fields):
            converts = [_nullable(field.type, options) for field in fields]
            return lambda row: tuple(c(raw) for c, raw in zip(converts, row, strict=True))
        case _:
            read = reader(type_, options.spelling)
            return _or_null(read) if options.ignores_errors else read


def _nullable(type_: t.DataType, options: JsonOptions) -> _Convert:
    convert = _converter(type_, options)
    return lambda raw: None if raw is None else convert(raw)


def _map(convert: _Convert) -> _Convert:
    return lambda pairs: [(key, convert(raw)) for key, raw in pairs.items()]


def _or_null(read: _Convert) -> _Convert:
    def convert(raw: Any) -> Any:
        try:
            return read(raw)
        except NotAValue:
            return None

    return convert
