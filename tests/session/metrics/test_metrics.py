"""Metrics for Prometheus: what it reads over HTTP is what jobs report."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

import tidemark
from tidemark import OperatorProgress, Progress
from tidemark.errors import JobError, SetupError
from tidemark.session.metrics.server import serve
from tidemark.spark.batch_durations import Durations
from tidemark.spark.positions import Lagging, SourcePosition
from tidemark.spark.source_watermarks import PartitionProgress, SourceProgress

Samples = Mapping[tuple[str, str], float]


@contextmanager
def served(*jobs: Any) -> Iterator[str]:
    server = serve(lambda: jobs, 0, "127.0.0.1")
    yield server.url
    server.close()


def job(*runs: Progress, name: str = "enrich", state: str = "running") -> Any:
    return SimpleNamespace(
        name=name,
        state=state,
        runs=[SimpleNamespace(progress=lambda run=run: run) for run in runs],
    )


def samples(url: str) -> Samples:
    """The values by name and the labels that are not those of the run."""
    with urlopen(url) as answer:
        text = answer.read().decode()
    return {
        (
            sample.name,
            ",".join(f"{k}={v}" for k, v in sorted(_own(sample.labels).items())),
        ): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def _own(labels: Mapping[str, str]) -> dict[str, str]:
    return {k: v for k, v in labels.items() if (k, v) not in (("job_name", "enrich"), ("run", "0"))}


def test_rows_state_and_watermarks_of_operators():
    join = OperatorProgress(
        "join-1", (8, 2), 6, (3, 0), 4, 7, 1900, "2024-01-01T00:00:05.500Z"
    )  # fmt: skip
    with served(job(Progress(2, rows_in=10, rows_out=6, skipped=1, operators=(join,)))) as url:
        found = samples(url)

    assert found["tidemark_rows_in_total", ""] == 10
    assert found["tidemark_rows_out_total", ""] == 6
    assert found["tidemark_records_skipped_total", ""] == 1
    assert found["tidemark_operator_rows_in_total", "input=1,operator=join-1"] == 2
    assert found["tidemark_operator_rows_late_total", "input=0,operator=join-1"] == 3
    assert found["tidemark_operator_rows_out_total", "operator=join-1"] == 6
    assert found["tidemark_operator_rows_waiting", "operator=join-1"] == 4
    assert found["tidemark_operator_state_rows", "operator=join-1"] == 7
    assert found["tidemark_operator_state_bytes", "operator=join-1"] == 1900
    assert found["tidemark_operator_watermark_timestamp_seconds", "operator=join-1"] == 1704067205.5


def test_watermarks_of_sources_and_partitions():
    parts = (
        PartitionProgress("fx-0", "2024-01-01T00:00:05.000Z"),
        PartitionProgress("fx-1", None, True),
    )
    rates = SourceProgress("rates", "2024-01-01T00:00:04.000Z", None, parts)
    with served(job(Progress(followed=(rates, SourceProgress("orders"))))) as url:
        found = samples(url)

    assert found["tidemark_source_watermark_timestamp_seconds", "source=rates"] == 1704067204
    # Nothing is said of watermarks that there are not.
    assert ("tidemark_source_watermark_timestamp_seconds", "source=orders") not in found
    of_parts = "tidemark_partition_watermark_timestamp_seconds"
    assert found[of_parts, "partition=fx-0,source=rates"] == 1704067205
    assert (of_parts, "partition=fx-1,source=rates") not in found
    assert found["tidemark_partition_idle", "partition=fx-1,source=rates"] == 1


def test_micro_batches_are_counted_by_their_length():
    durations = Durations().with_one_of(0.2).with_one_of(0.25).with_one_of(99.0)
    with served(job(Progress(batches=3, durations=durations))) as url:
        found = samples(url)

    name = "tidemark_micro_batch_duration_seconds"
    assert found[f"{name}_bucket", "le=0.1"] == 0
    assert found[f"{name}_bucket", "le=0.25"] == 2
    assert found[f"{name}_bucket", "le=60.0"] == 2
    assert found[f"{name}_bucket", "le=+Inf"] == found[f"{name}_count", ""] == 3
    assert found[f"{name}_sum", ""] == pytest.approx(99.45)


def lagging(lag: Mapping[str, int] | None) -> SourcePosition:
    def records_after(offset: Any) -> Mapping[str, int]:
        if lag is None:
            raise JobError("Kafka does not answer")
        return lag

    return SourcePosition(Lagging("orders", bool, records_after), {})


def lag_in(*jobs: Any) -> Sequence[float]:
    with served(*jobs) as url:
        return [value for (name, _), value in samples(url).items() if name.endswith("lag_records")]


def test_lag_is_that_of_each_partition_while_the_job_runs():
    progress = Progress(positions=(lagging({"o-0": 5, "o-1": 7}),))

    assert lag_in(job(progress)) == [5, 7]
    assert lag_in(job(progress, state="stopped")) == []


def test_brokers_that_do_not_answer_hide_no_other_metric():
    with served(job(Progress(rows_in=3, positions=(lagging(None),)))) as url:
        assert samples(url)["tidemark_rows_in_total", ""] == 3


def test_runs_and_jobs_are_distinguished_and_the_latest_of_a_name_counts():
    statement_set = job(Progress(rows_in=1), Progress(rows_in=2), name="both")
    before, now = job(Progress(rows_in=3), state="failed"), job(Progress(rows_in=4))
    with served(before, statement_set, now) as url:
        found = samples(url)

    assert found["tidemark_rows_in_total", "job_name=both"] == 1
    assert found["tidemark_rows_in_total", "job_name=both,run=1"] == 2
    assert found["tidemark_rows_in_total", ""] == 4
    assert found["tidemark_job_state", "state=running"] == 1
    assert found["tidemark_job_state", "state=failed"] == 0


def test_a_session_serves_its_jobs_until_it_is_stopped():
    with tidemark.connect(engine="local") as session:
        url = session.serve_metrics(0)
        session.sql("CREATE TABLE sink (n INT) WITH ('connector' = 'blackhole')")
        session.sql("INSERT INTO sink VALUES (1), (2)").job.wait()

        found = samples(url)

    assert url.startswith("http://127.0.0.1:")
    assert found["tidemark_rows_out_total", "job_name=insert-into-sink"] == 2
    assert found["tidemark_build_info", f"version={tidemark.__version__}"] == 1
    with pytest.raises(OSError):
        urlopen(url)


def test_a_port_that_is_taken_is_an_error_that_names_it():
    with socket.create_server(("127.0.0.1", 0)) as taken, tidemark.connect() as session:
        port = taken.getsockname()[1]
        with pytest.raises(SetupError, match=f"127.0.0.1, port {port}"):
            session.serve_metrics(port)
