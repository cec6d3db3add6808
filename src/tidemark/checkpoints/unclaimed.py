"""State that no operator of a script uses any more, and that may be dropped."""

from __future__ import annotations

from dataclasses import replace

from tidemark.checkpoints.contract import SPARK, Contract
from tidemark.storage import Location

STATE, DROPPED = "state", "dropped-state"


def without_unclaimed(folder: Location, then: Contract, now: Contract) -> Contract:
    """The contract without removed operators, if a job may resume without their state.

    Spark finds state by the position of its operator in a query, so other operators would get the
    state of the removed ones: it can only be dropped if no operator is left. It is moved aside.
    """
    if not then.operators or now.operators:
        return then
    state = folder / SPARK / STATE
    if state.exists:
        state.move_folder(_free(folder))
    return replace(then, operators=())


def _free(folder: Location) -> Location:
    """A name that does not exist in the folder."""
    taken = sum(name.startswith(f"{DROPPED}-") for name in folder.names())
    return folder / f"{DROPPED}-{taken + 1}"
