"""Where operators hand out late rows: the columns that accompany their inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.kernels.protocol import Kernel
    from tidemark.physical import Input, Operator, Outlet


def late_column(outlet: int, place: int) -> str:
    """What a column of a table is called where it leaves an operator with late rows."""
    return f"_tm_late{outlet}_{place}"


def columns_of(outlet: Outlet) -> tuple[str, ...]:
    """The names of the columns that late rows have at an outlet."""
    return tuple(late_column(outlet.number, place) for place in outlet.places)


def columns_beside(input_: Input) -> tuple[str, ...]:
    """The names of the last columns of an input, which are for its outlets."""
    names: list[str] = []
    for outlet in input_.outlets:
        mark = _mark_of(outlet)
        names += [*columns_of(outlet), *([] if mark is None else [mark])]
    return tuple(names)


def _mark_of(outlet: Outlet) -> str | None:
    """The name of the column that says which rows an outlet is for; None if it is for all."""
    return f"_tm_late{outlet.number}_only" if outlet.marked else None


def _time_of(outlet: Outlet) -> str | None:
    """The name of the column that is the time of the rows; None if the operator knows it."""
    return None if outlet.time is None else late_column(outlet.number, outlet.time)


def handing_out(kernel: Kernel, operator: Operator) -> Kernel:
    """The kernel, which hands out late rows where the operator has outlets."""
    from tidemark.kernels import handing_out as kernels

    outlets = {
        outlet.number: kernels.OutletColumns(
            place, columns_of(outlet), _mark_of(outlet), _time_of(outlet)
        )
        for place, input_ in enumerate(operator.inputs)
        for outlet in input_.outlets
    }
    return kernels.HandingOut(kernel, outlets) if outlets else kernel
