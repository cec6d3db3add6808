"""The watermark of a source after each micro-batch, in a file."""

from __future__ import annotations

from tidemark.kernels.columns import BEFORE_ALL
from tidemark.spark.stamps import Latest
from tidemark.storage import Location


def test_a_micro_batch_that_runs_again_starts_where_the_one_before_it_ended(tmp_path):
    latest = Latest(Location.of(str(tmp_path / "new")))

    assert latest.before(0) == BEFORE_ALL
    latest.keep(0, 100)
    latest.keep(3, 400)  # those between had no rows, or no later ones
    assert [latest.before(n) for n in (0, 1, 3, 4)] == [BEFORE_ALL, 100, 100, 400]
    latest.keep(3, 400)
    assert [latest.before(n) for n in (3, 4)] == [100, 400]


def test_only_the_latest_micro_batches_are_kept(tmp_path):
    latest = Latest(Location.of(str(tmp_path)))
    for batch in range(250):
        latest.keep(batch, 1000 + batch)

    assert latest.before(250) == 1249
    assert latest.before(60) == 1059
    assert latest.before(10) == BEFORE_ALL
