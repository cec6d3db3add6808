"""Where operators hand out late rows: the columns that accompany their inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.kernels.protocol import Kernel
    from tidemark.physical import Input, Operator


def late_column(place: int) -> str:
    """What a column of a table is called where it leaves an operator with late rows."""
    return f"_tm_late{place}"


def columns_beside(input_: Input) -> tuple[str, ...]:
    """The names of the last columns of an input, which are for its outlet, if it has one."""
    return () if input_.outlet is None else tuple(map(late_column, input_.outlet.places))


def handing_out(kernel: Kernel, operator: Operator) -> Kernel:
    """The kernel, which hands out late rows where the operator has outlets."""
    from tidemark.kernels.handing_out import HandingOut

    if not operator.outlets:
        return kernel
    beside = {place: columns_beside(operator.inputs[place]) for place in operator.outlets.values()}
    return HandingOut(kernel, beside)
