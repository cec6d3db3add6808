"""PyFlink's rows: fields by number, by name and as attributes, which may be changed."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any


class RowKind(Enum):
    """What a row does to a table."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    def __str__(self) -> str:
        return ("+I", "-U", "+U", "-D")[self.value]


class Row:
    """`Row(1, "a")`, `Row(id=1, name="a")`, or `Row("id", "name")(1, "a")`."""

    _fields: list[str] | None
    _values: list[Any]
    _row_kind: RowKind

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError("Row takes either values or fields by name, not both")
        self.__dict__["_fields"] = list(kwargs) or None
        self.__dict__["_values"] = [*args, *kwargs.values()]
        self.__dict__["_row_kind"] = RowKind.INSERT

    def __call__(self, *values: Any) -> Row:
        """A row whose fields are named by the values of this one."""
        if len(values) > len(self):
            raise ValueError(f"a row of {len(self)} fields cannot hold {len(values)} values")
        row = Row(*values)
        row.set_field_names(self._values)
        return row

    @staticmethod
    def of_kind(row_kind: RowKind, *args: Any, **kwargs: Any) -> Row:
        row = Row(*args, **kwargs)
        row.set_row_kind(row_kind)
        return row

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        if self._fields is None:
            raise TypeError("the fields of this row have no names")
        values = map(_as_dict, self._values) if recursive else self._values
        return dict(zip(self._fields, values, strict=False))

    def get_row_kind(self) -> RowKind:
        return self._row_kind

    def set_row_kind(self, row_kind: RowKind) -> None:
        self.__dict__["_row_kind"] = row_kind

    def set_field_names(self, field_names: list[str]) -> None:
        self.__dict__["_fields"] = field_names

    def get_fields_by_names(self, names: list[str]) -> list[Any]:
        return self._values if self._fields is None else [self[name] for name in names]

    def _place(self, name: str) -> int:
        if self._fields is None or name not in self._fields:
            raise KeyError(name)
        return self._fields.index(name)

    def __getitem__(self, item: int | slice | str) -> Any:
        return self._values[self._place(item) if isinstance(item, str) else item]

    def __setitem__(self, item: int | slice | str, value: Any) -> None:
        self._values[self._place(item) if isinstance(item, str) else item] = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"write row[{name!r}] = ... to change a field")

    def __contains__(self, item: Any) -> bool:
        return item in (self._values if self._fields is None else self._fields)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row):
            return NotImplemented
        return self._row_kind == other._row_kind and self._content() == other._content()

    def __hash__(self) -> int:
        return hash(tuple(self._values))

    def _content(self) -> Any:
        return self._values if self._fields is None else self.as_dict()

    def __reduce__(self) -> Any:
        return _row, (self._fields, self._values, self._row_kind)

    def __repr__(self) -> str:
        if self._fields is None:
            return f"<Row({', '.join(map(repr, self._values))})>"
        return f"Row({', '.join(f'{k}={v!r}' for k, v in self.as_dict().items())})"


def _row(fields: list[str] | None, values: list[Any], kind: RowKind) -> Row:
    row = Row.of_kind(kind, *values)
    row.__dict__["_fields"] = fields
    return row


def _as_dict(value: Any) -> Any:
    match value:
        case Row():
            return value.as_dict(recursive=True)
        case list():
            return [_as_dict(element) for element in value]
        case dict():
            return {key: _as_dict(element) for key, element in value.items()}
    return value
