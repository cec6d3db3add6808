"""What failures of Spark mean to users, by its messages."""

from __future__ import annotations

import pytest

from tidemark.errors import JobError
from tidemark.spark.failures import translate

IN_JAVA = (
    "Job aborted due to stage failure: ... java.io.IOException: No space left on device\n\tat x"
)
IN_PYTHON = (
    "Traceback (most recent call last):\n  File ...\n"
    "OSError: [Errno 28] No space left on device: '/data/out/part-0.json'\n"
)


@pytest.mark.parametrize(
    ("message", "notes"),
    [
        (IN_JAVA, {}),
        (IN_PYTHON, {"file": "/data/out/part-0.json"}),
        ("OSError: [Errno 28] No space left on device", {}),
    ],
)
def test_a_full_disk_is_named_with_the_file_if_that_is_known(message, notes):
    error = translate(RuntimeError(message))

    assert isinstance(error, JobError)
    assert (error.message, error.notes) == ("the disk is full", notes)
    assert "spark.local.dir" in (error.hint or "")
