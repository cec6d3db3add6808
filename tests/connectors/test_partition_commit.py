"""Partitions are committed when they are complete, once, whenever a job is broken off."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.connectors.tables import files
from tidemark.catalog.tables import Changelog, Table
from tidemark.connectors import registry
from tidemark.connectors.base import Target
from tidemark.connectors.filesystem import delivery
from tidemark.connectors.filesystem.delivery import Delivery, commit_due
from tidemark.connectors.filesystem.partition_commit import PartitionCommit
from tidemark.errors import DataError, OptionError
from tidemark.spark.upkeep import Moment
from tidemark.storage import Location

JOB = "job"
HOUR = 3_600_000
# 2024-01-01 00:00:00 UTC
NEW_YEAR = 1_704_067_200_000


def table(path: Path | str = "/out", **options: str) -> Table:
    spelled = {f"sink__partition_commit__{key}": value for key, value in options.items()}
    spelled.setdefault("sink__partition_commit__policy__kind", "success-file")
    return files("v INT, dt STRING", path, tail="PARTITIONED BY (dt)", **spelled)


def commit_of(**options: str) -> PartitionCommit:
    found = PartitionCommit.of(registry.options_of(table(**options)))
    assert found is not None
    return found


class Sink:
    """A table's folder that batches are delivered to without Spark."""

    def __init__(self, path: Path, **options: str) -> None:
        self.path = path
        self.folder = Location.of(path)
        self.table = table(path, **options)
        self.commit = commit_of(**options)

    def deliver(self, batch: int | None, *partitions: str, crash: bool = False) -> None:
        target = Target(
            table=self.table,
            options=registry.options_of(self.table),
            columns=("v", "dt"),
            types=(),
            changelog=Changelog.APPEND,
            overwrite=False,
            zone="UTC",
        )
        staging = self.folder / ".staging"

        def stage() -> list[tuple[Location, str]]:
            for partition in partitions:
                (staging / partition).write(b"rows")
            if crash:
                raise RuntimeError("crash here")
            return [(staging / p, f"dt={p}") for p in partitions]

        Delivery(target, self.folder, JOB, batch).run(staging, stage)

    def at(self, batch: int = 0, watermark: int | None = None, ended: bool = False) -> None:
        moment = Moment(batch, None if watermark is None else NEW_YEAR + watermark, ended)
        commit_due(self.folder, JOB, self.commit, moment)

    @property
    def committed(self) -> list[str]:
        return sorted(path.parent.name for path in self.path.glob("*/_SUCCESS"))

    @property
    def parts(self) -> int:
        return len(list(self.path.glob("*/part-*")))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    def go_to(ms: int) -> None:
        monkeypatch.setattr(delivery, "now_ms", lambda: NEW_YEAR + ms)

    go_to(0)
    return go_to


def test_by_the_watermark_a_partition_waits_for_its_time_and_the_delay(tmp_path: Path) -> None:
    sink = Sink(tmp_path, trigger="partition-time", delay="1 h")
    sink.deliver(0, "2024-01-01", "2024-01-02")

    sink.at(watermark=None)
    sink.at(watermark=HOUR)
    assert sink.committed == []

    sink.at(watermark=HOUR + 1)
    assert sink.committed == ["dt=2024-01-01"]

    sink.at(watermark=25 * HOUR + 1)
    assert sink.committed == ["dt=2024-01-01", "dt=2024-01-02"]


def test_the_zone_of_partition_times_can_be_given(tmp_path: Path) -> None:
    sink = Sink(tmp_path, trigger="partition-time", watermark_time_zone="GMT+08:00")
    sink.deliver(0, "2024-01-01")

    sink.at(watermark=-8 * HOUR)
    assert sink.committed == []
    sink.at(watermark=-8 * HOUR + 1)
    assert sink.committed == ["dt=2024-01-01"]


def test_by_the_clock_a_partition_waits_since_its_first_rows(
    tmp_path: Path, clock: Callable[[int], None]
) -> None:
    sink = Sink(tmp_path, delay="10 s")
    sink.deliver(0, "a")
    clock(6_000)
    sink.deliver(1, "a", "b")
    clock(10_001)
    sink.at(batch=1)
    assert sink.committed == ["dt=a"]

    clock(16_001)
    sink.at(batch=1)
    assert sink.committed == ["dt=a", "dt=b"]


def test_without_a_delay_a_partition_is_committed_with_its_rows(tmp_path: Path) -> None:
    sink = Sink(tmp_path)

    sink.deliver(0, "a")

    assert sink.committed == ["dt=a"]


def test_rows_that_arrive_after_the_commit_cause_another_commit(
    tmp_path: Path,
) -> None:
    sink = Sink(tmp_path, trigger="partition-time")
    sink.deliver(0, "2024-01-01")
    sink.at(watermark=1)
    (tmp_path / "dt=2024-01-01" / "_SUCCESS").unlink()

    sink.at(batch=0, watermark=2)
    assert sink.committed == []
    sink.deliver(1, "2024-01-01")
    sink.at(batch=1, watermark=2)
    assert sink.committed == ["dt=2024-01-01"]


def test_a_partition_waits_until_the_batch_that_wrote_it_is_done(tmp_path: Path) -> None:
    sink = Sink(tmp_path, trigger="partition-time")
    sink.deliver(0, "2024-01-01")
    sink.deliver(1, "2024-01-02")

    sink.at(batch=0, watermark=48 * HOUR)
    assert sink.committed == ["dt=2024-01-01"]


def test_a_repeated_batch_waits_for_what_it_wrote_the_second_time(
    tmp_path: Path,
) -> None:
    sink = Sink(tmp_path, trigger="partition-time")
    sink.deliver(0, "2024-01-01")
    sink.deliver(1, "2024-01-02", "2024-01-03")
    with pytest.raises(RuntimeError):
        sink.deliver(1, "2024-01-03", crash=True)
    sink.deliver(1, "2024-01-03")

    sink.at(batch=1, ended=True)

    assert sink.parts == 2
    assert sink.committed == ["dt=2024-01-01", "dt=2024-01-03"]


def test_the_end_of_the_input_commits_all(tmp_path: Path) -> None:
    sink = Sink(tmp_path, trigger="partition-time", delay="1 d")
    sink.deliver(0, "2024-01-01", "2024-01-02")

    sink.at(ended=True)

    assert sink.committed == ["dt=2024-01-01", "dt=2024-01-02"]


def test_the_end_of_a_batch_job_commits_all_whatever_the_trigger(tmp_path: Path) -> None:
    sink = Sink(tmp_path, trigger="partition-time", delay="1 d")

    sink.deliver(None, "no time at all")

    assert sink.committed == ["dt=no time at all"]


def test_a_partition_without_a_time_is_refused_before_its_rows_are_seen(tmp_path: Path) -> None:
    sink = Sink(tmp_path, trigger="partition-time")

    with pytest.raises(DataError, match=r"partition `dt=soon` has no time .*'soon'") as caught:
        sink.deliver(0, "soon")

    assert "timestamp-pattern" in str(caught.value.hint)
    assert sink.parts == 0


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("sink__partition_commit__policy__kind", "metastore,success-file", "policy 'metastore' is not"),
        ("sink__partition_commit__policy__kind", "custom", "policy 'custom' is not"),
        ("sink__partition_commit__policy__class", "com.Mine", "Java classes cannot run here"),
        ("partition__time_extractor__class", "com.Mine", "Java classes cannot run here"),
        ("partition__time_extractor__kind", "custom", "custom class"),
        ("partition__time_extractor__timestamp_formatter", "EEE", "'EEE' are not supported"),
        ("partition__time_extractor__timestamp_pattern", "$day", "names [$]day, which is not a partition"),
        ("sink__partition_commit__watermark_time_zone", "Nowhere", "cannot be 'Nowhere'"),
        ("sink__partition_commit__trigger", "sometimes", "'sometimes'"),
        ("sink__partition_commit__delay", "soon", "'soon'"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_done_are_refused_by_name(
    option: str, value: str, message: str
) -> None:
    with pytest.raises(OptionError, match=message) as caught:
        registry.options_of(
            files("v INT, dt STRING", "/out", tail="PARTITIONED BY (dt)", **{option: value})
        )
    assert caught.value.at is not None
