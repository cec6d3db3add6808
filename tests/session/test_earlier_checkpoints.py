"""Checkpoints that earlier versions have made, of Tidemark and of Spark: jobs resume from each."""

from __future__ import annotations

import tarfile
from collections import Counter

import pytest

import tidemark

from .make_checkpoint import KEYS, QUERY, made_by
from .moving import MovingJob

MADE = ((1, "4.2"), (1, "4.3"))


@pytest.mark.parametrize(("format_", "by"), MADE)
def test_a_job_resumes_from_a_checkpoint_of_each_format_and_spark(spark, tmp_path, format_, by):
    job = MovingJob(spark, tmp_path, QUERY)
    with tarfile.open(made_by(format_, by)) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # newer Pythons warn
        archive.extractall(tmp_path)
    [shown] = tidemark.Checkpoint(job.checkpoint).jobs
    assert [operator.id for operator in shown.operators] == ["temporal-join-1", "group-aggregate-1"]
    assert shown.spark == f"{by}.0"

    # The order that waited is emitted, and the sum of its key continues from the earlier one.
    out = job.step(a=[(-1, 0, 3000)], b=[(-1, 0, 3000)])

    assert +out == Counter({(k, 410 + k): 1 for k in KEYS})
