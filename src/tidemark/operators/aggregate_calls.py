"""Aggregate calls of the plan as kernels take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tidemark.catalog.tables import UserFunction
from tidemark.kernels.windows.spec import AggregateSpec
from tidemark.plan.nodes import AggregateCall

if TYPE_CHECKING:
    from tidemark.kernels.aggregates.users import RowByRow, Vectorized


def calls_of(calls: Sequence[AggregateCall], names: Sequence[str]) -> tuple[AggregateSpec, ...]:
    """The calls over input columns of these names."""
    return tuple(_call(place, call, names) for place, call in enumerate(calls))


def _call(place: int, call: AggregateCall, names: Sequence[str]) -> AggregateSpec:
    from tidemark.columns import polars_type

    return AggregateSpec(
        call.function,
        tuple(names[argument] for argument in call.arguments),
        result_name(place),
        polars_type(call.type),
        distinct=call.distinct,
        filter=None if call.filter is None else names[call.filter],
        separator=call.separator,
        implementation=None if call.user is None else _implementation(call.user),
        percentages=call.percentages,
    )


def _implementation(function: UserFunction) -> RowByRow | Vectorized:
    from tidemark.kernels.aggregates.users import RowByRow, Vectorized

    assert function.implementation is not None
    whole = Vectorized if function.vectorized else RowByRow
    return whole(function.implementation)


def result_name(place: int) -> str:
    """What the column of a call's results is called."""
    return f"_tm_out{place}"
