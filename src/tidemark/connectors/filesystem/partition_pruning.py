"""Files that are not read, because the values of their partitions do not meet a filter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from tidemark import types as t
from tidemark.connectors.base import ColumnsRequest
from tidemark.connectors.filesystem import partition_values
from tidemark.connectors.filesystem.places import Place, wanted_files
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import DataError
from tidemark.plan.expressions import Expression, references

if TYPE_CHECKING:
    from tidemark.columns import Program


# Partition columns by their place among those of a table: their names in folders, and types.
_Keys: TypeAlias = Mapping[int, tuple[str, t.DataType]]


def files_read(request: ColumnsRequest, place: Place) -> list[str]:
    """The files of a table that may have rows for a request."""
    return [*filter(may_have_rows(request), wanted_files(place, request.options))]


def may_have_rows(request: ColumnsRequest) -> Callable[[str], bool]:
    """Whether a file may have rows that meet the conditions of a request."""
    keys = _keys(request)
    of_keys = (each for each in request.conditions if _is_of(references(each), keys))
    asked = [each for each in of_keys if _is_known_here(each, request)]
    if not asked:
        return lambda file: True
    test = _Test.of(asked, keys, request)
    meets = lru_cache(1000)(test.meets)
    return lambda file: meets(f"{file.rpartition('/')[0]}/")


def _keys(request: ColumnsRequest) -> _Keys:
    physical = [column for column in request.table.columns if isinstance(column, PhysicalColumn)]
    return {
        place: (column.name, column.type)
        for place, column in enumerate(physical)
        if column.name in request.table.partitioned_by and partition_values.can_read(column.type)
    }


def _is_of(columns: frozenset[int], keys: Mapping[int, object]) -> bool:
    return bool(columns) and columns <= keys.keys()


def _is_known_here(condition: Expression, request: ColumnsRequest) -> bool:
    """Whether its functions are known without Spark, which may compute a filter above."""
    from tidemark.columns import NotInColumns, Program

    try:
        Program.of([condition], request.columns, request.zone, request.now)
    except NotInColumns:
        return False
    return True


@dataclass(frozen=True)
class _Test:
    """Conditions of partition columns, which are those of the keys."""

    program: Program
    names: tuple[str, ...]
    keys: Mapping[str, tuple[str, t.DataType]]
    default: str

    @classmethod
    def of(cls, asked: Sequence[Expression], keys: _Keys, request: ColumnsRequest) -> _Test:
        from tidemark.columns import Program

        program = Program.of(asked, request.columns, request.zone, request.now)
        names = tuple(f"v{place}" for place in range(len(asked)))
        used = sorted(frozenset[int]().union(*map(references, asked)))
        own = {request.columns[place]: keys[place] for place in used}
        return cls(program, names, own, request.options["partition.default-name"])

    def meets(self, folder: str) -> bool:
        import polars as pl

        try:
            values = [
                partition_values.value_of(folder, name, type_, self.default).alias(column)
                for column, (name, type_) in self.keys.items()
            ]
            [found] = self.program.over(pl.DataFrame(values), self.names).rows()
        except (DataError, pl.exceptions.PolarsError):
            return True  # it is reported where the file is read
        return all(found)
