"""State of operators that are gone."""

from __future__ import annotations

from pathlib import Path

from tidemark.checkpoints.contract import read
from tidemark.checkpoints.fit import misfits
from tidemark.checkpoints.unclaimed import without_unclaimed
from tidemark.storage import Location

from .contracts import contract
from .folders import checkpoint

STATELESS = "SELECT a.v, a.k AS other FROM a UNION ALL SELECT k, v FROM b"


def test_state_without_any_operator_is_moved_aside(tmp_path: Path) -> None:
    job = checkpoint(tmp_path) / "job"
    (job / "segments" / "regular-join-1" / "0").mkdir(parents=True)
    then = read(Location.of(job))
    assert then is not None
    [gone] = misfits(then, contract(STATELESS))
    assert "--allow-non-restored-state" in gone.hint

    left = without_unclaimed(Location.of(job), then, contract(STATELESS))

    assert list(misfits(left, contract(STATELESS))) == []
    assert not (job / "spark" / "state").exists()
    assert (job / "dropped-state-1" / "0" / "0" / "1.changelog").exists()
    assert (job / "dropped-state-1" / "segments" / "regular-join-1" / "0").exists()
    assert not (job / "segments").exists()


def test_state_stays_where_another_operator_would_get_it(tmp_path: Path) -> None:
    job = checkpoint(tmp_path) / "job"
    then = read(Location.of(job))
    assert then is not None
    now = contract("SELECT k, COUNT(*) FROM (SELECT k FROM a UNION ALL SELECT k FROM b) GROUP BY k")

    assert without_unclaimed(Location.of(job), then, now) == then
    assert (job / "spark" / "state").exists()
    assert all("--allow" not in misfit.hint for misfit in misfits(then, now))
