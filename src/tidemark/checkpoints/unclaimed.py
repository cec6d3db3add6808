"""State that no operator of a script asks for any more, and that may be dropped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tidemark.checkpoints.contract import SPARK, Contract

STATE, DROPPED = "state", "dropped-state"


def without_unclaimed(folder: Path, then: Contract, now: Contract) -> Contract:
    """The contract without operators that are gone, if a job may go on without their state.

    Spark finds state by the place of its operator among all of a query, so others would get the
    state of those that are gone: it can only be dropped if no operator is left. It is moved aside.
    """
    if not then.operators or now.operators:
        return then
    state = folder / SPARK / STATE
    if state.exists():
        state.rename(_free(folder))
    return replace(then, operators=())


def _free(folder: Path) -> Path:
    """A name that nothing in the folder has."""
    taken = sum(1 for _ in folder.glob(f"{DROPPED}-*"))
    return folder / f"{DROPPED}-{taken + 1}"
