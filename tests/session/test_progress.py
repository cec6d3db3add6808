"""The progress of a job: each report is counted once, even those that Spark would drop."""

from __future__ import annotations

import json
from typing import Any

from tidemark.spark.jobs import Job
from tidemark.spark.progress import OperatorProgress, Progress, Reports


class Report:
    """A report as a streaming query gives it."""

    def __init__(self, batch: int, rows: int, *reports: dict[str, Any], idle: bool = False) -> None:
        said = {
            "batchId": batch,
            "timestamp": f"2024-01-01T10:00:{batch:02}.000Z",
            "durationMs": {"triggerExecution": 1} if idle else {"addBatch": 1},
            "eventTime": {"watermark": "1970-01-01T00:00:00.000Z"},
            "sources": [{"description": "files", "numInputRows": rows}],
        }
        if reports:
            texts = [json.dumps(report) for report in reports]
            said["observedMetrics"] = {"tidemark:temporal-join-1": {"reports": texts}}
        self._batch = batch
        self.json = json.dumps(said)

    def __getitem__(self, name: str) -> int:
        assert name == "batchId"
        return self._batch


def bucket(number: int, rows_in: list[int], rows_out: int, waiting: int) -> dict[str, Any]:
    state = {"state_rows": waiting, "state_bytes": 100 * waiting, "segments": 1}
    work = {"round_trips": 2, "busy_ms": 1.5, "late": [1, 0], "watermark": 5000}
    return {
        "bucket": number,
        "rows_in": rows_in,
        "rows_out": rows_out,
        "waiting": waiting,
        **state,
        **work,
    }


def read(reports: Reports) -> Progress:
    return reports.progress(rows_out=0, seconds=1.0)


def test_a_batch_is_counted_once_however_often_its_report_is_seen():
    reports = Reports()
    reports.take([Report(0, 5)])
    reports.take([Report(0, 5), Report(1, 7)])

    assert (read(reports).batches, read(reports).rows_in) == (2, 12)


def test_an_idle_query_reports_a_batch_that_is_yet_to_run():
    reports = Reports()
    reports.take([Report(0, 5), Report(1, 0, idle=True)])
    reports.take([Report(0, 5), Report(1, 0, idle=True), Report(1, 7)])

    assert (read(reports).batches, read(reports).rows_in) == (2, 12)


def test_rows_add_up_over_batches_and_state_is_the_latest_of_each_bucket():
    reports = Reports()
    reports.take([Report(0, 9, bucket(0, [3, 1], 0, 3), bucket(6, [4, 1], 2, 2))])
    reports.take([Report(1, 1, bucket(0, [1, 0], 4, 0))])

    [join] = read(reports).operators
    assert join == OperatorProgress(
        "temporal-join-1",
        rows_in=(8, 2),
        rows_out=6,
        late=(3, 0),
        waiting=2,
        state_rows=2,
        state_bytes=200,
        watermark="1970-01-01T00:00:05.000Z",
    )


def test_metrics_are_read_as_a_spark_connect_server_writes_them_too():
    report = Report(0, 9, bucket(0, [3, 1], 2, 1))
    said = json.loads(report.json)
    observed = said["observedMetrics"]["tidemark:temporal-join-1"]
    said["observedMetrics"] = {
        "tidemark:temporal-join-1": {
            "values": [observed["reports"]],
            "schema": {"type": "struct", "fields": [{"name": "reports", "type": "array"}]},
        },
        "tidemark-rows-out": {
            "values": [2],
            "schema": {"type": "struct", "fields": [{"name": "rows", "type": "long"}]},
        },
    }
    report.json = json.dumps(said)

    reports = Reports()
    reports.take([report])

    [join] = read(reports).operators
    assert (join.rows_in, join.rows_out) == ((3, 1), 2)
    assert reports.rows_out == 2


def test_there_is_no_watermark_before_the_first():
    reports = Reports()
    reports.take([Report(0, 5)])

    assert read(reports).watermark is None


def test_a_job_of_several_parts_shows_the_operators_of_all():
    class Part:
        def progress(self) -> Progress:
            return Progress(rows_in=2, operators=(OperatorProgress("keep-last-1"),))

    progress = Job("two", [Part(), Part()]).progress()

    assert progress.rows_in == 4
    assert [operator.name for operator in progress.operators] == ["keep-last-1"] * 2
