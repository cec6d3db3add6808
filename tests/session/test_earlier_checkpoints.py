"""Checkpoints that earlier versions have made, of Tidemark and of Spark: jobs resume from each."""

from __future__ import annotations

import tarfile
from collections import Counter
from pathlib import Path

import pytest

import tidemark

from .make_checkpoint import KEYS, OF_VALUES, QUERY, made_by
from .moving import MovingJob

MADE = ((1, "4.2"), (1, "4.3"))


@pytest.mark.parametrize(("format_", "by"), MADE)
def test_a_job_resumes_from_a_checkpoint_of_each_format_and_spark(spark, tmp_path, format_, by):
    job = MovingJob(spark, tmp_path, QUERY)
    _extract(made_by(format_, by), tmp_path)
    [shown] = tidemark.Checkpoint(job.checkpoint).jobs
    assert [operator.id for operator in shown.operators] == ["temporal-join-1", "group-aggregate-1"]
    assert shown.spark == f"{by}.0"

    # The order that waited is emitted, and the sum of its key continues from the earlier one.
    out = job.step(a=[(-1, 0, 3000)], b=[(-1, 0, 3000)])

    assert +out == Counter({(k, 410 + k): 1 for k in KEYS})


@pytest.mark.parametrize("format_", [1, 3])
def test_values_are_counted_on_from_a_checkpoint_of_each_format(spark, tmp_path, format_):
    job = MovingJob(spark, tmp_path, OF_VALUES)
    _extract(made_by(format_, "4.3", "values-"), tmp_path)

    # The sums were 1, 0, 10, 10 and 20, and are 1, 4, 7, 10 and 5: both extremes are gone.
    out = job.step(a=[(1, 4, 3), (4, -15, 3), (2, -3, 3)])

    assert +out == Counter({(10, 1, 5): 1})


def _extract(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as opened:
        opened.extraction_filter = getattr(tarfile, "data_filter", None)  # newer Pythons warn
        opened.extractall(folder)
