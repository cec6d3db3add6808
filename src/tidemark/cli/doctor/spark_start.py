"""The proof: Spark starts, runs a query, and gives work to Python workers."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

from tidemark.cli.doctor.findings import Finding, what_and_todo
from tidemark.errors import TidemarkError
from tidemark.session.session import Session

SPARK = "Spark"


def worker_python(_: int) -> str:
    """Runs on a worker: returns its Python version."""
    return sys.executable


def check_spark(open_session: Callable[[], Session]) -> Iterator[Finding]:
    """One query that the JVM answers, and one that needs a Python worker."""
    session = open_session()
    try:
        started = time.monotonic()
        try:
            rows = session.sql("SELECT 6 * 7 AS answer").rows()
        except TidemarkError as error:
            yield Finding(SPARK, "start", "missing", *what_and_todo(error))
            return
        seconds = time.monotonic() - started
        detail = f"Spark {session.spark.version}, first answer after {seconds:.0f} s"
        right = rows == [{"answer": 42}]
        yield Finding(SPARK, "start", "ok" if right else "warning", detail)
        yield _check_worker(session)
    finally:
        session.stop()


def _check_worker(session: Session) -> Finding:
    session.create_function("worker_python", worker_python)
    try:
        [row] = session.sql("SELECT worker_python(1) AS python").rows()
    except TidemarkError as error:
        return Finding(SPARK, "worker", "missing", *what_and_todo(error))
    if row["python"] == sys.executable:
        return Finding(SPARK, "worker", "ok", row["python"])
    detail = f"workers run {row['python']}, but this is {sys.executable}"
    return Finding(SPARK, "worker", "warning", detail, "unset PYSPARK_PYTHON")
