"""Workers start with Spark, in the background."""

from __future__ import annotations

import threading

from tests.waiting import wait_until
from tidemark.spark.warm_workers import start_workers


def test_workers_are_started_by_a_job_in_the_background(spark):
    def jobs():
        return set(spark.sparkContext.statusTracker().getJobIdsForGroup(None))

    before = jobs()

    start_workers(spark)

    wait_until(lambda: not any(t.name == "tidemark-workers" for t in threading.enumerate()))
    assert jobs() - before


def test_a_job_that_fails_disturbs_nobody(spark, monkeypatch, capfd):
    monkeypatch.setattr("tidemark.spark.warm_workers._load", lambda batches: 1 / 0)

    start_workers(spark)

    wait_until(lambda: not any(t.name == "tidemark-workers" for t in threading.enumerate()))
    assert "Traceback" not in capfd.readouterr().err
    assert spark.range(3).count() == 3
