"""The table whose changes are read, as far as it is the same for all systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidemark import types as t
from tidemark.connectors.base import ColumnsRequest, ReadRequest
from tidemark.dialect.statements import PhysicalColumn


@dataclass(frozen=True, kw_only=True)
class CapturedColumns:
    """The columns of a table of SQL."""

    columns: Mapping[str, t.DataType]  # the physical ones, by their names in the DDL
    read: frozenset[str] | None = None
    key: tuple[str, ...] = ()  # the declared primary key

    @property
    def columns_read(self) -> dict[str, t.DataType]:
        return {
            c: type_ for c, type_ in self.columns.items() if self.read is None or c in self.read
        }

    @property
    def names(self) -> Mapping[str, str]:
        """The names that are metadata."""
        raise NotImplementedError


def columns_of(request: ReadRequest | ColumnsRequest) -> dict[str, Any]:
    """The fields of `CapturedColumns` that a request is for."""
    names = [c.name for c in request.table.columns if isinstance(c, PhysicalColumn)]
    key = request.table.primary_key
    return {
        "columns": dict(zip(names, request.types, strict=False)),
        "read": request.read,
        "key": key.columns if key else (),
    }
