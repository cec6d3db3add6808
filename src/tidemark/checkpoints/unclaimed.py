"""State that no operator of a script asks for any more, and that may be dropped."""

from __future__ import annotations

from dataclasses import replace

from tidemark.checkpoints.contract import SPARK, Contract
from tidemark.storage import Location

STATE, DROPPED = "state", "dropped-state"


def without_unclaimed(folder: Location, then: Contract, now: Contract) -> Contract:
    """The contract without operators that are gone, if a job may go on without their state.

    Spark finds state by the place of its operator among all of a query, so others would get the
    state of those that are gone: it can only be dropped if no operator is left. It is moved aside.
    """
    if not then.operators or now.operators:
        return then
    state = folder / SPARK / STATE
    if state.exists:
        state.move_folder(_free(folder))
    return replace(then, operators=())


def _free(folder: Location) -> Location:
    """A name that nothing in the folder has."""
    taken = sum(name.startswith(f"{DROPPED}-") for name in folder.names())
    return folder / f"{DROPPED}-{taken + 1}"
