"""The inputs of stateful operators: rows under names that their kernels know."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from tidemark.catalog.tables import Changelog
from tidemark.columns import polars_type
from tidemark.kernels.columns import KIND, SEEN
from tidemark.local.faults import checked
from tidemark.local.kernels import KernelInput
from tidemark.operators.joins import JoinColumns, names_of_sides, output_of
from tidemark.operators.times import GIVEN
from tidemark.runtime.times import milliseconds

if TYPE_CHECKING:
    from tidemark.local.builder import LocalBuilder
    from tidemark.physical import Input, Operator

_ALL = "_tm_all"


@dataclass(frozen=True, slots=True)
class OneInput:
    """The only input of an operator, under names that no column of the output can have."""

    rows: KernelInput
    names: tuple[str, ...]
    keys: tuple[str, ...]
    retracts: bool
    stamped: bool

    @classmethod
    def of(
        cls,
        builder: LocalBuilder,
        operator: Operator,
        given: tuple[int, int] | None = None,
        constant: tuple[int, int] | None = None,
    ) -> OneInput:
        """The bounds of each row's window are `given` in two columns, or `constant`."""
        [input_] = operator.inputs
        below = checked(builder.build(input_.stage))
        names = tuple(f"_tm_in{place}" for place in range(len(below.columns)))
        retracts = below.changelog is not Changelog.APPEND
        columns = below.columns

        def prepared(frame: pl.DataFrame) -> pl.DataFrame:
            own = [pl.col(old).alias(new) for old, new in zip(columns, names, strict=True)]
            kept = [*own, *below.extra]
            # Of a frame of which nothing is kept, the number of rows is.
            rows = frame.select(kept) if kept else frame
            if given is not None:
                bounds = zip(given, GIVEN, strict=True)
                rows = rows.with_columns(milliseconds(rows[names[i]]).alias(to) for i, to in bounds)
            if constant is not None:
                bounds = zip(constant, GIVEN, strict=True)
                rows = rows.with_columns(pl.lit(i, pl.Int64).alias(to) for i, to in bounds)
            return rows if input_.keys else rows.with_columns(pl.lit(True).alias(_ALL))

        keys = tuple(names[key] for key in input_.keys) or (_ALL,)
        bounds = GIVEN if given is not None or constant is not None else ()
        types = _types(input_, names, below.extra, bounds, (_ALL,) * (not input_.keys))
        rows = kernel_input(input_, below.each(prepared).frames, types, keys, names)
        return cls(rows, names, keys, retracts, below.stamped)

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The keys that the query knows of."""
        return tuple(key for key in self.keys if key != _ALL)


def _types(
    input_: Input,
    names: Sequence[str],
    extra: Sequence[str],
    longs: Sequence[str] = (),
    constants: Sequence[str] = (),
) -> dict[str, pl.DataType]:
    of_edge = map(polars_type, input_.stage.edge.types)
    others: dict[str, pl.DataType] = {KIND: pl.String(), SEEN: pl.Int64()}
    return {
        **dict(zip(names, of_edge, strict=True)),
        **{name: others[name] for name in extra},
        **dict.fromkeys(longs, pl.Int64()),
        **dict.fromkeys(constants, pl.Boolean()),
    }


def kernel_input(
    input_: Input,
    frames: Callable[[], Iterator[pl.DataFrame]],
    types: dict[str, pl.DataType],
    keys: tuple[str, ...],
    names: Sequence[str],
) -> KernelInput:
    time = None if input_.time is None else names[input_.time]
    return KernelInput(frames, types, keys, time, input_.shown, input_.chained)


@dataclass(frozen=True, slots=True)
class BothInputs:
    """Both inputs of a join, with column names that are unique across them."""

    left: KernelInput
    right: KernelInput
    columns: JoinColumns

    @classmethod
    def of(cls, builder: LocalBuilder, operator: Operator) -> BothInputs:
        names = names_of_sides(operator)
        width = operator.inputs[0].width
        sides = zip(operator.inputs, (names[:width], names[width:]), ("left", "right"), strict=True)
        left, right = (side(builder, input_, own, f"{_ALL}_{name}") for input_, own, name in sides)
        columns = JoinColumns(left.keys, right.keys, names, output_of(operator, names))
        return cls(left, right, columns)


def side(
    builder: LocalBuilder, input_: Input, names: tuple[str, ...], everyone: str
) -> KernelInput:
    """The rows of an input of a join. Those without a key all share one, in a column `everyone`."""
    below = checked(builder.build(input_.stage))
    named = below.like(names, below.changelog)
    kinds = () if below.changelog is Changelog.APPEND else (KIND,)
    keys = tuple(names[key] for key in input_.keys)
    constants = () if keys else (everyone,)

    def with_constants(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(pl.lit(True).alias(name) for name in constants)

    types = _types(input_, names, kinds, (), constants)
    frames = named.each(with_constants).frames
    return kernel_input(input_, frames, types, keys or constants, names)
