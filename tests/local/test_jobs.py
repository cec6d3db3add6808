"""SHOW JOBS and DESCRIBE JOB, with the local engine."""

import pytest

import tidemark
from tests.plan.marked import remarked
from tidemark.errors import CatalogError
from tidemark.session.local_runs import LocalRun

SCRIPT = """
SET 'table.dml-sync' = 'true';
CREATE TABLE nothing WITH ('connector' = 'blackhole') AS SELECT 1 AS a
"""


def test_jobs_of_the_session_are_shown():
    with tidemark.connect(engine="local") as session:
        assert session.sql("SHOW JOBS").rows() == []
        job = session.sql(SCRIPT).job
        [row] = session.sql("SHOW JOBS").rows()
        assert row == {
            "job id": job.id,
            "job name": "insert-into-nothing",
            "status": "FINISHED",
            "start time": job.started,
        }
        assert session.sql(f"DESCRIBE JOB '{job.id}'").rows() == [row]


def test_unknown_job_is_refused_at_its_place():
    with (
        tidemark.connect(engine="local") as session,
        pytest.raises(CatalogError, match="does not exist") as caught,
    ):
        session.sql("DESCRIBE JOB 'x'")
    assert remarked(caught.value) == "DESCRIBE JOB «'x'»"


class Panic(BaseException):
    """What Polars raises if an assertion of its own fails."""


class PanickingPlan:
    def tables(self):
        raise Panic("assertion failed")
        yield


def test_a_panic_fails_the_job():
    run = LocalRun(PanickingPlan(), lambda tables: len(list(tables)))

    assert run.wait(None)
    assert run.state == "failed"
    assert str(run.failure).startswith("the job failed: assertion failed")
