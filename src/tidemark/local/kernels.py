"""Kernels over all rows of their inputs: one key group, in as many steps as its rows need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa

from tidemark import types as t
from tidemark.columns import polars_type
from tidemark.functions.spark_text import safe_names
from tidemark.kernels.columns import HASH, KIND, SEEN, TIME
from tidemark.kernels.comparable import encoded
from tidemark.kernels.protocol import Kernel
from tidemark.local.read_once import in_turns
from tidemark.local.rows import LocalRows
from tidemark.runtime.batch import Batch, Tally
from tidemark.runtime.bucket import Bucket, InputShape, Packed
from tidemark.runtime.times import event_times

if TYPE_CHECKING:
    from tidemark.local.builder import LocalBuilder
    from tidemark.physical import Operator


@dataclass(frozen=True, slots=True)
class KernelInput:
    """The rows of an input under names that the kernel knows, and their Polars types; with the
    names of the keys and of the event time, which the kernel sees only if it is `shown`.
    """

    frames: Callable[[], Iterator[pl.DataFrame]]
    types: dict[str, pl.DataType]
    keys: tuple[str, ...]
    time: str | None
    shown: bool = True
    chained: bool = False

    @property
    def seen(self) -> list[str]:
        """The columns that the kernel sees."""
        return [name for name in self.types if self.shown or name != self.time]

    @property
    def shape(self) -> InputShape:
        """A frame without rows. Only the names of its columns are asked for as Arrow's."""
        types = {name: self.types[name] for name in self.seen}
        empty = pl.DataFrame(schema={**types, HASH: pl.Int64(), TIME: pl.Int64()})
        return InputShape(pa.schema((name, pa.null()) for name in types), empty, self.chained)

    def packed(self, number: int) -> Iterator[Packed]:
        """The rows in order, with their hashes and times."""
        for place, frame in enumerate(self.frames()):
            yield number, 0, place, self._for_kernel(frame)

    def _for_kernel(self, frame: pl.DataFrame) -> pl.DataFrame:
        rows = frame.select(pl.col(name).cast(dtype) for name, dtype in self.types.items())
        if self.time is None:
            times = pl.zeros(rows.height, pl.Int64, eager=True).alias(TIME)
        else:
            times = event_times(rows[self.time], rows)
        return rows.select(self.seen).with_columns(_hashes(rows.select(self.keys)), times)


def _hashes(keys: pl.DataFrame) -> pl.Series:
    """Hashes that equal keys have on every input. Nothing outlives this process, so they need not
    be those of Spark.
    """
    values = [encoded(name, dtype) for name, dtype in keys.schema.items()]
    return keys.select(values).hash_rows().reinterpret(signed=True).alias(HASH)


def run_kernel(
    builder: LocalBuilder,
    operator: Operator,
    kernel: Kernel,
    inputs: Sequence[KernelInput],
    output: Sequence[str],
    *,
    kinds: bool,
) -> LocalRows:
    """The columns that a kernel emits under these names, as those of the operator's edge."""
    names, edge = safe_names(operator.edge.names), operator.edge
    wanted = (*output, *[KIND] * kinds, *[SEEN] * operator.stamps)
    bucket = Bucket(kernel, tuple(given.shape for given in inputs), wanted)
    types = dict(zip(names, edge.types, strict=True))

    def frames() -> Iterator[pl.DataFrame]:
        tally = builder.tallies[operator.id] = Tally()
        each = [given.packed(number) for number, given in enumerate(inputs)]
        together = [each[place] for place in operator.read_once]
        others = (rows for place, rows in enumerate(each) if place not in operator.read_once)
        packed = _filled(chain(in_turns(together), *others))
        for step in Batch(bucket, builder.now_ms).steps(packed, tally):
            if step.output.height:
                yield _emitted(step.output, types)

    return LocalRows(frames, names, edge.changelog, stamped=operator.stamps)


def _filled(packed: Iterable[Packed]) -> Iterator[Packed]:
    return (row for row in packed if isinstance(row[3], pl.DataFrame) and row[3].height)


def _emitted(output: pl.DataFrame, types: dict[str, t.DataType]) -> pl.DataFrame:
    """A kernel's output by position under the names of an edge; milliseconds as timestamps."""
    columns = []
    for column, (name, type_) in zip(output.get_columns(), types.items(), strict=False):
        wanted = polars_type(type_)
        if isinstance(type_, t.Timestamp | t.TimestampLtz) and column.dtype == pl.Int64:
            column = column * 1000
        columns.append(column.cast(wanted).alias(name))
    return pl.DataFrame([*columns, *output.get_columns()[len(types) :]])
