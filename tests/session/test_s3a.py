"""Tables and checkpoints in a bucket, through S3A and an endpoint on this machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from servers.jars.fetching import jars_of
from servers.s3 import Endpoint
from tests import java
from tests.needed import needed

pytestmark = [pytest.mark.spark, pytest.mark.slow]

EVENTS = {
    "a.json": [("x", 1, "00:00:01"), ("y", 2, "00:00:02")],
    "b.json": [("x", 3, "00:00:03"), ("x", 4, "00:00:11")],
    "other.txt": [("z", 9, "00:00:01")],
}


class Story(NamedTuple):
    said: dict[str, Any]
    objects: dict[str, int]


@pytest.fixture(scope="module")
def story(s3: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """All that one Spark session did, and what it left in the bucket."""
    for name, rows in EVENTS.items():
        lines = [json.dumps({"k": k, "n": n, "ts": f"2024-01-01 {time}"}) for k, n, time in rows]
        s3.at(f"s3://bucket/events/{name}").write("\n".join(lines).encode())
    with needed():
        jars = jars_of("s3a")
    said = _run(s3, jars, tmp_path_factory.mktemp("s3a"))
    return Story(said, {found.name: found.size for found in s3.at("s3://bucket").files()})


def _run(s3: Endpoint, jars: list[Path], folder: Path) -> dict[str, Any]:
    settings = {**java.on_driver(), **s3.settings, "spark.jars": ",".join(map(str, jars))}
    (folder / "settings.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "tests.session.over_s3a", str(folder / "settings.json")]
    done = subprocess.run(command, capture_output=True, text=True)
    # Where Python's traceback begins; what Spark says while it ends is longer than that.
    assert done.returncode == 0, done.stderr[done.stderr.find("Traceback") :][:9000]
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


def test_a_glob_in_a_bucket_is_read_and_its_rows_written_by_workers(story: Story) -> None:
    assert story.said["whole"] == [["x", 1], ["x", 3], ["x", 4], ["y", 2]]


def test_partitions_are_written_and_marked(story: Story) -> None:
    assert story.said["parted"] == [["x", 1], ["x", 3], ["x", 4], ["y", 2]]
    assert story.objects["parted/k=x/_SUCCESS"] == story.objects["parted/k=y/_SUCCESS"] == 0


def test_a_job_resumes_from_a_checkpoint_and_a_savepoint_in_the_bucket(story: Story) -> None:
    assert (story.said["before"], story.said["after"]) == ([], [["x", 3]])
    for place in ("checkpoint", "elsewhere"):
        assert f"{place}/insert-into-sums/contract.json" in story.objects
        assert f"{place}/insert-into-sums/spark/metadata" in story.objects


def test_nothing_incomplete_is_left(story: Story) -> None:
    assert [name for name in story.objects if ".staging" in name or "_temporary" in name] == []
