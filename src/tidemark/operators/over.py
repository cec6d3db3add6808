"""The kernel of OVER, over input columns of given names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.kernels.over.spec import OverCall
from tidemark.operators.aggregate_calls import calls_of

if TYPE_CHECKING:
    from tidemark.kernels.protocol import Kernel
    from tidemark.plan.nodes import Over


def over_kernel(
    node: Over, keys: tuple[str, ...], names: tuple[str, ...], ttl_ms: int, *, retracts: bool
) -> Kernel:
    """Emits the columns of the input and `result_name(n)` for the n-th function."""
    from tidemark.kernels.order import Order
    from tidemark.kernels.over.at_end import OverAtEndKernel
    from tidemark.kernels.over.by_time import OverByTimeKernel
    from tidemark.kernels.over.updating import OverUpdatingKernel

    specs = calls_of([function.call for function in node.functions], names)
    calls = tuple(
        OverCall(spec, function.frame, function.distance)
        for spec, function in zip(specs, node.functions, strict=True)
    )
    order = tuple(Order(names[by.column], by.descending, by.nulls_last) for by in node.order)
    if node.at_end:
        return OverAtEndKernel(keys, order, calls)
    if node.updates:
        return OverUpdatingKernel(keys, order, calls, retracts, ttl_ms or None)
    return OverByTimeKernel(keys, calls, processing_time=node.processing_time, ttl=ttl_ms or None)
