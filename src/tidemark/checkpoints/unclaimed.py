"""State that no operator of a script uses any more, and that may be dropped."""

from __future__ import annotations

from dataclasses import replace

from tidemark.checkpoints.contract import SEGMENTS, SPARK, Contract
from tidemark.storage import Location

STATE, DROPPED = "state", "dropped-state"


def without_unclaimed(folder: Location, then: Contract, now: Contract) -> Contract:
    """The contract without removed operators, if a job may resume without their state.

    Spark finds state by the position of its operator in a query, so other operators would get the
    state of the removed ones: it can only be dropped if no operator is left. It is moved aside.
    """
    if not then.operators or now.operators:
        return then
    state, segments = folder / SPARK / STATE, folder / SEGMENTS
    if state.exists:
        dropped = _free(folder)
        state.move_folder(dropped)
        if segments.exists:
            segments.move_folder(dropped / SEGMENTS)
    return replace(then, operators=())


def _free(folder: Location) -> Location:
    """A name that does not exist in the folder."""
    taken = sum(name.startswith(f"{DROPPED}-") for name in folder.names())
    return folder / f"{DROPPED}-{taken + 1}"
