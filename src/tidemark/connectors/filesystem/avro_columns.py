"""Avro files as columns: by blocks, with only the columns of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.connectors.base import Part
from tidemark.connectors.filesystem.file_blocks import (
    BLOCK,
    Unchanged,
    opened,
    readable,
    unreadable,
)
from tidemark.connectors.formats.base import FormatField
from tidemark.errors import DataError
from tidemark.types import Field

if TYPE_CHECKING:
    import polars as pl

    from tidemark.formats.avro import BadBlock
    from tidemark.formats.avro_container import Block


@dataclass(frozen=True, slots=True)
class AvroFiles:
    """Reads the columns of these names; those that a file lacks are NULL."""

    fields: tuple[FormatField, ...]
    count: Callable[[int, int], None] | None = None

    def __call__(self, part: Part) -> Iterator[tuple[pl.DataFrame, Mapping[str, pl.Series]]]:
        from tidemark.formats.avro import AvroColumns, BadBlock
        from tidemark.formats.avro_container import blocks_of, header_of
        from tidemark.formats.avro_schema import parsed

        unchanged = Unchanged(part)
        with readable(part.file), opened(part) as file, _understood(part.file):
            header = header_of(file)
            columns = AvroColumns(
                parsed(header.schema), [Field(field.name, field.type) for field in self.fields]
            )
            for blocks in _gathered(blocks_of(file, header, part.start, part.end)):
                unchanged.check()
                try:
                    rows = columns([(block.count, block.content) for block in blocks])
                except BadBlock as bad:
                    raise _bad(part.file, bad, blocks) from None
                if self.count is not None:
                    self.count(rows.height, 0)
                if rows.height:
                    yield rows, {}
            unchanged.check()


def _gathered(blocks: Iterator[Block]) -> Iterator[list[Block]]:
    """Several at a time: they are small."""
    waiting: list[Block] = []
    size = 0
    for block in blocks:
        waiting.append(block)
        size += len(block.content)
        if size >= BLOCK:
            yield waiting
            waiting, size = [], 0
    if waiting:
        yield waiting


@contextmanager
def _understood(file: str) -> Iterator[None]:
    """Says what a file is about that is not one of Avro, or not one of the table."""
    from tidemark.formats.avro_container import BadContainer
    from tidemark.formats.avro_schema import BadSchema

    try:
        yield
    except BadContainer as bad:
        where = "" if bad.at is None else f"the block at byte {bad.at}: "
        raise unreadable(file, where + bad.why) from None
    except BadSchema as bad:
        raise unreadable(file, str(bad)) from None


def _bad(file: str, bad: BadBlock, blocks: Sequence[Block]) -> DataError:
    from tidemark.formats.problems import data_error

    where = f"record {bad.number} of the block at byte {blocks[bad.block].start}"
    return data_error(bad.problem, why=f"{where}: {bad.why}", file=file)
